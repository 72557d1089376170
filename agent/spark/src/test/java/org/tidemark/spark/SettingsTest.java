package org.tidemark.spark;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class SettingsTest {
  @Rule public final TemporaryFolder folder = new TemporaryFolder();
  private final Map<String, String> conf = new HashMap<>();

  public SettingsTest() {
    conf.put(Settings.MASTER, "127.0.0.1:7411");
  }

  private Settings drivers() throws IOException {
    return Settings.of(conf::getOrDefault, Collections.emptyMap());
  }

  @Test
  public void nothingIsReportedWithoutAMasterOrWhileDisabled() throws Exception {
    conf.put(Settings.ENABLED, "false");
    assertNull(drivers());
    conf.clear();
    assertNull(drivers());
  }

  @Test
  public void keysAreReadOnlyOnRequest() throws Exception {
    assertFalse(drivers().keys);
    conf.put(Settings.KEYS, "true");
    assertTrue(drivers().keys);
  }

  @Test
  public void anInvalidAddressIsAnErrorThatNamesTheSetting() {
    conf.put(Settings.MASTER, "node-1");
    final Exception error = assertThrows(IllegalArgumentException.class, this::drivers);
    assertTrue(error.getMessage(), error.getMessage().startsWith("spark.tidemark.master is not"));
  }

  @Test
  public void executorsReceiveTheRunAndTheDriversToken() throws Exception {
    final File token = folder.newFile();
    Files.write(token.toPath(), "secret\n".getBytes());
    conf.put(Settings.TOKEN_FILE, token.getPath());
    final Map<String, String> sent = drivers().toExecutors();
    assertEquals("secret", sent.get("token"));
    assertTrue(token.delete());
    assertEquals(sent, Settings.of(conf::getOrDefault, sent).toExecutors());
  }

  @Test
  public void aByteOrderMarkBeforeTheTokenIsDropped() throws Exception {
    final File token = folder.newFile();
    Files.write(token.toPath(), "\uFEFFsecret\n".getBytes("UTF-8"));
    conf.put(Settings.TOKEN_FILE, token.getPath());
    assertEquals("secret", drivers().toExecutors().get("token"));
  }

  @Test
  public void aMissingTokenFileIsAnErrorAtTheDriver() {
    conf.put(Settings.TOKEN_FILE, "/no/such/file");
    assertThrows(IOException.class, this::drivers);
  }

  @Test
  public void runsOfOneIdDiffer() throws Exception {
    assertNotNull(drivers());
    assertFalse(drivers().toExecutors().equals(drivers().toExecutors()));
  }
}
