package org.tidemark.jvm.support;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/** A master process, which runs the command `tidemark` with event logs. */
public final class Master implements AutoCloseable {
  public final String address;
  private final Process process;
  private final Path logs;

  private Master(Process process, String address, Path logs) {
    this.process = process;
    this.address = address;
    this.logs = logs;
  }

  /** {@code settings} have the form of `tidemark serve --set` arguments. */
  public static Master start(Path logs, String... settings) throws IOException {
    return start(Collections.emptyList(), "127.0.0.1", logs, settings);
  }

  /** Starts a master on a machine that may become unreachable. */
  public static Master start(FarMachine machine, Path logs) throws IOException {
    return start(machine.within(), machine.address, logs, "allow_insecure_remote=true");
  }

  private static Master start(List<String> within, String host, Path logs, String... settings)
      throws IOException {
    final String program = System.getProperty("tidemark.command", "");
    if (!new File(program).canExecute()) {
      throw new IllegalStateException("-Dtidemark.command must name the command: " + program);
    }
    final List<String> command = new ArrayList<>(within);
    command.addAll(
        Arrays.asList(program, "serve", "--listen", host + ":0", "--log-dir", logs.toString()));
    for (String setting : settings) {
      command.addAll(Arrays.asList("--set", setting));
    }
    final Process process = new ProcessBuilder(command).start();
    final BufferedReader says =
        new BufferedReader(new InputStreamReader(process.getErrorStream()));
    final String line = says.readLine();
    final String before = "listening on ";
    if (line == null || !line.contains(before)) {
      process.destroy();
      throw new IOException("the master says: " + line);
    }
    return new Master(process, line.substring(line.indexOf(before) + before.length()).trim(), logs);
  }

  /** Returns the setting that allows agents with the token to report these jobs. */
  public static String tokens(File file, String jobs, String token) throws IOException {
    final String line = "agent " + jobs + " " + token + "\n";
    Files.write(file.toPath(), line.getBytes(StandardCharsets.US_ASCII));
    // A master rejects token files that every user of the host can read.
    Files.setPosixFilePermissions(file.toPath(), PosixFilePermissions.fromString("rw-------"));
    return "tokens=" + file;
  }

  /** Returns the log of a job after the end of the job was written to disk. */
  public byte[] log(String jobId) throws IOException, InterruptedException {
    final long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    byte[] log = {};
    while (!LogReader.isOfEndedJob(log)) {
      if (System.nanoTime() > deadline) {
        throw new IOException("the master did not hear of the end of " + jobId);
      }
      Thread.sleep(100);
      log = logSoFar(jobId);
    }
    return log;
  }

  /** Returns the jobs that have a log. */
  public Set<String> jobs() {
    final Set<String> ids = new TreeSet<>();
    for (String name : logs.toFile().list()) {
      ids.add(name.replaceAll("\\.[^.]*$", ""));
    }
    return ids;
  }

  public void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  /** Returns the log of a job that may be running, or an empty array if the job has no log. */
  public byte[] logSoFar(String jobId) throws IOException {
    final File[] files = logs.toFile().listFiles((directory, name) -> name.contains(jobId));
    return files == null || files.length == 0
        ? new byte[0]
        : Files.readAllBytes(files[0].toPath());
  }

  @Override
  public void close() throws InterruptedException {
    process.destroy();
    process.waitFor(10, TimeUnit.SECONDS);
    process.destroyForcibly();
  }
}
