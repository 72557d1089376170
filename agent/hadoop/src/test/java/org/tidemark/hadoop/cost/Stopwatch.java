package org.tidemark.hadoop.cost;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;

/**
 * Processor time of this process by part, in nanoseconds. bench/hadoop/cost.py reads the times from
 * the file cost.json in the folder of the process. Thread-safe.
 */
final class Stopwatch {
  private static final Path FILE = Paths.get("cost.json");
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  private static final Map<String, Long> PARTS = new TreeMap<>();

  private Stopwatch() {}

  static long ofThisThread() {
    return THREADS.getCurrentThreadCpuTime();
  }

  static long ofProcess() {
    return SYSTEM.getProcessCpuTime();
  }

  /** Returns the time of the connector's threads so far. */
  static long ofConnectorThreads() {
    long nanos = 0;
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().startsWith("tidemark-")) {
        nanos += Math.max(0, THREADS.getThreadCpuTime(thread.getId()));
      }
    }
    return nanos;
  }

  static synchronized void add(String part, long nanos) {
    PARTS.merge(part, nanos, Long::sum);
  }

  static synchronized void write() throws IOException {
    final StringJoiner json = new StringJoiner(", ", "{", "}\n");
    PARTS.forEach((part, nanos) -> json.add("\"" + part + "\": " + nanos));
    Files.write(FILE, json.toString().getBytes(StandardCharsets.US_ASCII));
  }
}
