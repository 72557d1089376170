package org.tidemark.spark.jobs;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * A shuffle whose first reduce task, in its first attempt, ends its executor and thereby loses its
 * map outputs. Prints the result.
 */
public final class Lost {
  private static final int RECORDS = 10_000;

  private Lost() {}

  public static void main(String[] arguments) {
    try (JavaSparkContext context = new JavaSparkContext(new SparkConf().setAppName("lost"))) {
      System.out.println("APPLICATION " + context.sc().applicationId());
      final List<Integer> numbers = new ArrayList<>();
      for (int i = 0; i < RECORDS; ++i) {
        numbers.add(i);
      }
      final long total =
          context
              .parallelize(numbers, 4)
              .mapToPair(n -> new Tuple2<>(n % 100, (long) n))
              .groupByKey(3)
              .mapPartitions(
                  groups -> {
                    final TaskContext task = TaskContext.get();
                    if (task.partitionId() == 0
                        && task.attemptNumber() == 0
                        && task.stageAttemptNumber() == 0) {
                      Runtime.getRuntime().halt(1);
                    }
                    return groups;
                  })
              .map(
                  group -> {
                    long sum = 0;
                    for (long value : group._2()) {
                      sum += value;
                    }
                    return sum * group._1();
                  })
              .reduce(Long::sum);
      System.out.println("RESULT " + total);
    }
  }
}
