package org.tidemark.bench;

import java.lang.management.ManagementFactory;
import java.util.Collections;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Many tasks that do nothing. Prints how much processor time the connector's queue of events took at
 * the driver, in microseconds. Argument: how many tasks.
 */
public final class Tasks {
  private static final String QUEUE = "spark-listener-group-tidemark";
  private static final int TASKS_A_JOB = 2_000;
  private static final long QUIET_MILLIS = 1_000;

  private Tasks() {}

  public static void main(String[] arguments) throws Exception {
    final int tasks = Integer.parseInt(arguments[0]);
    try (JavaSparkContext context = new JavaSparkContext(new SparkConf())) {
      for (int run = 0; run < tasks; run += TASKS_A_JOB) {
        context
            .parallelize(Collections.nCopies(TASKS_A_JOB, 1), Math.min(TASKS_A_JOB, tasks - run))
            .foreach(nothing -> {});
      }
      System.out.println("MICROS " + microsOfQueue());
    }
  }

  /** Once it has nothing left to do. */
  private static long microsOfQueue() throws InterruptedException {
    long before = -1;
    long micros = 0;
    while (micros != before) {
      Thread.sleep(QUIET_MILLIS);
      before = micros;
      micros = 0;
      for (Thread thread : Thread.getAllStackTraces().keySet()) {
        if (thread.getName().equals(QUEUE)) {
          micros += ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.getId()) / 1_000;
        }
      }
    }
    return micros;
  }
}
