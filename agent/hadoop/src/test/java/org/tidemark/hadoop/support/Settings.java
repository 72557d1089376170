package org.tidemark.hadoop.support;

import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Map;

/** Writes folders of settings for Hadoop's programs. */
public final class Settings {
  /** Logs only the clients' messages about their jobs. */
  private static final String LOGGING =
      "log4j.rootLogger=WARN, err\n"
          + "log4j.logger.org.apache.hadoop.mapreduce.Job=INFO\n"
          + "log4j.logger.org.apache.tez.client=INFO\n"
          + "log4j.appender.err=org.apache.log4j.ConsoleAppender\n"
          + "log4j.appender.err.target=System.err\n"
          + "log4j.appender.err.layout=org.apache.log4j.PatternLayout\n"
          + "log4j.appender.err.layout.ConversionPattern=%d %p %c{1}: %m%n\n";

  private Settings() {}

  /** Writes all settings to each file, since programs read different files. */
  static void write(File folder, Map<String, String> settings) throws IOException {
    Files.createDirectories(folder.toPath());
    for (String file : new String[] {"core", "hdfs", "yarn", "mapred"}) {
      writeFile(new File(folder, file + "-site.xml"), settings);
    }
    Files.write(
        new File(folder, "log4j.properties").toPath(), LOGGING.getBytes(StandardCharsets.UTF_8));
  }

  public static void writeFile(File file, Map<String, String> settings) throws IOException {
    try (PrintStream out = new PrintStream(file, "UTF-8")) {
      out.println("<configuration>");
      settings.forEach(
          (key, value) ->
              out.printf(
                  "<property><name>%s</name><value>%s</value></property>%n",
                  key, value.replace("&", "&amp;").replace("<", "&lt;")));
      out.println("</configuration>");
    }
  }
}
