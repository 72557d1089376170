package org.tidemark.hadoop;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;

import java.io.DataInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.Test;

public class ClassFilesTest {
  private static final int JAVA_8 = 52;

  @Test
  public void everyClassIsForJava8() throws Exception {
    final Path root =
        Paths.get(Connector.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    final List<Path> files;
    try (Stream<Path> all = Files.walk(root)) {
      files = all.filter(file -> file.toString().endsWith(".class")).collect(Collectors.toList());
    }
    assertFalse(files.isEmpty());
    for (Path file : files) {
      try (DataInputStream in = new DataInputStream(Files.newInputStream(file))) {
        in.readInt(); // 0xCAFEBABE
        in.readUnsignedShort();
        assertEquals(file.toString(), JAVA_8, in.readUnsignedShort());
      }
    }
  }
}
