package org.tidemark.bench;

import java.lang.management.ManagementFactory;
import java.util.Collections;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;

/**
 * Runs many empty tasks. Prints the processor time of two event queues at the driver, in
 * microseconds: that of the connector, and one with an empty listener. The latter is Spark's own
 * cost of passing events. The argument is the number of tasks.
 */
public final class Tasks {
  private static final String QUEUES = "spark-listener-group-";
  private static final int TASKS_A_JOB = 2_000;
  private static final long QUIET_MILLIS = 1_000;

  private Tasks() {}

  public static void main(String[] arguments) throws Exception {
    final int tasks = Integer.parseInt(arguments[0]);
    try (JavaSparkContext context = new JavaSparkContext(new SparkConf())) {
      context.sc().listenerBus().addToQueue(new SparkListener() {}, "nothing");
      for (int run = 0; run < tasks; run += TASKS_A_JOB) {
        context
            .parallelize(Collections.nCopies(TASKS_A_JOB, 1), Math.min(TASKS_A_JOB, tasks - run))
            .foreach(nothing -> {});
      }
      System.out.println("MICROS " + microsOfQueue("tidemark") + " " + microsOfQueue("nothing"));
    }
  }

  /** Returns the processor time of a queue's thread after the queue has become empty. */
  private static long microsOfQueue(String queue) throws InterruptedException {
    long before = -1;
    long micros = 0;
    while (micros != before) {
      Thread.sleep(QUIET_MILLIS);
      before = micros;
      micros = 0;
      for (Thread thread : Thread.getAllStackTraces().keySet()) {
        if (thread.getName().equals(QUEUES + queue)) {
          micros += ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.getId()) / 1_000;
        }
      }
    }
    return micros;
  }
}
