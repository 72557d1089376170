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

/** A jar as users bring it, made of the classes of a job. */
public final class JobJar {
  private JobJar() {}

  /** Holds the classes and those nested in them; the first one's main() runs it. */
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
