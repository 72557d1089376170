package org.tidemark.tez.support;

import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** Runs the examples of Tez, as a user with a program like `hadoop jar`. */
public final class Client {
  /** A command that has ended. */
  public static final class Ended {
    public int exitCode;
    public double seconds;
    public String err;
  }

  private static final int PATIENCE_MINUTES = 4;
  private static final String SMALL_JVM =
      "-Xmx384m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 "
          + "--add-opens java.base/java.lang=ALL-UNNAMED";
  private static final String LOGGING =
      "log4j.rootLogger=WARN, err\n"
          + "log4j.logger.org.apache.tez.client=INFO\n"
          + "log4j.appender.err=org.apache.log4j.ConsoleAppender\n"
          + "log4j.appender.err.target=System.err\n"
          + "log4j.appender.err.layout=org.apache.log4j.PatternLayout\n"
          + "log4j.appender.err.layout.ConversionPattern=%d %p %c{1}: %m%n\n";

  private final Path directory;
  private final File conf;
  private final File program;
  private int runs;

  /** {@code conf} is the folder for HADOOP_CONF_DIR, which gets a tez-site.xml. */
  public Client(Path directory, File conf, Map<String, String> settings) throws IOException {
    this.directory = directory;
    this.conf = conf;
    program = directory.resolve("hadoop").toFile();
    final Map<String, String> tez = new LinkedHashMap<>();
    tez.put("tez.runtime.io.sort.mb", "8");
    tez.put("mapreduce.input.fileinputformat.split.maxsize", "200000");
    tez.put("tez.grouping.min-size", "1");
    tez.put("tez.grouping.max-size", "200000");
    tez.putAll(settings);
    site(conf, "tez", tez);
    Files.write(
        new File(conf, "log4j.properties").toPath(), LOGGING.getBytes(StandardCharsets.UTF_8));
    try (PrintStream script = new PrintStream(program, "UTF-8")) {
      script.println("#!/bin/sh");
      script.printf("exec '%s/bin/java' %s \\%n", System.getProperty("java.home"), SMALL_JVM);
      script.printf("  -cp \"$HADOOP_CONF_DIR:%s\" \\%n", libraries());
      script.println("  org.apache.tez.examples.ExampleDriver \"$@\"");
    }
    if (!program.setExecutable(true)) {
      throw new IOException("cannot make " + program + " a program");
    }
  }

  /** Runs an example without the connector. */
  public Ended run(String... words) throws IOException, InterruptedException {
    return start(Arrays.asList(words), new ArrayList<>());
  }

  /** Runs an example by `tidemark run tez`. */
  public Ended watched(List<String> options, String... words)
      throws IOException, InterruptedException {
    final List<String> command = new ArrayList<>();
    command.add(System.getProperty("tidemark.command"));
    command.addAll(Arrays.asList("run", "tez", "--jar", System.getProperty("tidemark.jar")));
    command.addAll(options);
    command.add("--");
    return start(Arrays.asList(words), command);
  }

  private Ended start(List<String> words, List<String> before)
      throws IOException, InterruptedException {
    final List<String> command = new ArrayList<>(before);
    command.add(program.getPath());
    command.addAll(words);
    final File err = directory.resolve("err" + ++runs).toFile();
    final ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectOutput(directory.resolve("out" + runs).toFile())
            .redirectError(err);
    builder.environment().put("HADOOP_CONF_DIR", conf.getPath());
    builder.environment().remove("TIDEMARK_MASTER");
    builder.environment().remove("TIDEMARK_WORKFLOW");
    final long begin = System.nanoTime();
    final Process process = builder.start();
    if (!process.waitFor(PATIENCE_MINUTES, TimeUnit.MINUTES)) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
      throw new IOException("the command does not end: " + command);
    }
    final Ended ended = new Ended();
    ended.exitCode = process.exitValue();
    ended.seconds = (System.nanoTime() - begin) / 1e9;
    ended.err = new String(Files.readAllBytes(err.toPath()), StandardCharsets.UTF_8);
    return ended;
  }

  /** Returns a class path with the artefacts of Tez and Hadoop, without the connector. */
  public static String libraries() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(entry -> entry.endsWith(".jar") && !new File(entry).getName().startsWith("tidemark-"))
        .collect(Collectors.joining(File.pathSeparator));
  }

  private static void site(File folder, String name, Map<String, String> settings)
      throws IOException {
    try (PrintStream out = new PrintStream(new File(folder, name + "-site.xml"), "UTF-8")) {
      out.println("<configuration>");
      settings.forEach(
          (key, value) ->
              out.printf("<property><name>%s</name><value>%s</value></property>%n", key, value));
      out.println("</configuration>");
    }
  }
}
