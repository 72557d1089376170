package org.tidemark.bench;

import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * A groupByKey that hardly processes its records. The argument is a factor for the amount of work.
 */
public final class Records {
  private static final int RECORDS = 24_000_000;
  private static final int TASKS = 8;

  private Records() {}

  public static void main(String[] arguments) {
    final int records = (int) (RECORDS * Double.parseDouble(arguments[0]));
    try (JavaSparkContext context = new JavaSparkContext(new SparkConf())) {
      final long result =
          context
              .parallelize(IntStream.range(0, TASKS).boxed().collect(Collectors.toList()), TASKS)
              .flatMapToPair(
                  task ->
                      IntStream.range(0, records / TASKS)
                          .mapToObj(i -> new Tuple2<>((i * 0x9e3779b9) >>> 17, (long) i))
                          .iterator())
              .groupByKey(TASKS)
              .map(group -> count(group._2()) * (group._1() + 1))
              .reduce(Long::sum);
      System.out.println("RESULT " + result);
    }
  }

  private static long count(Iterable<Long> values) {
    long count = 0;
    for (long value : values) {
      count += value & 1;
    }
    return count;
  }
}
