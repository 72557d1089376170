package org.tidemark.hadoop;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.junit.rules.Timeout;
import org.tidemark.jvm.support.ChildJvm;
import org.tidemark.jvm.transport.ListeningMaster;

/**
 * Tests host name lookups in the JVM of a task, which reads host names from a file that the test
 * writes.
 */
public class LinkTest {
  @Rule public final Timeout patience = Timeout.seconds(60);
  @Rule public final TemporaryFolder folder = new TemporaryFolder();
  private File names;

  @Before
  public void nameTheFile() {
    names = new File(folder.getRoot(), "hosts");
  }

  private ChildJvm task(String master, long budgetMillis) throws Exception {
    return new ChildJvm(
        "",
        Arrays.asList("-Xmx64m", "-XX:+UseSerialGC", "-Djdk.net.hosts.file=" + names),
        LinkedTask.class,
        master,
        budgetMillis);
  }

  @Test
  public void noTaskThreadResolvesHostNames() throws Exception {
    // Reading from the pipe blocks until a writer opens it, which never happens.
    assertEquals(0, new ProcessBuilder("mkfifo", names.getPath()).start().waitFor());
    try (ChildJvm task = task("master.example:7411", 1)) {
      assertTrue(task.output(), task.awaitLine("false"));
      assertEquals(task.output(), 0, task.await());
    }
  }

  @Test
  public void theSecondAddressOfAHostNameIsTried() throws Exception {
    final String hosts = "127.0.0.2 master.example\n127.0.0.1 master.example\n";
    Files.write(names.toPath(), hosts.getBytes(StandardCharsets.US_ASCII));
    try (ListeningMaster master = new ListeningMaster();
        ChildJvm task =
            task(master.address.replace("127.0.0.1", "master.example"), 30_000)) {
      master.listen();
      assertTrue(task.output(), task.awaitLine("true"));
      assertEquals(task.output(), 0, task.await());
    }
  }
}
