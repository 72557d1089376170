package org.tidemark.bench;

import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * A skewed groupByKey whose function compares all values of a key with each other. The key of rank
 * r has MOST / (r + 1)^0.7 values. The argument is the share of the usual work.
 */
public final class Groups {
  private static final int KEYS = 2_000;
  private static final int MAPS = 8;
  private static final int REDUCES = 8;
  private static final double MOST = 240_000;
  private static final double SKEW = 0.7;

  private Groups() {}

  public static void main(String[] arguments) {
    try (JavaSparkContext context = new JavaSparkContext(new SparkConf())) {
      System.out.println("RESULT " + run(context, Double.parseDouble(arguments[0])));
    }
  }

  /** Returns the number of groups, and the number of pairs of values that are far apart. */
  public static Tuple2<Long, Long> run(JavaSparkContext context, double scale) {
    final double most = MOST * Math.sqrt(scale); // The work grows with the square of the sizes.
    return context
        .parallelize(IntStream.range(0, MAPS).boxed().collect(Collectors.toList()), MAPS)
        .flatMapToPair(
            map ->
                IntStream.range(0, KEYS)
                    .boxed()
                    .flatMap(rank -> valuesOf(rank, (long) (most / Math.pow(rank + 1, SKEW)), map))
                    .iterator())
        .groupByKey(REDUCES)
        .mapValues(Groups::pairsApart)
        .map(group -> new Tuple2<>(1L, group._2()))
        .reduce((a, b) -> new Tuple2<>(a._1() + b._1(), a._2() + b._2()));
  }

  /** Returns the pairs that one map task emits. */
  private static Stream<Tuple2<String, Long>> valuesOf(int rank, long values, int map) {
    return LongStream.iterate(map, i -> i < values, i -> i + MAPS)
        .mapToObj(i -> new Tuple2<>("key " + rank, (i + rank) * 0x9e3779b97f4a7c15L));
  }

  private static long pairsApart(Iterable<Long> values) {
    final LongStream.Builder builder = LongStream.builder();
    values.forEach(builder::add);
    final long[] all = builder.build().toArray();
    long apart = 0;
    for (long value : all) {
      for (long other : all) {
        apart += Long.bitCount(value ^ other) > 40 ? 1 : 0;
      }
    }
    return apart;
  }
}
