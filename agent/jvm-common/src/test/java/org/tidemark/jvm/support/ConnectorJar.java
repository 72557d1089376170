package org.tidemark.jvm.support;

import java.io.IOException;
import java.util.List;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;

/** The jar of a connector, as released. */
public final class ConnectorJar {
  private ConnectorJar() {}

  /**
   * Returns the classes in the jar that are outside this package, such as "org.tidemark.hadoop".
   */
  public static List<String> classesOutside(String name) throws IOException {
    final String folder = name.replace('.', '/') + "/";
    return classes().stream().filter(c -> !c.startsWith(folder)).collect(Collectors.toList());
  }

  public static List<String> classes() throws IOException {
    try (JarFile jar = new JarFile(System.getProperty("tidemark.jar"))) {
      return jar.stream()
          .map(ZipEntry::getName)
          .filter(entry -> entry.endsWith(".class"))
          .collect(Collectors.toList());
    }
  }
}
