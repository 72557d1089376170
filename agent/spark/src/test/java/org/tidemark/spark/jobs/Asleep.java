package org.tidemark.spark.jobs;

import java.util.Arrays;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/** An application in local mode whose tasks print a line at their start and never end. */
public final class Asleep {
  private static final long LONG_MILLIS = 600_000;

  private Asleep() {}

  public static void main(String[] arguments) {
    try (JavaSparkContext context = new JavaSparkContext(new SparkConf().setAppName("asleep"))) {
      System.out.println("APPLICATION " + context.sc().applicationId());
      context
          .parallelize(Arrays.asList(1, 2), 2)
          .foreach(
              n -> {
                System.out.println("RUNNING");
                Thread.sleep(LONG_MILLIS);
              });
    }
  }
}
