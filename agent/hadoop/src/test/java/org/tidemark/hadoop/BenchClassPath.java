package org.tidemark.hadoop;

import static org.junit.Assume.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import org.junit.Test;

/**
 * Not a test: writes the class path for bench/hadoop/cost.py to the folder tidemark.bench, with the
 * connector's jar as users have it and all of Hadoop.
 */
public class BenchClassPath {
  @Test
  public void isWritten() throws Exception {
    final String name = System.getProperty("tidemark.bench", "");
    assumeTrue(!name.isEmpty());
    final Path file = Paths.get(name, "classpath");
    Files.write(file, System.getProperty("java.class.path").getBytes(StandardCharsets.UTF_8));
  }
}
