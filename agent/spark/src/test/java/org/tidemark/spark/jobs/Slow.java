package org.tidemark.spark.jobs;

import java.util.Arrays;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;

/** An application with one task that is slow in its first attempt, and not in another. */
public final class Slow {
  private static final long LONG_MILLIS = 600_000;

  private Slow() {}

  public static void main(String[] arguments) {
    try (JavaSparkContext context = new JavaSparkContext(new SparkConf().setAppName("slow"))) {
      System.out.println("APPLICATION " + context.sc().applicationId());
      final int sum =
          context
              .parallelize(Arrays.asList(1, 2, 3, 4), 4)
              .map(
                  n -> {
                    final TaskContext task = TaskContext.get();
                    final boolean isSlow = task.partitionId() == 0 && task.attemptNumber() == 0;
                    Thread.sleep(isSlow ? LONG_MILLIS : 50);
                    return n;
                  })
              .reduce(Integer::sum);
      System.out.println("RESULT " + sum);
    }
  }
}
