package org.tidemark.hadoop.support;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import org.apache.hadoop.io.IOUtils;

/** Creates a jar with the classes of a job, like the jar of a user. */
public final class JobJar {
  private JobJar() {}

  /**
   * Adds the classes and their nested classes. The main() function of the first class runs the jar.
   */
  public static String of(File file, Class<?>... jobs) throws IOException {
    final Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, jobs[0].getName());
    try (JarOutputStream jar = new JarOutputStream(new FileOutputStream(file), manifest)) {
      for (Class<?> job : jobs) {
        add(jar, job);
        for (Class<?> nested : job.getDeclaredClasses()) {
          add(jar, nested);
        }
      }
    }
    return file.getPath();
  }

  private static void add(JarOutputStream jar, Class<?> each) throws IOException {
    final String name = each.getName().replace('.', '/') + ".class";
    jar.putNextEntry(new ZipEntry(name));
    try (InputStream in = each.getClassLoader().getResourceAsStream(name)) {
      IOUtils.copyBytes(in, jar, 4096, false);
    }
    jar.closeEntry();
  }
}
