package org.tidemark.bench;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Collections;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Runs tasks that only compute. The arguments are the number of tasks and the processor seconds of
 * each task.
 */
public final class Spin {
  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  private Spin() {}

  static void spin(double seconds) {
    final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    final long until =
        threads.getCurrentThreadCpuTime() + (long) (seconds * NANOS_PER_SECOND);
    while (threads.getCurrentThreadCpuTime() < until) {
      Thread.onSpinWait();
    }
  }

  public static void main(String[] arguments) {
    final int tasks = Integer.parseInt(arguments[0]);
    final double seconds = Double.parseDouble(arguments[1]);
    try (JavaSparkContext spark = new JavaSparkContext(new SparkConf())) {
      spark
          .parallelize(Collections.nCopies(tasks, 0), tasks)
          .foreach(nothing -> spin(seconds));
    }
  }
}
