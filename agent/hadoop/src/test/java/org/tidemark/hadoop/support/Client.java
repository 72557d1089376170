package org.tidemark.hadoop.support;

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
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.examples.ExampleDriver;
import org.apache.hadoop.streaming.StreamJob;

/**
 * Runs commands like a user in a shell. Uses a program that works like Hadoop's own script `hadoop
 * jar`. The program reads settings from HADOOP_CONF_DIR and additional classes from
 * HADOOP_CLASSPATH.
 */
public final class Client {
  public static final class Ended {
    public int exitCode;
    public double seconds;
    public String out;
    public String err;
  }

  private static final int PATIENCE_MINUTES = 8;

  private final Path directory;
  private final File settings;
  private final File hadoop;
  private int runs;

  /** {@code settings} is the folder for HADOOP_CONF_DIR. */
  public Client(Path directory, File settings, String libraries) throws IOException {
    this.directory = directory;
    this.settings = settings;
    hadoop = directory.resolve("hadoop").toFile();
    try (PrintStream script = new PrintStream(hadoop, "UTF-8")) {
      script.println("#!/bin/sh");
      script.println("[ \"$1\" = jar ] && shift");
      script.printf("exec '%s/bin/java' %s \\%n", System.getProperty("java.home"), SMALL_JVM);
      script.printf("  -cp \"$HADOOP_CONF_DIR:$HADOOP_CLASSPATH:%s\" \\%n", libraries);
      script.println("  org.apache.hadoop.util.RunJar \"$@\"");
    }
    if (!hadoop.setExecutable(true)) {
      throw new IOException("cannot make " + hadoop + " a program");
    }
  }

  private static final String SMALL_JVM =
      "-Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 "
          + "--add-opens java.base/java.lang=ALL-UNNAMED";

  /** Returns the settings folder of a client without a cluster. */
  public static File localSettings(File folder) throws IOException {
    final Map<String, String> settings = new LinkedHashMap<>();
    settings.put("mapreduce.framework.name", "local");
    settings.put("fs.defaultFS", "file:///");
    settings.put("hadoop.tmp.dir", folder + "/tmp");
    settings.put("mapreduce.task.io.sort.mb", "8");
    // The default of one second would hide the duration of a run.
    settings.put("mapreduce.client.progressmonitor.pollinterval", "50");
    Settings.write(folder, settings);
    return folder;
  }

  public String program() {
    return hadoop.getPath();
  }

  /** Runs `hadoop jar EXAMPLES WORD...`. */
  public Ended example(String... words) throws IOException, InterruptedException {
    return run(exampleCommand(words));
  }

  /** Runs an example with the connector and these settings of {@link Jobs#measured}. */
  public Ended reportingExample(Configuration measured, String name, String... words)
      throws IOException, InterruptedException {
    final List<String> all = new ArrayList<>();
    all.add(name);
    for (Map.Entry<String, String> setting : measured) {
      all.add("-D" + setting.getKey() + "=" + setting.getValue());
    }
    all.addAll(Arrays.asList(words));
    return run(exampleCommand(all.toArray(new String[0])), System.getProperty("tidemark.jar"));
  }

  /** Runs an example with `tidemark run hadoop OPTION... --`. */
  public Ended watchedExample(List<String> options, String... words)
      throws IOException, InterruptedException {
    return watchedExample(System.getProperty("tidemark.jar"), options, words);
  }

  /** Runs an example with `tidemark run hadoop` and another connector jar. */
  public Ended watchedExample(String jar, List<String> options, String... words)
      throws IOException, InterruptedException {
    return watched(jar, options, exampleCommand(words));
  }

  /** Runs any command with `tidemark run hadoop`. */
  public Ended watched(String jar, List<String> options, List<String> words)
      throws IOException, InterruptedException {
    return watched("hadoop", jar, options, words);
  }

  /** Runs any command with `tidemark run ENGINE`. */
  public Ended watched(String engine, String jar, List<String> options, List<String> words)
      throws IOException, InterruptedException {
    final List<String> command = new ArrayList<>();
    command.add(System.getProperty("tidemark.command"));
    command.addAll(Arrays.asList("run", engine, "--jar", jar));
    command.addAll(options);
    command.add("--");
    command.addAll(words);
    return run(command);
  }

  /** Runs any command. */
  public Ended plain(String... words) throws IOException, InterruptedException {
    return run(Arrays.asList(words));
  }

  /** Starts `tidemark hadoop poll` for a job. */
  public Process startPoll(String jobId, String resourceManager, File out) throws IOException {
    return new ProcessBuilder(
            System.getProperty("tidemark.command"),
            "hadoop",
            "poll",
            "-o",
            "jsonl",
            "--resource-manager",
            resourceManager,
            jobId)
        .redirectErrorStream(true)
        .redirectOutput(out)
        .start();
  }

  private List<String> exampleCommand(String... words) {
    final List<String> command = new ArrayList<>();
    command.addAll(Arrays.asList(hadoop.getPath(), "jar", examples()));
    command.addAll(Arrays.asList(words));
    return command;
  }

  /** Returns the jar of Hadoop's examples. */
  public static String examples() {
    return ExampleDriver.class.getProtectionDomain().getCodeSource().getLocation().getPath();
  }

  /** Returns the jar of Hadoop Streaming. */
  public static String streaming() {
    return StreamJob.class.getProtectionDomain().getCodeSource().getLocation().getPath();
  }

  private Ended run(List<String> command) throws IOException, InterruptedException {
    return run(command, "");
  }

  private Ended run(List<String> command, String classPath)
      throws IOException, InterruptedException {
    final Path out = directory.resolve("out" + ++runs);
    final Path err = directory.resolve("err" + runs);
    final ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("HADOOP_CONF_DIR", settings.getPath());
    builder.environment().put("HADOOP_CLASSPATH", classPath);
    builder.environment().remove("TIDEMARK_MASTER");
    builder.environment().remove("TIDEMARK_WORKFLOW");
    final long begin = System.nanoTime();
    final Process process =
        builder.redirectOutput(out.toFile()).redirectError(err.toFile()).start();
    if (!process.waitFor(PATIENCE_MINUTES, TimeUnit.MINUTES)) {
      process.destroyForcibly();
      throw new IOException("still running: " + command + ": " + text(err));
    }
    final Ended ended = new Ended();
    ended.seconds = (System.nanoTime() - begin) / 1e9;
    ended.exitCode = process.exitValue();
    ended.out = text(out);
    ended.err = text(err);
    return ended;
  }

  private static String text(Path file) throws IOException {
    return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
  }
}
