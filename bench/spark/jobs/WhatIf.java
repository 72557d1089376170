package org.tidemark.bench;

import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.expr;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.sum;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;

/**
 * The programs of `./dev bench what_if`. The arguments are the program, the folder with the data
 * that "make" generated, the size of the data, and NAME=VALUE...
 */
public final class WhatIf {
  private static final long ROWS = 2_000_000;
  private static final int GROUPS = 400_000;

  private WhatIf() {}

  public static void main(String[] arguments) {
    final String folder = arguments[1];
    final int size = Integer.parseInt(arguments[2]);
    final Map<String, String> parameters = new HashMap<>();
    for (String argument : Arrays.asList(arguments).subList(3, arguments.length)) {
      final String[] parts = argument.split("=", 2);
      parameters.put(parts[0], parts[1]);
    }
    try (SparkSession session = SparkSession.builder().getOrCreate()) {
      final Object result = run(session, arguments[0], folder, size, parameters);
      System.out.println("RESULT " + result);
    }
  }

  private static Object run(
      SparkSession session, String program, String folder, int size, Map<String, String> parameters) {
    switch (program) {
      case "make":
        return make(session, folder, size);
      case "aggregation":
        return aggregation(facts(session, folder, size));
      case "sort":
        return sort(facts(session, folder, size));
      case "join":
        return join(session, facts(session, folder, size));
      case "iterative":
      case "page_rank":
        return pageRank(session, folder + "/links-" + size, number(parameters, "iterations", 4));
      case "word_count":
        return wordCount(session, folder + "/words-" + size, parameters.getOrDefault("letters", ""));
      case "k_means":
        return kMeans(session, folder + "/points-" + size, number(parameters, "k", 40));
      default:
        throw new IllegalArgumentException(program);
    }
  }

  private static int number(Map<String, String> parameters, String name, int otherwise) {
    return Integer.parseInt(parameters.getOrDefault(name, String.valueOf(otherwise)));
  }

  /** Writes files of about a hundred megabytes for each unit of size. */
  private static String make(SparkSession session, String folder, int size) {
    session
        .range(0, ROWS * size, 1, 4 * size)
        .selectExpr("xxhash64(id) AS k", "id & 1023 AS v", "sha1(CAST(id AS STRING)) AS payload")
        .write()
        .parquet(folder + "/facts-" + size);
    session
        .range(0, 240_000L * size, 1, 4 * size)
        .selectExpr(
            "concat(pmod(xxhash64(id), " + 24_000 * size + "), ' ', id % " + 24_000 * size + ")")
        .write()
        .text(folder + "/links-" + size);
    session
        .range(0, 500_000L * size, 1, 4 * size)
        .selectExpr(
            "array_join(transform(sequence(1, 10), i -> concat(char(97 + pmod(hash(id, i), 26)),"
                + " hex(pmod(hash(id, i, 7), 60000)))), ' ')")
        .write()
        .text(folder + "/words-" + size);
    session
        .range(0, 300_000L * size, 1, 4 * size)
        .selectExpr("array_join(transform(sequence(1, 8), i -> pmod(hash(id, i), 1000)), ' ')")
        .write()
        .text(folder + "/points-" + size);
    return folder;
  }

  private static Dataset<Row> facts(SparkSession session, String folder, int size) {
    return session.read().parquet(folder + "/facts-" + size);
  }

  private static Object aggregation(Dataset<Row> facts) {
    return facts
        .groupBy(expr("pmod(k, " + GROUPS + ")").as("k"))
        .agg(sum("v").as("v"), count(lit(1)).as("n"), expr("max(payload)").as("payload"))
        .agg(expr("sum(v * (k & 1023))"), expr("max(n)"), expr("max(payload)"))
        .collectAsList();
  }

  private static Object sort(Dataset<Row> facts) {
    facts.orderBy("k", "payload").write().format("noop").mode("overwrite").save();
    return "sorted";
  }

  private static Object join(SparkSession session, Dataset<Row> facts) {
    final Dataset<Row> dimensions =
        session
            .range(0, GROUPS, 1, 4)
            .selectExpr("id AS k", "sha1(CAST(id AS STRING)) AS name");
    return facts
        .withColumn("k", expr("pmod(k, " + GROUPS + ")"))
        .hint("merge")
        .join(dimensions, "k")
        .agg(count(lit(1)), expr("sum(xxhash64(payload, name) & 1023)"))
        .collectAsList();
  }

  private static int partitions(JavaSparkContext context) {
    return context.defaultParallelism();
  }

  private static Object pageRank(SparkSession session, String file, int iterations) {
    final JavaSparkContext context = new JavaSparkContext(session.sparkContext());
    final int partitions = partitions(context);
    final JavaPairRDD<Integer, Iterable<Integer>> links =
        context
            .textFile(file)
            .mapToPair(
                line -> {
                  final String[] pages = line.split(" ");
                  return new Tuple2<>(Integer.valueOf(pages[0]), Integer.valueOf(pages[1]));
                })
            .groupByKey(partitions)
            .cache();
    return PageRank.rank(links, partitions, iterations);
  }

  /** Counts words that begin with none of the letters. */
  private static Object wordCount(SparkSession session, String file, String letters) {
    final JavaSparkContext context = new JavaSparkContext(session.sparkContext());
    final String left = letters.replace(",", "");
    return context
        .textFile(file)
        .flatMap(line -> Arrays.asList(line.split(" ")).iterator())
        .filter(word -> left.indexOf(word.charAt(0)) < 0)
        .mapToPair(word -> new Tuple2<>(word, 1))
        .reduceByKey(Integer::sum, partitions(context))
        .map(word -> word._2().longValue())
        .reduce(Long::sum);
  }

  private static Object kMeans(SparkSession session, String file, int k) {
    final JavaSparkContext context = new JavaSparkContext(session.sparkContext());
    final JavaRDD<int[]> points =
        context
            .textFile(file)
            .map(line -> Arrays.stream(line.split(" ")).mapToInt(Integer::parseInt).toArray())
            .cache();
    return KMeans.cluster(points, k, 5);
  }
}
