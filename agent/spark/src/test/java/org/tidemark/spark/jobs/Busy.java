package org.tidemark.spark.jobs;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * Tasks that only compute. The arguments are the number of tasks and the milliseconds of each.
 * Prints the microseconds of each task.
 */
public final class Busy {
  private Busy() {}

  public static void main(String[] arguments) {
    final int tasks = Integer.parseInt(arguments[0]);
    final long nanos = TimeUnit.MILLISECONDS.toNanos(Long.parseLong(arguments[1]));
    try (JavaSparkContext context = new JavaSparkContext(new SparkConf().setAppName("busy"))) {
      System.out.println("APPLICATION " + context.sc().applicationId());
      final List<Tuple2<Integer, Long>> times =
          context
              .parallelize(Collections.nCopies(tasks, 1), tasks)
              .mapPartitions(
                  ones ->
                      Arrays.asList(new Tuple2<>(TaskContext.getPartitionId(), compute(nanos)))
                          .iterator())
              .collect();
      for (Tuple2<Integer, Long> time : times) {
        System.out.println("MICROS " + time._1() + " " + time._2() / 1_000);
      }
    }
  }

  private static long compute(long nanos) {
    final long start = System.nanoTime();
    long now = start;
    while (now - start < nanos) {
      now = System.nanoTime();
    }
    return now - start;
  }
}
