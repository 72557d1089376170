package org.tidemark.bench;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * K-Means over cached points, one job for each iteration. Coordinates are whole numbers, so that
 * the result does not depend on the order of additions. The argument is the share of the usual
 * work.
 */
public final class KMeans {
  private static final int POINTS = 3_000_000;
  private static final int DIMENSIONS = 12;
  private static final int CLUSTERS = 80;
  private static final int PARTITIONS = 6;
  private static final int ITERATIONS = 20;

  private KMeans() {}

  public static void main(String[] arguments) {
    final int points = (int) (POINTS * Double.parseDouble(arguments[0]));
    try (JavaSparkContext context = new JavaSparkContext(new SparkConf())) {
      final JavaRDD<int[]> all =
          context
              .parallelize(
                  IntStream.range(0, PARTITIONS).boxed().collect(Collectors.toList()), PARTITIONS)
              .flatMap(part -> pointsOf(part, points / PARTITIONS))
              .cache();
      System.out.println("RESULT " + cluster(all, CLUSTERS, ITERATIONS));
    }
  }

  /** Returns a number that depends on all centres. */
  static long cluster(JavaRDD<int[]> points, int clusters, int iterations) {
    List<int[]> centres = points.take(clusters);
    for (int i = 0; i < iterations; ++i) {
      final List<int[]> before = centres;
      final Map<Integer, long[]> sums =
          points
              .mapToPair(point -> new Tuple2<>(nearest(point, before), counted(point)))
              .reduceByKey(KMeans::sum)
              .collectAsMap();
      centres = new ArrayList<>(before);
      for (Map.Entry<Integer, long[]> sum : sums.entrySet()) {
        centres.set(sum.getKey(), meanOf(sum.getValue()));
      }
    }
    long hash = 0;
    for (int[] centre : centres) {
      for (int coordinate : centre) {
        hash = 31 * hash + coordinate;
      }
    }
    return hash;
  }

  private static int[] meanOf(long[] sum) {
    final int[] mean = new int[sum.length - 1];
    for (int i = 0; i < mean.length; ++i) {
      mean[i] = (int) (sum[i] / sum[mean.length]);
    }
    return mean;
  }

  private static Iterator<int[]> pointsOf(int part, int count) {
    final SplittableRandom random = new SplittableRandom(part);
    return IntStream.range(0, count)
        .mapToObj(
            i -> random.ints(DIMENSIONS, 0, 1_000).map(c -> c + 500 * (i % 7)).toArray())
        .iterator();
  }

  private static int nearest(int[] point, List<int[]> centres) {
    int best = 0;
    long least = Long.MAX_VALUE;
    for (int k = 0; k < centres.size(); ++k) {
      final int[] centre = centres.get(k);
      long distance = 0;
      for (int i = 0; i < centre.length; ++i) {
        final long apart = point[i] - centre[i];
        distance += apart * apart;
      }
      if (distance < least) {
        least = distance;
        best = k;
      }
    }
    return best;
  }

  /** Returns the coordinates of the point and a count of one. */
  private static long[] counted(int[] point) {
    final long[] counted = new long[point.length + 1];
    for (int i = 0; i < point.length; ++i) {
      counted[i] = point[i];
    }
    counted[point.length] = 1;
    return counted;
  }

  private static long[] sum(long[] one, long[] other) {
    final long[] sum = one.clone();
    for (int i = 0; i < sum.length; ++i) {
      sum[i] += other[i];
    }
    return sum;
  }
}
