package org.tidemark.spark.jobs;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * An application whose result does not depend on any order. Each argument is the address of a
 * master, or "none", and runs in a separate context. The contexts run sequentially. For each
 * context, prints the result, and how many threads of the connector and sockets to the master
 * remain afterwards.
 */
public final class Work {
  private static final int TASKS = 6;
  private static final int KEYS = 50;
  private static final int RECORDS = 30_000;
  private static final long THREADS_END_MILLIS = 10_000;

  private Work() {}

  public static void main(String[] masters) throws Exception {
    for (int i = 0; i < masters.length; ++i) {
      final SparkConf conf = new SparkConf().setAppName("work " + i);
      if (!masters[i].equals("none")) {
        conf.set("spark.tidemark.master", masters[i]);
      }
      try (JavaSparkContext context = new JavaSparkContext(conf)) {
        System.out.println("APPLICATION " + i + " " + context.sc().applicationId());
        System.out.println("RESULT " + i + " " + run(context));
      }
      System.out.println("THREADS " + i + " " + threadsLeft());
      System.out.println("SOCKETS " + i + " " + socketsTo(masters[i]));
    }
  }

  /** Runs stages that are shared, skipped and retried, and tasks for only some partitions. */
  private static String run(JavaSparkContext context) {
    final List<Integer> numbers = new ArrayList<>();
    for (int i = 0; i < RECORDS; ++i) {
      numbers.add(i);
    }
    final JavaPairRDD<Integer, Long> sums =
        context
            .parallelize(numbers, TASKS)
            // A third of all records have one key.
            .mapToPair(n -> new Tuple2<>(n % 3 == 0 ? 0 : n % KEYS, (long) n))
            .groupByKey(4)
            .mapValues(Work::sum);
    final long total = sums.map(pair -> pair._1() * pair._2()).reduce(Long::sum);
    final long keys = sums.count();  // The output of the first stage exists.
    final int firsts = context.parallelize(numbers, 10).filter(n -> n >= 2_990).take(100).size();
    final int failed =
        context
            .parallelize(numbers, 3)
            .mapPartitions(
                all -> {
                  final org.apache.spark.TaskContext task = org.apache.spark.TaskContext.get();
                  if (task.partitionId() == 1 && task.attemptNumber() == 0) {
                    throw new IllegalStateException("the first attempt fails");
                  }
                  return all;
                })
            .collect()
            .size();
    return total + " " + keys + " " + firsts + " " + failed;
  }

  private static long sum(Iterable<Long> values) {
    long sum = 0;
    for (long value : values) {
      sum += value;
    }
    return sum;
  }

  private static int threadsLeft() throws InterruptedException {
    final long deadline = System.currentTimeMillis() + THREADS_END_MILLIS;
    while (ours() > 0 && System.currentTimeMillis() < deadline) {
      Thread.sleep(50);
    }
    return ours();
  }

  private static int socketsTo(String master) throws IOException {
    final Matcher port = Pattern.compile(":([0-9]+)$").matcher(master);
    if (!port.find()) {
      return 0;
    }
    final String suffix = String.format(":%04X", Integer.parseInt(port.group(1)));
    final Set<String> sockets = new HashSet<>();
    for (String table : Arrays.asList("/proc/self/net/tcp", "/proc/self/net/tcp6")) {
      for (String line : Files.readAllLines(Paths.get(table))) {
        final String[] fields = line.trim().split(" +");
        if (fields[2].endsWith(suffix)) {
          sockets.add("socket:[" + fields[9] + "]");
        }
      }
    }
    int count = 0;
    for (File descriptor : new File("/proc/self/fd").listFiles()) {
      try {
        final Path open = Files.readSymbolicLink(descriptor.toPath());
        count += sockets.contains(open.toString()) ? 1 : 0;
      } catch (IOException closedMeanwhile) {
        // The socket is not open.
      }
    }
    return count;
  }

  private static int ours() {
    int count = 0;
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      // Spark's thread for the connector's queue ends with the queue, so it is not counted.
      count += thread.getName().matches("tidemark-(sender|reader|sizes)") ? 1 : 0;
    }
    return count;
  }
}
