package org.tidemark.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * PageRank over a generated web in which popular pages have most links. Ranks are whole numbers, so
 * the result does not depend on the order of additions. The argument is the share of the usual
 * work.
 */
public final class PageRank {
  private static final int PAGES = 240_000;
  private static final int LINKS = 12; // number of links of a page
  private static final int PARTITIONS = 6;
  private static final int ITERATIONS = 10;
  private static final long UNIT = 1_000_000_000L;

  private PageRank() {}

  public static void main(String[] arguments) {
    final int pages = (int) (PAGES * Double.parseDouble(arguments[0]));
    try (JavaSparkContext context = new JavaSparkContext(new SparkConf())) {
      final JavaPairRDD<Integer, Iterable<Integer>> links =
          context
              .parallelize(
                  IntStream.range(0, PARTITIONS).boxed().collect(Collectors.toList()), PARTITIONS)
              .flatMapToPair(part -> linksOf(part, pages).iterator())
              .distinct()
              .groupByKey(PARTITIONS)
              .cache();
      System.out.println("RESULT " + rank(links, PARTITIONS, ITERATIONS));
    }
  }

  /** Returns a number that depends on all ranks. */
  static long rank(
      JavaPairRDD<Integer, Iterable<Integer>> links, int partitions, int iterations) {
    JavaPairRDD<Integer, Long> ranks = links.mapValues(targets -> UNIT);
    for (int i = 0; i < iterations; ++i) {
      ranks =
          links
              .join(ranks)
              .values()
              .flatMapToPair(page -> sharesOf(page._1(), page._2()).iterator())
              .reduceByKey(Long::sum, partitions)
              .mapValues(share -> UNIT * 15 / 100 + share * 85 / 100);
    }
    return ranks.map(rank -> rank._1() ^ rank._2()).reduce(Long::sum);
  }

  private static List<Tuple2<Integer, Integer>> linksOf(int part, int pages) {
    final SplittableRandom random = new SplittableRandom(part);
    final List<Tuple2<Integer, Integer>> links = new ArrayList<>();
    for (int page = part; page < pages; page += PARTITIONS) {
      for (int link = 0; link < LINKS; ++link) {
        links.add(new Tuple2<>(page, (int) (pages * Math.pow(random.nextDouble(), 2))));
      }
    }
    return links;
  }

  private static List<Tuple2<Integer, Long>> sharesOf(Iterable<Integer> targets, long rank) {
    final List<Tuple2<Integer, Long>> shares = new ArrayList<>();
    targets.forEach(target -> shares.add(new Tuple2<>(target, rank)));
    final long share = rank / shares.size();
    shares.replaceAll(whole -> new Tuple2<>(whole._1(), share));
    return shares;
  }
}
