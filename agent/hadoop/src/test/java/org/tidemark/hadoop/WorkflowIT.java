package org.tidemark.hadoop;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.commons.io.IOUtils;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.tidemark.hadoop.jobs.Chain;
import org.tidemark.hadoop.jobs.InvertedIndex;
import org.tidemark.hadoop.support.Client;
import org.tidemark.hadoop.support.Cluster;
import org.tidemark.hadoop.support.Inputs;
import org.tidemark.hadoop.support.JobJar;
import org.tidemark.hadoop.support.Jobs;
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
      final HadoopBars bars = new HadoopBars();
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
      runs.add(snapshots);
      System.out.printf(
          "%s, run %d: %.0f s, mean error of the bar %.1f points, of Hadoop's bars %.1f%n",
          name, run, watched.seconds, 100 * meanError(snapshots), 100 * bars.meanError(snapshots));
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

  /** Polls the progress of all applications, as Hadoop reports it. */
  private static final class HadoopBars extends Thread {
    private final List<Map<String, Double>> polled = new ArrayList<>();
    private final List<Double> at = new ArrayList<>();
    private final Set<String> earlier;
    private volatile boolean isOver;

    HadoopBars() throws IOException {
      earlier = poll().keySet();
      setDaemon(true);
      start();
    }

    private static Map<String, Double> poll() throws IOException {
      final URL url =
          new URL(
              "http://" + cluster.conf().get("yarn.resourcemanager.webapp.address")
                  + "/ws/v1/cluster/apps");
      final Map<String, Double> progress = new HashMap<>();
      for (JsonNode each : new ObjectMapper().readTree(url).path("apps").path("app")) {
        final boolean hasEnded = each.path("state").asText().equals("FINISHED");
        progress.put(
            each.get("id").asText(), hasEnded ? 1 : each.path("progress").asDouble() / 100);
      }
      return progress;
    }

    @Override
    public void run() {
      while (!isOver) {
        try {
          Thread.sleep(500);
          final Map<String, Double> progress = poll();
          progress.keySet().removeAll(earlier);
          polled.add(progress);
          at.add((double) System.currentTimeMillis());
        } catch (IOException | InterruptedException busy) {
          continue;
        }
      }
    }

    void close() throws InterruptedException {
      isOver = true;
      join();
    }

    /** Returns the mean error of the sum of the bars, as if the number of jobs were known. */
    double meanError(List<JsonNode> snapshots) {
      final JsonNode last = snapshots.get(snapshots.size() - 1);
      final double begin = millis(last.get("started_at"));
      final double end = millis(last.get("ended_at"));
      final int jobs = polled.isEmpty() ? 0 : polled.get(polled.size() - 1).size();
      double error = 0;
      int count = 0;
      for (int i = 0; i < polled.size(); ++i) {
        if (at.get(i) < begin || at.get(i) >= end) {
          continue;
        }
        final double sum = polled.get(i).values().stream().mapToDouble(each -> each).sum();
        error += Math.abs(sum / jobs - (at.get(i) - begin) / (end - begin));
        ++count;
      }
      return count == 0 ? 0 : error / count;
    }
  }

  /** Returns the content of all files below a folder. */
  private static String content(String folder) throws IOException {
    final StringBuilder content = new StringBuilder();
    final FileSystem files = FileSystem.get(cluster.conf());
    final RemoteIterator<LocatedFileStatus> each = files.listFiles(new Path(folder), true);
    final Map<String, String> parts = new TreeMap<>();
    while (each.hasNext()) {
      final Path path = each.next().getPath();
      try (InputStream in = files.open(path)) {
        parts.put(
            path.toUri().getPath().substring(folder.length()), IOUtils.toString(in, "UTF-8"));
      }
    }
    parts.forEach((name, text) -> content.append(name).append('\n').append(text));
    return content.toString();
  }

  /** Checks that both runs wrote what a run without Tidemark writes. */
  private static void checkOutputs(String name, String commands) throws Exception {
    final Client.Ended plain =
        client.plain("bash", script("plain-" + name, commands).getPath(), "/plain-" + name, "0");
    assertEquals(plain.err, 0, plain.exitCode);
    final String expected = content("/plain-" + name);
    assertTrue(expected, expected.length() > 20);
    for (int run = 1; run <= 2; ++run) {
      assertEquals(expected, content("/" + name + run));
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

  /** Returns the jars of an engine, or skips the test without them. */
  private static String engine(String name) {
    final String folder = System.getProperty("tidemark." + name, "");
    assumeTrue("no jars of " + name, new File(folder).isDirectory());
    return folder;
  }

  /** Returns the beginning of a script whose programs use these jars. */
  private static String with(String jars) {
    final StringBuilder opens = new StringBuilder();
    final String packages =
        "lang lang.reflect util util.concurrent util.concurrent.atomic util.regex math"
            + " net io nio text";
    for (String each : packages.split(" ")) {
      opens.append(" --add-opens=java.base/java.").append(each).append("=ALL-UNNAMED");
    }
    return "export HADOOP_CLASSPATH=\"" + jars + "/*:$HADOOP_CLASSPATH\"\n"
        + "export JDK_JAVA_OPTIONS='" + opens + "'\n";
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
  public void faultsOfTheMasterDoNotChangeTheOutputOfAProgramWithJobControl() throws Exception {
    final String jar = JobJar.of(FILES.newFile("faulty.jar"), Chain.class, InvertedIndex.class);
    for (String fault : Arrays.asList("none", "absent", "killed")) {
      try (Master master = Master.start(FILES.newFolder().toPath())) {
        final StringBuilder command =
            new StringBuilder(client.program() + " jar " + jar + " -Dtidemark.workflow.id=w");
        if (!fault.equals("none")) {
          final String address = fault.equals("absent") ? FaultyMaster.absent() : master.address;
          for (Map.Entry<String, String> each :
              Jobs.measured(new Configuration(false), address)) {
            command.append(" '-D").append(each.getKey()).append('=').append(each.getValue());
            command.append('\'');
          }
          command.append(" -libjars ").append(System.getProperty("tidemark.jar"));
        }
        command.append(" /words $1\n");
        final Thread killer = new Thread(() -> killAfterFirstReport(master));
        if (fault.equals("killed")) {
          killer.start();
        }
        final String path = script("faults-" + fault, command.toString()).getPath();
        final Client.Ended ended = client.plain("bash", path, "/faults-" + fault);
        assertEquals(ended.err, 0, ended.exitCode);
        System.out.printf("JobControl, master %s: %.0f s%n", fault, ended.seconds);
        if (fault.equals("killed")) {
          killer.join();
        }
        assertEquals(content("/faults-none"), content("/faults-" + fault));
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

  @Test
  public void aScriptOfPigIsOneBarWithItsGraph() throws Exception {
    final String jars = engine("pig");
    final File script = FILES.newFile("words.pig");
    Files.write(
        script.toPath(),
        ("lines = LOAD '/words' USING TextLoader() AS (line:chararray);\n"
                + "words = FOREACH lines GENERATE FLATTEN(TOKENIZE(line)) AS word;\n"
                + "counts = FOREACH (GROUP words BY word) GENERATE group, COUNT(words) AS n;\n"
                + "often = FOREACH (GROUP counts BY n) GENERATE group AS n, COUNT(counts) AS c;\n"
                + "sorted = ORDER often BY n;\n"
                + "STORE sorted INTO '$OUT';\n")
            .getBytes(StandardCharsets.UTF_8));
    final String commands =
        with(jars) + client.program() + " jar " + jars + "/pig-0.17.0.jar -x mapreduce"
            + " -p OUT=$1 " + script + "\n";
    final List<List<JsonNode>> runs = runTwice("pig", commands, true);
    checkSucceeds(runs);
    final List<JsonNode> first = runs.get(0);
    assertEquals("the whole graph", jobs(first.get(first.size() - 1)), jobsKnownEarly(first));
    checkOutputs("pig", commands);
  }

  @Test
  public void aQueryOfHiveIsOneBarWithItsGraph() throws Exception {
    final String jars = engine("hive");
    final File folder = FILES.newFolder("hive-files");
    final String opens = with(jars).replaceAll("(?s).*JDK_JAVA_OPTIONS='(.*?)'.*", "$1");
    final File script = FILES.newFile("words.sql");
    Files.write(
        script.toPath(),
        ("drop table if exists lines;\n"
                + "create external table lines(line string) location '/hive-lines';\n"
                + "insert overwrite directory '${OUT}'\n"
                + "select length(a.word) l, count(distinct a.n) d, sum(b.n) s from\n"
                + "  (select word, count(*) n from lines lateral view\n"
                + "    explode(split(line, ' ')) w as word group by word) a join\n"
                + "  (select line, count(*) n from lines group by line) b\n"
                + "  on a.n = b.n group by length(a.word) order by l;\n")
            .getBytes(StandardCharsets.UTF_8));
    final FileSystem files = FileSystem.get(cluster.conf());
    files.mkdirs(new Path("/hive-lines"));
    try (FSDataOutputStream out = files.create(new Path("/hive-lines/words"))) {
      out.write(Inputs.words(12_000, 10).getBytes(StandardCharsets.UTF_8));
    }
    final Map<String, String> settings = new TreeMap<>();
    settings.put("hive.execution.engine", "mr");
    settings.put("hive.auto.convert.join", "false");
    settings.put("hive.async.log.enabled", "false");
    settings.put("hive.cbo.enable", "false");
    settings.put("hive.stats.autogather", "false");
    settings.put("hive.metastore.schema.verification", "false");
    settings.put("datanucleus.schema.autoCreateAll", "true");
    settings.put("hive.metastore.warehouse.dir", "/warehouse");
    settings.put("hive.exec.scratchdir", "/hive-scratch");
    settings.put("hive.exec.local.scratchdir", folder + "/scratch");
    settings.put("hive.downloaded.resources.dir", folder + "/resources");
    settings.put("hive.querylog.location", folder + "/log");
    settings.put(
        "javax.jdo.option.ConnectionURL",
        "jdbc:derby:;databaseName=" + folder + "/metastore;create=true");
    for (String kind : Arrays.asList("map", "reduce")) {
      settings.put(
          "mapreduce." + kind + ".java.opts",
          "-Xmx160m -XX:+UseSerialGC -XX:TieredStopAtLevel=1" + opens);
    }
    // Hive 3 requires a URLClassLoader, which Java 9 and later use only here.
    final StringBuilder commands = new StringBuilder(with(jars));
    commands.append("export HADOOP_USE_CLIENT_CLASSLOADER=true\n");
    commands.append("export HADOOP_CLIENT_CLASSLOADER_SYSTEM_CLASSES=-org.apache.hadoop.hive.,");
    commands.append("org.apache.hadoop.,java.,javax.xml.,org.w3c.,org.xml.,org.slf4j.,");
    commands.append("org.apache.commons.logging.,org.apache.log4j.\n").append(client.program());
    commands.append(" jar ").append(jars).append("/hive-cli-3.1.3.jar");
    commands.append(" org.apache.hadoop.hive.cli.CliDriver --hivevar OUT=$1 -f ").append(script);
    settings.forEach(
        (name, value) ->
            commands.append(" --hiveconf '").append(name).append('=').append(value).append('\''));
    final List<List<JsonNode>> runs = runTwice("hive", commands + "\n", true);
    checkSucceeds(runs);
    assertTrue("the graph of the first run", jobsKnownEarly(runs.get(0)) > 2);
    checkOutputs("hive", commands + "\n");
  }
}
