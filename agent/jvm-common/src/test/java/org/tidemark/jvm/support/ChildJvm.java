package org.tidemark.jvm.support;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A program in its own JVM with limited resources. Its output is read line by line. */
public final class ChildJvm implements AutoCloseable {
  private final Process process;
  private final BufferedReader out;
  private final List<String> lines = new ArrayList<>();

  /** {@code limits} is a shell command, such as "ulimit -v 2000000", or empty. */
  public ChildJvm(String limits, List<String> options, Class<?> program, Object... arguments)
      throws IOException {
    final List<String> java = new ArrayList<>();
    java.add(System.getProperty("java.home") + "/bin/java");
    java.addAll(options);
    java.addAll(
        Arrays.asList("-cp", System.getProperty("java.class.path"), program.getName()));
    for (Object argument : arguments) {
      java.add(argument.toString());
    }
    final List<String> command =
        new ArrayList<>(
            Arrays.asList("sh", "-c", (limits.isEmpty() ? ":" : limits) + " && exec \"$@\"", "sh"));
    command.addAll(java);
    process = new ProcessBuilder(command).redirectErrorStream(true).start();
    out =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  /** Reads the output up to this line. Returns false if the output ends without this line. */
  public boolean awaitLine(String wanted) throws IOException {
    for (String line = out.readLine(); line != null; line = out.readLine()) {
      lines.add(line);
      if (line.equals(wanted)) {
        return true;
      }
    }
    return false;
  }

  public int await() throws IOException, InterruptedException {
    awaitLine(null);
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      throw new IOException("does not end: " + lines);
    }
    return process.exitValue();
  }

  /** Returns the output so far, for messages. */
  public String output() {
    return lines.toString();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
