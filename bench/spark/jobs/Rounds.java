package org.tidemark.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.StorageLevel;
import scala.Tuple2;

/**
 * Runs rounds of concurrent queries. The argument is a folder for input files. Each line of the
 * standard input is a round of queries NAME:KIND:POOL:TASKS:WORK[:DELAY], separated by spaces. The
 * program prints QUERY, name, job number and seconds for each ended query, and ROUND after the
 * round. The queries of a round start in the given order, which is also their order within a pool.
 * A query with a DELAY starts that many seconds later.
 *
 * <p>The unit of a task's work depends on the kind: processor seconds (compute), emitted megabytes
 * (shuffle), files of equal size, one per task (read), scans of its cached partition (cache), or
 * processor seconds before and again after the shuffle of a megabyte (mixed).
 */
public final class Rounds {
  private static final int RECORD_BYTES = 1024;
  private static final int RECORDS_A_MEGABYTE = 1024;
  private static final int FILE_LINES = 320_000;
  private static final int CACHED_PARTS = 8;
  private static final int CACHED_MEGABYTES = 8;
  private static final int FETCHED_PARTS = 16;
  private static final long APART_MILLIS = 100;

  private final JavaSparkContext spark;
  private final String file;
  private final JavaRDD<byte[]> cached;

  private Rounds(JavaSparkContext spark, Path folder) throws IOException {
    this.spark = spark;
    file = write(folder.resolve("lines.txt")).toUri().toString();
    cached = records(CACHED_PARTS, CACHED_MEGABYTES, 0).persist(StorageLevel.MEMORY_ONLY());
    cached.count();
  }

  public static void main(String[] arguments) throws Exception {
    try (JavaSparkContext spark = new JavaSparkContext(new SparkConf());
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      final Rounds rounds = new Rounds(spark, Paths.get(arguments[0]));
      say("READY");
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        rounds.run(line.trim().split(" "));
        say("ROUND");
      }
    }
  }

  private static synchronized void say(String line) {
    System.out.println(line);
    System.out.flush();
  }

  private void run(String[] queries) throws Exception {
    final ExecutorService threads = Executors.newFixedThreadPool(queries.length);
    final List<Future<?>> running = new ArrayList<>();
    for (String query : queries) {
      running.add(
          threads.submit(
              () -> {
                runQuery(query.split(":"));
                return null;
              }));
      Thread.sleep(APART_MILLIS);
    }
    threads.shutdown();
    for (Future<?> one : running) {
      one.get();
    }
  }

  private void runQuery(String[] query) throws InterruptedException {
    final String name = query[0];
    if (query.length > 5) {
      Thread.sleep((long) (1000 * Double.parseDouble(query[5])));
    }
    spark.setLocalProperty("spark.scheduler.pool", query[2]);
    final String group = name + "-" + System.nanoTime();
    spark.setJobGroup(group, name);
    final long began = System.nanoTime();
    runKind(query[1], Integer.parseInt(query[3]), Double.parseDouble(query[4]));
    final double seconds = (System.nanoTime() - began) / 1e9;
    final int[] jobs = spark.statusTracker().getJobIdsForGroup(group);
    say("QUERY " + name + " " + jobs[0] + " " + seconds);
  }

  /** Runs one job of this kind. */
  private void runKind(String kind, int tasks, double work) {
    switch (kind) {
      case "compute":
        numbers(tasks).foreach(nothing -> Spin.spin(work));
        return;
      case "shuffle":
        shuffled(records(tasks, (int) work, 0), tasks).foreachPartition(Rounds::digest);
        return;
      case "read":
        spark
            .textFile(String.join(",", Collections.nCopies((int) work * tasks, file)), 1)
            .mapPartitions(lines -> Collections.singleton(wordsOf(lines)).iterator())
            .reduce(Long::sum);
        return;
      case "cache":
        cached.foreachPartition(part -> digestAgain(part, (int) work));
        return;
      case "mixed":
        shuffled(records(tasks, 1, work), FETCHED_PARTS)
            .foreachPartition(
                part -> {
                  digest(part);
                  Spin.spin(work * tasks / FETCHED_PARTS);
                });
        return;
      default:
        throw new IllegalArgumentException(kind);
    }
  }

  private JavaRDD<Integer> numbers(int tasks) {
    final List<Integer> numbers = new ArrayList<>();
    IntStream.range(0, tasks).forEach(numbers::add);
    return spark.parallelize(numbers, tasks);
  }

  /** Returns random records, which cannot be compressed. Each part first computes for `seconds`. */
  private JavaRDD<byte[]> records(int parts, int megabytes, double seconds) {
    return numbers(parts)
        .mapPartitionsWithIndex(
            (part, nothing) -> {
              Spin.spin(seconds);
              final Random random = new Random(part);
              return IntStream.range(0, megabytes * RECORDS_A_MEGABYTE)
                  .mapToObj(
                      record -> {
                        final byte[] bytes = new byte[RECORD_BYTES];
                        random.nextBytes(bytes);
                        return bytes;
                      })
                  .iterator();
            },
            true);
  }

  private static JavaPairRDD<Integer, byte[]> shuffled(JavaRDD<byte[]> records, int parts) {
    return records
        .mapToPair(record -> new Tuple2<>((int) record[0], record))
        .partitionBy(new HashPartitioner(parts));
  }

  private static void digest(Iterator<Tuple2<Integer, byte[]>> records) {
    final CRC32 sum = new CRC32();
    while (records.hasNext()) {
      sum.update(records.next()._2());
    }
  }

  private static void digestAgain(Iterator<byte[]> records, int times) {
    final List<byte[]> all = new ArrayList<>();
    records.forEachRemaining(all::add);
    final Random order = new Random(1);
    long sum = 0;
    for (int time = 0; time < times; ++time) {
      final int salt = order.nextInt();
      for (byte[] record : all) {
        for (byte one : record) {
          sum = Long.rotateLeft(sum ^ salt, 7) + one;
        }
      }
    }
    if (sum == 0) {
      throw new IllegalStateException("no records");
    }
  }

  private static long wordsOf(Iterator<String> lines) {
    long words = 0;
    while (lines.hasNext()) {
      words += lines.next().split(" ").length;
    }
    return words;
  }

  private static Path write(Path path) throws IOException {
    final Random random = new Random(7);
    try (PrintWriter lines =
        new PrintWriter(Files.newBufferedWriter(path, StandardCharsets.US_ASCII))) {
      for (int line = 0; line < FILE_LINES; ++line) {
        for (int word = 0; word < 6; ++word) {
          lines.print(Integer.toString(random.nextInt(1_000_000), 36));
          lines.print(' ');
        }
        lines.println();
      }
    }
    return path;
  }
}
