package org.tidemark.spark.jobs;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * A skewed groupByKey with a function whose cost is quadratic in the size of a group. The arguments
 * are the number of keys, the number of values of the heaviest key, and the number of rounds of the
 * inner loop. Prints the result, and the number of groups in each partition.
 */
public final class Groups {
  private static final int MAPS = 4;
  private static final int REDUCES = 4;

  private Groups() {}

  public static void main(String[] arguments) {
    final int keys = Integer.parseInt(arguments[0]);
    final int most = Integer.parseInt(arguments[1]);
    final int work = Integer.parseInt(arguments[2]);
    try (JavaSparkContext context = new JavaSparkContext(new SparkConf().setAppName("groups"))) {
      System.out.println("APPLICATION " + context.sc().applicationId());
      final List<Integer> ranks = new ArrayList<>();
      for (int rank = 0; rank < keys; ++rank) {
        ranks.add(rank);
      }
      final List<Tuple2<Integer, Long>> groups =
          context
              .parallelize(ranks, MAPS)
              .flatMapToPair(rank -> valuesOf(rank, most).iterator())
              .groupByKey(REDUCES)
              .mapValues(values -> squared(values, work))
              .mapPartitionsToPair(
                  some -> {
                    long sum = 0;
                    int count = 0;
                    while (some.hasNext()) {
                      sum += some.next()._2();
                      ++count;
                    }
                    return List.of(new Tuple2<>(count, sum)).iterator();
                  })
              .collect();
      System.out.println("RESULT " + groups);
      System.out.println("GROUPS " + groups.stream().mapToInt(Tuple2::_1).sum());
    }
  }

  private static List<Tuple2<String, Long>> valuesOf(int rank, int most) {
    final List<Tuple2<String, Long>> values = new ArrayList<>();
    for (long i = 0; i < Math.max(1, most / (rank + 1)); ++i) {
      values.add(new Tuple2<>("key " + rank, i));
    }
    return values;
  }

  private static long squared(Iterable<Long> values, int work) {
    long sum = 0;
    for (long value : values) {
      for (long other : values) {
        sum += (value ^ other) & 1;
      }
      for (int i = 0; i < work; ++i) {
        sum += (value * i) & 1;
      }
    }
    return sum;
  }
}
