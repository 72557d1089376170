package org.tidemark.hadoop;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.junit.Before;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.tidemark.hadoop.support.Client;
import org.tidemark.hadoop.support.Cluster;
import org.tidemark.hadoop.support.Inputs;
import org.tidemark.hadoop.support.Jobs;
import org.tidemark.jvm.support.Certificates;
import org.tidemark.jvm.support.FarMachine;
import org.tidemark.jvm.support.Master;
import org.tidemark.jvm.support.FaultyMaster;

/**
 * Tests that a faulty master never affects a short job's output or exit code, and costs a second at
 * most. The fastest of several runs counts, since other load only adds time.
 */
public class LocalFaultsIT {
  @ClassRule public static final TemporaryFolder FILES = new TemporaryFolder();

  private static final int RUNS = 3;
  private static final double SECONDS_MORE_MAX = 1;

  private static Client client;
  private static String input;
  private static int outputs;
  private static byte[] expected;
  private static double secondsWithout = Double.MAX_VALUE;

  private Configuration settings;

  @BeforeClass
  public static void runWithout() throws Exception {
    final File folder = Client.localSettings(FILES.newFolder("settings"));
    client = new Client(FILES.newFolder("client").toPath(), folder, Cluster.hadoopLibraries());
    final File words = FILES.newFile("words");
    Files.write(words.toPath(), Inputs.words(4_000, 10).getBytes(StandardCharsets.UTF_8));
    input = words.getPath();
    for (int run = 0; run <= RUNS; ++run) {
      final String output = nextOutput();
      final Client.Ended plain = client.example("wordcount", input, output);
      assertEquals(plain.err, 0, plain.exitCode);
      expected = bytes(output);
      secondsWithout = Math.min(secondsWithout, plain.seconds);
    }
    System.out.printf("without the connector: %.2f s%n", secondsWithout);
  }

  @Before
  public void configure() {
    settings = new Configuration(false);
  }

  private static String nextOutput() {
    return FILES.getRoot() + "/out" + ++outputs;
  }

  private static byte[] bytes(String output) throws Exception {
    return Jobs.output(new Configuration(), new Path("file://" + output));
  }

  private void check(String what, String master) throws Exception {
    double seconds = Double.MAX_VALUE;
    for (int run = 0; run < RUNS; ++run) {
      final String output = nextOutput();
      final Client.Ended ended =
          client.reportingExample(Jobs.measured(settings, master), "wordcount", input, output);
      assertEquals(ended.err, 0, ended.exitCode);
      assertArrayEquals(expected, bytes(output));
      seconds = Math.min(seconds, ended.seconds);
    }
    System.out.printf("%s: %.2f s, %+.2f s%n", what, seconds, seconds - secondsWithout);
    assertTrue(what + ": " + seconds + " s", seconds <= secondsWithout + SECONDS_MORE_MAX);
  }

  @Test
  public void aPresentMasterDoesNotDelayTheJob() throws Exception {
    try (Master master = Master.start(FILES.newFolder().toPath())) {
      check("a master that is there", master.address);
    }
  }

  @Test
  public void anAbsentMasterDoesNotDelayTheJob() throws Exception {
    check("absent", FaultyMaster.absent());
  }

  @Test
  public void aMasterBehindABlackHole() throws Exception {
    try (FarMachine far = FarMachine.start()) {
      far.fallSilent();
      check("black-holed", far.address + ":7411");
    }
  }

  @Test
  public void aFullMasterDoesNotDelayTheJob() throws Exception {
    try (FaultyMaster full = FaultyMaster.full()) {
      check("full", full.address);
    }
  }

  @Test
  public void aSlowlyReadingMasterDoesNotDelayTheJob() throws Exception {
    try (FaultyMaster slow = slow()) {
      check("slow", slow.address);
    }
  }

  @Test
  public void aSlowHandshakeDoesNotDelayTheJob() throws Exception {
    settings.set(
        Keys.TLS_CA, new Certificates(FILES.newFolder()).authority().getPath());
    try (FaultyMaster slow = slow()) {
      check("slow, with TLS", slow.address);
    }
  }

  @Test
  public void invalidResponsesDoNotDelayTheJob() throws Exception {
    final byte[] garbage = "HTTP/1.1 400 Bad Request\r\n\r\n{}{}{}{}".getBytes("US-ASCII");
    try (FaultyMaster odd = FaultyMaster.with((in, out) -> out.write(garbage))) {
      check("garbage", odd.address);
    }
  }

  @Test
  public void aRejectedTokenDoesNotDelayTheJob() throws Exception {
    final File tokens = FILES.newFile();
    Files.write(
        tokens.toPath(), "agent * 2f0d6b1c9e8a47d3\n".getBytes(StandardCharsets.US_ASCII));
    try (Master master = Master.start(FILES.newFolder().toPath(), "tokens=" + tokens)) {
      Jobs.giveToken(settings, FILES.newFile(), "not-the-master's-token");
      check("wrong token", master.address);
    }
  }

  private static FaultyMaster slow() throws Exception {
    return FaultyMaster.with(
        (in, out) -> {
          while (in.read() >= 0) {
            Thread.sleep(1_000);
          }
        });
  }
}
