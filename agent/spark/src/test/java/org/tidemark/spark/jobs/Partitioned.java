package org.tidemark.spark.jobs;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * Shuffles once for each argument after the first, into the given number of partitions. The first
 * argument is the number of map tasks. One partition is much larger than the others. For each
 * shuffle, prints the number of records, and the microseconds of the driver's processor time that
 * the connector takes for input sizes.
 */
public final class Partitioned {
  private static final int RECORDS = 3;
  private static final int HOT = 7;
  private static final int RECORDS_OF_THE_HOT = 3_000;
  private static final int CHARACTERS = 50;

  private Partitioned() {}

  public static void main(String[] arguments) {
    final List<Integer> maps =
        IntStream.range(0, Integer.parseInt(arguments[0])).boxed().collect(Collectors.toList());
    try (JavaSparkContext context =
        new JavaSparkContext(new SparkConf().setAppName("partitioned"))) {
      System.out.println("APPLICATION " + context.sc().applicationId());
      for (int i = 1; i < arguments.length; ++i) {
        final int partitions = Integer.parseInt(arguments[i]);
        final long records =
            context
                .parallelize(maps, maps.size())
                .flatMapToPair(map -> recordsOf(map, partitions))
                .partitionBy(new HashPartitioner(partitions))
                .count();
        System.out.println("RESULT " + records);
        System.out.println("SIZING " + microsOfSizes());
      }
    }
  }

  private static Iterator<Tuple2<Integer, String>> recordsOf(int map, int partitions) {
    final Random random = new Random(map);
    final List<Tuple2<Integer, String>> records = new ArrayList<>();
    for (int p = 0; p < partitions; ++p) {
      for (int i = 0; i < (p == HOT ? RECORDS_OF_THE_HOT : RECORDS); ++i) {
        records.add(new Tuple2<>(p, textOf(random)));
      }
    }
    return records.iterator();
  }

  private static String textOf(Random random) {
    final StringBuilder text = new StringBuilder();
    while (text.length() < CHARACTERS) {
      text.append((char) (' ' + random.nextInt(90)));
    }
    return text.toString();
  }

  private static long microsOfSizes() {
    long micros = 0;
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().equals("tidemark-sizes")) {
        micros += ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.getId()) / 1_000;
      }
    }
    return micros;
  }
}
