package org.tidemark.hadoop;

import static org.junit.Assume.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import org.junit.Test;

/**
 * Not a test. Writes the class path for bench/hadoop/cost.py to the folder tidemark.bench. It
 * contains the connector's jar as released, and all of Hadoop.
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
