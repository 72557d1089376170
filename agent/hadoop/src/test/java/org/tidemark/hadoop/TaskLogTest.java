package org.tidemark.hadoop;

import static org.junit.Assert.assertEquals;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.junit.rules.Timeout;
import org.tidemark.jvm.support.ChildJvm;

public class TaskLogTest {
  @Rule public final Timeout patience = Timeout.seconds(60);
  @Rule public final TemporaryFolder folder = new TemporaryFolder();

  @Test
  public void newReasonsDoNotFillTheLog() throws Exception {
    final File settings = folder.newFile();
    Files.write(
        settings.toPath(),
        Arrays.asList(
            "log4j.rootLogger=INFO,out",
            "log4j.appender.out=org.apache.log4j.ConsoleAppender",
            "log4j.appender.out.layout=org.apache.log4j.PatternLayout",
            "log4j.appender.out.layout.ConversionPattern=%m%n"),
        StandardCharsets.UTF_8);
    try (ChildJvm task =
        new ChildJvm(
            "",
            Arrays.asList(
                "-Xmx64m", "-XX:+UseSerialGC", "-Dlog4j.configuration=" + settings.toURI()),
            VerboseTask.class)) {
      assertEquals(task.output(), 0, task.await());
      assertEquals(100, task.output().split("Tidemark: complaint").length - 1);
    }
  }
}
