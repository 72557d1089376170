package org.tidemark.hadoop;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.util.Arrays;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.junit.rules.Timeout;
import org.tidemark.hadoop.support.ChildJvm;

public class LinkTest {
  @Rule public final Timeout patience = Timeout.seconds(60);
  @Rule public final TemporaryFolder folder = new TemporaryFolder();

  @Test
  public void noThreadOfATaskLooksUpANameOfAHost() throws Exception {
    // Whoever reads it waits for a writer who never comes.
    final File names = new File(folder.getRoot(), "hosts");
    assertEquals(0, new ProcessBuilder("mkfifo", names.getPath()).start().waitFor());
    try (ChildJvm task =
        new ChildJvm(
            "",
            Arrays.asList("-Xmx64m", "-XX:+UseSerialGC", "-Djdk.net.hosts.file=" + names),
            TaskWithoutNames.class)) {
      assertTrue(task.said(), task.awaitLine("the task has done its work"));
      assertEquals(task.said(), 0, task.await());
    }
  }
}
