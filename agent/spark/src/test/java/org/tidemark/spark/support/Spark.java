package org.tidemark.spark.support;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.tidemark.spark.jobs.Asleep;
import org.tidemark.spark.jobs.Work;

/** Runs applications with spark-submit, like a user in a shell. */
public final class Spark {
  public static final class Ended {
    public int exitCode;
    public String out;
    public String err;

    /** Returns the printed lines with this first word, without that word. */
    public List<String> output(String word) {
      return Arrays.stream(out.split("\n"))
          .filter(line -> line.startsWith(word + " "))
          .map(line -> line.substring(word.length() + 1))
          .collect(Collectors.toList());
    }
  }

  private static final int PATIENCE_MINUTES = 8;

  private final Path directory;
  private final Path jobs;
  private final Path home;
  private int runs;

  public Spark(Path directory) throws Exception {
    this.directory = directory;
    jobs = directory.resolve("jobs.jar");
    // Clusters write files to Spark's folder. A folder of links keeps the original folder
    // unchanged.
    home = Files.createDirectory(directory.resolve("spark"));
    for (File part : new File(System.getProperty("tidemark.spark.home")).listFiles()) {
      Files.createSymbolicLink(home.resolve(part.getName()), part.toPath());
    }
    final Path classes =
        Paths.get(Work.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(jobs));
        Stream<Path> files = Files.walk(classes.resolve("org/tidemark/spark/jobs"))) {
      for (Path file : files.filter(Files::isRegularFile).collect(Collectors.toList())) {
        add(jar, classes.relativize(file).toString(), Files.readAllBytes(file));
      }
    }
  }

  /** Returns the jar of the connector, as released. */
  public static String jar() {
    return System.getProperty("tidemark.jar");
  }

  /** Returns the jar of the tests' jobs. */
  public String jobsJar() {
    return jobs.toString();
  }

  /** Returns the connector without some classes. */
  public String jarWithout(String... classes) throws IOException {
    final Path broken = directory.resolve("broken" + ++runs + ".jar");
    try (JarFile whole = new JarFile(jar());
        JarOutputStream jar = new JarOutputStream(Files.newOutputStream(broken))) {
      for (ZipEntry entry : whole.stream().collect(Collectors.toList())) {
        final String name = entry.getName();
        if (!entry.isDirectory()
            && Arrays.stream(classes).noneMatch(gone -> name.endsWith("/" + gone + ".class"))) {
          add(jar, name, whole.getInputStream(entry).readAllBytes());
        }
      }
    }
    return broken.toString();
  }

  /** Returns settings with the connector. */
  public static List<String> reporting(String jar) {
    return new ArrayList<>(
        Arrays.asList(
            "--jars", jar, "--conf", "spark.plugins=org.tidemark.spark.TidemarkPlugin"));
  }

  /** Returns settings with the connector and with Spark's event log in a folder. */
  public static List<String> logging(File events) {
    final List<String> options = reporting(jar());
    for (String setting :
        Arrays.asList(
            "spark.eventLog.enabled=true",
            "spark.eventLog.compress=false",
            "spark.eventLog.dir=" + events.toURI())) {
      options.addAll(Arrays.asList("--conf", setting));
    }
    return options;
  }

  /** Runs a class of the tests' jobs. */
  public Ended job(Class<?> job, String cluster, List<String> options, int... arguments)
      throws Exception {
    final List<String> words = new ArrayList<>(options);
    words.addAll(Arrays.asList("--class", job.getName(), jobs.toString()));
    for (int argument : arguments) {
      words.add(Integer.toString(argument));
    }
    return submit(cluster, words);
  }

  /** Runs {@link Work} on {@code cluster}, such as "local[2,4]". */
  public Ended work(String cluster, List<String> options, String... masters) throws Exception {
    final List<String> words = new ArrayList<>(options);
    words.addAll(Arrays.asList("--class", Work.class.getName(), jobs.toString()));
    words.addAll(Arrays.asList(masters));
    return submit(cluster, words);
  }

  /** Interrupts {@link Asleep} like a user in a shell, after its tasks have started. */
  public Ended interrupted(String cluster, List<String> options) throws Exception {
    final List<String> words = new ArrayList<>(options);
    words.addAll(Arrays.asList("--class", Asleep.class.getName(), jobs.toString()));
    return run(
        commandOf(cluster, words),
        (process, out) -> {
          while (!text(out).contains("RUNNING")) {
            Thread.sleep(100);
          }
          process.destroy();
        });
  }

  /** Runs {@link Work} with `tidemark run spark` and these options. */
  public Ended watchedWork(String cluster, List<String> options) throws Exception {
    final List<String> command = new ArrayList<>();
    command.addAll(
        Arrays.asList(System.getProperty("tidemark.command"), "run", "spark", "--jar", jar()));
    command.addAll(options);
    command.add("--");
    command.addAll(
        commandOf(
            cluster, Arrays.asList("--class", Work.class.getName(), jobs.toString(), "none")));
    return run(command, (process, out) -> {});
  }

  /** Runs a Python program of the tests. */
  public Ended python(String cluster, List<String> options, String program, String... arguments)
      throws Exception {
    final Path script = directory.resolve(program);
    try (InputStream in = Spark.class.getResourceAsStream("/" + program)) {
      Files.copy(in, script);
    }
    final List<String> words = new ArrayList<>(options);
    words.add(script.toString());
    words.addAll(Arrays.asList(arguments));
    return submit(cluster, words);
  }

  private interface User {
    void doWhile(Process process, Path out) throws Exception;
  }

  private Ended submit(String cluster, List<String> words) throws Exception {
    return run(commandOf(cluster, words), (process, out) -> {});
  }

  private List<String> commandOf(String cluster, List<String> words) {
    final List<String> command = new ArrayList<>();
    command.addAll(
        Arrays.asList(
            home.resolve("bin/spark-submit").toString(),
            "--master",
            cluster,
            "--driver-memory",
            "512m",
            "--driver-java-options",
            "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"));
    for (String setting :
        Arrays.asList(
            "spark.ui.enabled=false",
            "spark.driver.host=127.0.0.1",
            "spark.executor.memory=512m",
            "spark.executor.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")) {
      command.addAll(Arrays.asList("--conf", setting));
    }
    command.addAll(words);
    return command;
  }

  private Ended run(List<String> command, User user) throws Exception {
    final Path out = directory.resolve("out" + ++runs);
    final Path err = directory.resolve("err" + runs);
    final ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
    builder.environment().put("SPARK_HOME", home.toString());
    builder.environment().put("SPARK_LOCAL_IP", "127.0.0.1");
    builder.environment().put("PYSPARK_PYTHON", "/usr/bin/python3");
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    final Process process =
        builder.redirectOutput(out.toFile()).redirectError(err.toFile()).start();
    user.doWhile(process, out);
    if (!process.waitFor(PATIENCE_MINUTES, TimeUnit.MINUTES)) {
      process.destroyForcibly();
      throw new IOException("still running: " + command + ": " + text(err));
    }
    final Ended ended = new Ended();
    ended.exitCode = process.exitValue();
    ended.out = text(out);
    ended.err = text(err);
    return ended;
  }

  private static void add(JarOutputStream jar, String name, byte[] content) throws IOException {
    jar.putNextEntry(new ZipEntry(name));
    ((OutputStream) jar).write(content);
    jar.closeEntry();
  }

  private static String text(Path file) throws IOException {
    return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
  }
}
