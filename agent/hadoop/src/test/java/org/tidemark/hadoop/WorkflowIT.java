package org.tidemark.hadoop;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.tidemark.hadoop.support.Client;
import org.tidemark.hadoop.support.Cluster;
import org.tidemark.hadoop.support.Inputs;

/** Tests scripts of several jobs on a real cluster with `tidemark run hadoop`. */
public class WorkflowIT {
  @ClassRule public static final TemporaryFolder FILES = new TemporaryFolder();

  private static final String RUN = "1f0c2a";

  private static Cluster cluster;
  private static Client client;

  @BeforeClass
  public static void start() throws Exception {
    cluster =
        Cluster.start(
            FILES.newFolder("cluster"),
            Collections.singletonMap(
                "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage",
                "99"));
    client =
        new Client(
            FILES.newFolder("client").toPath(), cluster.clientConf(), Cluster.hadoopLibraries());
    final Path path = new Path("/words");
    try (FSDataOutputStream out = path.getFileSystem(cluster.conf()).create(path)) {
      out.write(Inputs.words(12_000, 10).getBytes(StandardCharsets.UTF_8));
    }
  }

  @AfterClass
  public static void stop() {
    if (cluster != null) {
      cluster.close();
    }
  }

  private static String example(String words) {
    return client.program() + " jar " + Client.examples() + " " + words + "\n";
  }

  /** Returns the settings of a node of a script of Pig with the graph a, b, c. */
  private static String pig(String node) {
    final String settings =
        "-Dmapreduce.workflow.id=pig_" + RUN + "-$2 -Dmapreduce.workflow.name=s.pig"
            + " -Dmapreduce.workflow.adjacency.a=b -Dmapreduce.workflow.adjacency.b=c"
            + " -Dmapreduce.workflow.adjacency.c=";
    return settings + " -Dmapreduce.workflow.node.name=" + node;
  }

  /** Runs the script twice and returns the snapshots of the workflow in each run. */
  private static List<List<JsonNode>> runTwice(String name, String commands, boolean succeeds)
      throws Exception {
    final File script = FILES.newFile(name);
    Files.write(script.toPath(), ("set -e\n" + commands).getBytes(StandardCharsets.UTF_8));
    final List<String> options =
        Arrays.asList("-o", "jsonl", "--data-dir", FILES.newFolder().getPath());
    final List<List<JsonNode>> runs = new ArrayList<>();
    for (int run = 1; run <= 2; ++run) {
      final Client.Ended watched =
          client.watched(
              System.getProperty("tidemark.jar"),
              options,
              Arrays.asList("bash", script.getPath(), "/" + name + run, Integer.toString(run)));
      assertEquals(watched.err, succeeds, watched.exitCode == 0);
      final List<JsonNode> snapshots = new ArrayList<>();
      for (String line : watched.err.split("\n")) {
        if (line.startsWith("{") && line.contains("JOB_KIND_WORKFLOW")) {
          snapshots.add(new ObjectMapper().readTree(line));
        }
      }
      assertTrue(watched.err, snapshots.size() > 2);
      runs.add(snapshots);
      System.out.printf(
          "%s, run %d: %d snapshots, mean error of the bar %.1f points%n",
          name, run, snapshots.size(), 100 * meanError(snapshots));
    }
    return runs;
  }

  private static double millis(JsonNode time) {
    return Instant.parse(time.asText()).toEpochMilli();
  }

  /** Returns the mean distance between the shown and the true progress. */
  private static double meanError(List<JsonNode> snapshots) {
    final JsonNode last = snapshots.get(snapshots.size() - 1);
    final double begin = millis(last.get("started_at"));
    final double end = millis(last.get("ended_at"));
    double sum = 0;
    int count = 0;
    for (JsonNode snapshot : snapshots) {
      final double at = millis(snapshot.get("at"));
      if (at < end) {
        final double shown = snapshot.get("estimate").path("fraction_done").asDouble();
        sum += Math.abs(shown - (at - begin) / (end - begin));
        ++count;
      }
    }
    return count == 0 ? 0 : sum / count;
  }

  private static int jobs(JsonNode snapshot) {
    return snapshot.get("counts").path("child_count").asInt();
  }

  @Test
  public void aScriptOfFourJobsIsOneBarAndItsNextRunExpectsThem() throws Exception {
    final String commands =
        example("wordcount /words $1/words")
            + example("grep /words $1/grepped 'w[0-9]*7'")
            + example("wordmean /words $1/mean");
    final List<List<JsonNode>> runs = runTwice("nightly.sh", commands, true);
    for (List<JsonNode> run : runs) {
      final JsonNode last = run.get(run.size() - 1);
      assertEquals("JOB_STATE_SUCCEEDED", last.get("state").asText());
      assertEquals(4, last.get("counts").get("finished_child_count").asInt());
    }
    assertEquals("before its second job", 4, jobs(runs.get(1).get(0)));
  }

  @Test
  public void aScriptWithAGraphThatFailsInTheMiddleFailsAndNamesTheMissingJob() throws Exception {
    final String commands =
        example("wordcount " + pig("a") + " /words $1/a")
            + example("sort " + pig("b") + " -r 1 /words $1/b")
            + example("wordcount " + pig("c") + " /words $1/c");
    for (List<JsonNode> run : runTwice("s.sh", commands, false)) {
      assertEquals("the whole graph with the first job", 3, jobs(run.get(0)));
      final JsonNode last = run.get(run.size() - 1);
      assertEquals("JOB_STATE_FAILED", last.get("state").asText());
      assertTrue(
          last.toString(),
          last.get("notes").toString().contains("no job ran for 1 node: c of s.pig"));
    }
  }
}
