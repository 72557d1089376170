package org.tidemark.hadoop;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.tidemark.hadoop.jobs.Chain;
import org.tidemark.hadoop.jobs.InvertedIndex;
import org.tidemark.hadoop.support.Client;
import org.tidemark.hadoop.support.Cluster;
import org.tidemark.hadoop.support.JobJar;
import org.tidemark.hadoop.support.Scripts;
import org.tidemark.hadoop.support.YarnBars;
import org.tidemark.jvm.support.FaultyMaster;
import org.tidemark.jvm.support.Master;

/**
 * Tests scripts of several jobs on a real cluster with `tidemark run hadoop`. Prints the error of
 * the bar beside the error of Hadoop's bars. Tests of Pig and Hive need the folders of their jars
 * (tests/hadoop/engines).
 */
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
    Scripts.writeWords(cluster.conf(), 12_000);
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

  private static File script(String name, String commands) throws IOException {
    final File script = FILES.newFile(name);
    Files.write(script.toPath(), ("set -e\n" + commands).getBytes(StandardCharsets.UTF_8));
    return script;
  }

  /** Runs the script twice and returns the snapshots of the workflow in each run. */
  private static List<List<JsonNode>> runTwice(String name, String commands, boolean succeeds)
      throws Exception {
    final File script = script(name, commands);
    final List<String> options =
        Arrays.asList("-o", "jsonl", "--data-dir", FILES.newFolder().getPath());
    final List<List<JsonNode>> runs = new ArrayList<>();
    for (int run = 1; run <= 2; ++run) {
      final YarnBars bars = new YarnBars(cluster.conf());
      final Client.Ended watched =
          client.watched(
              System.getProperty("tidemark.jar"),
              options,
              Arrays.asList("bash", script.getPath(), "/" + name + run, Integer.toString(run)));
      bars.close();
      assertEquals(watched.err, succeeds, watched.exitCode == 0);
      final List<JsonNode> snapshots = new ArrayList<>();
      for (String line : watched.err.split("\n")) {
        if (line.startsWith("{") && line.contains("JOB_KIND_WORKFLOW")) {
          snapshots.add(new ObjectMapper().readTree(line));
        }
      }
      assertTrue(watched.err, snapshots.size() > 2);
      final String end = watched.err.substring(watched.err.lastIndexOf("JOB_KIND_WORKFLOW"));
      assertFalse(end, end.contains("has not reported"));
      runs.add(snapshots);
      System.out.printf(
          "%s, run %d: %.0f s, mean error of the bar %.1f points, of Hadoop's bars %.1f%n",
          name,
          run,
          watched.seconds,
          100 * YarnBars.meanErrorOf(snapshots),
          100 * bars.meanError(snapshots));
    }
    return runs;
  }

  /**
   * Checks that both runs wrote what a run without Tidemark writes, and that runs write the same if
   * the master is absent or killed.
   */
  private static void checkOutputs(String name, String commands) throws Exception {
    final String script = script("plain-" + name, commands).getPath();
    final Client.Ended plain = client.plain("bash", script, "/plain-" + name, "0");
    assertEquals(plain.err, 0, plain.exitCode);
    final String expected = Scripts.content(cluster.conf(), "/plain-" + name);
    assertTrue(expected, expected.length() > 20);
    for (int run = 1; run <= 2; ++run) {
      assertEquals(expected, Scripts.content(cluster.conf(), "/" + name + run));
    }
    for (String fault : Arrays.asList("absent", "killed")) {
      try (Master master = Master.start(FILES.newFolder().toPath())) {
        final boolean isAbsent = fault.equals("absent");
        final Thread killer = new Thread(() -> killAfterFirstReport(master));
        if (!isAbsent) {
          killer.start();
        }
        final String output = "/" + fault + "-" + name;
        final Client.Ended ended =
            client.watched(
                System.getProperty("tidemark.jar"),
                Arrays.asList(
                    "-o", "jsonl", "--master", isAbsent ? FaultyMaster.absent() : master.address),
                Arrays.asList("bash", script, output, "0"));
        assertEquals(ended.err, 0, ended.exitCode);
        System.out.printf(
            "%s, master %s: %.0f s, without Tidemark %.0f s%n",
            name, fault, ended.seconds, plain.seconds);
        if (!isAbsent) {
          killer.join();
        }
        assertEquals(expected, Scripts.content(cluster.conf(), output));
      }
    }
  }

  private static void killAfterFirstReport(Master master) {
    try {
      while (master.jobs().isEmpty()) {
        Thread.sleep(100);
      }
      master.kill();
    } catch (InterruptedException giveUp) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns the largest number of jobs that were known before the first job ended. */
  private static int jobsKnownEarly(List<JsonNode> run) {
    return run.stream()
        .filter(each -> each.get("counts").path("finished_child_count").asInt() == 0)
        .mapToInt(WorkflowIT::jobs)
        .max()
        .orElse(0);
  }

  private static void checkSucceeds(List<List<JsonNode>> runs) {
    for (List<JsonNode> run : runs) {
      final JsonNode last = run.get(run.size() - 1);
      assertEquals("JOB_STATE_SUCCEEDED", last.get("state").asText());
      assertTrue(last.toString(), last.get("counts").get("finished_child_count").asInt() > 2);
    }
    final JsonNode last = runs.get(1).get(runs.get(1).size() - 1);
    assertEquals(
        "before the first job of the second run ends",
        last.get("counts").get("finished_child_count").asInt(),
        jobsKnownEarly(runs.get(1)));
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

  @Test
  public void aProgramWithJobControlIsOneBar() throws Exception {
    final String jar = JobJar.of(FILES.newFile("chain.jar"), Chain.class, InvertedIndex.class);
    final String commands = client.program() + " jar " + jar + " /words $1\n";
    checkSucceeds(runTwice("chain", commands, true));
    checkOutputs("chain", commands);
  }

  @Test
  public void aScriptOfPigIsOneBarWithItsGraph() throws Exception {
    final String commands = Scripts.pig(client, "mapreduce", FILES.newFolder("pig-files"));
    final List<List<JsonNode>> runs = runTwice("pig", commands, true);
    checkSucceeds(runs);
    final List<JsonNode> first = runs.get(0);
    assertEquals("the whole graph", jobs(first.get(first.size() - 1)), jobsKnownEarly(first));
    checkOutputs("pig", commands);
  }

  @Test
  public void aQueryOfHiveIsOneBarWithItsGraph() throws Exception {
    final String commands = Scripts.hive(client, FILES.newFolder("hive-files"));
    final List<List<JsonNode>> runs = runTwice("hive", commands, true);
    checkSucceeds(runs);
    assertTrue("the graph of the first run", jobsKnownEarly(runs.get(0)) > 2);
    checkOutputs("hive", commands);
  }
}
