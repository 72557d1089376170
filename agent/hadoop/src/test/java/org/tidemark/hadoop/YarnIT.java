package org.tidemark.hadoop;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.examples.Grep;
import org.apache.hadoop.examples.Join;
import org.apache.hadoop.examples.terasort.TeraGen;
import org.apache.hadoop.examples.terasort.TeraSort;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.SequenceFile;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobCounter;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.join.TupleWritable;
import org.apache.hadoop.mapreduce.lib.output.TextOutputFormat;
import org.apache.hadoop.util.ReflectionUtils;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.tidemark.hadoop.jobs.FaultyWords;
import org.tidemark.hadoop.jobs.InvertedIndex;
import org.tidemark.hadoop.jobs.TwoPath;
import org.tidemark.hadoop.support.Client;
import org.tidemark.hadoop.support.Cluster;
import org.tidemark.hadoop.support.EventLog;
import org.tidemark.hadoop.support.Inputs;
import org.tidemark.hadoop.support.JobJar;
import org.tidemark.hadoop.support.Jobs;
import org.tidemark.jvm.profile.MeterSettings;
import org.tidemark.jvm.support.Certificates;
import org.tidemark.jvm.support.Master;

/**
 * Tests jobs on a real cluster whose daemons do not have the connector. The output is compared with
 * the output of the same job in local mode without it.
 */
public class YarnIT {
  @ClassRule public static final TemporaryFolder FILES = new TemporaryFolder();

  private static final int STARTED = 2;
  private static final int SHUFFLED = 3;
  private static final int FINISHED = 4;
  private static final int FAILED = 5;
  private static final int KILLED = 6;
  private static final int FAILED_JOB = 2;
  private static final String TOKEN = "2f0d6b1c9e8a47d3";

  /** Enough work to make the start and end of a reduce phase negligible. */
  private static final int ROUNDS = 100;

  private static Master master;
  private static Cluster cluster;
  private static Configuration conf;
  private static int outputs;

  @BeforeClass
  public static void start() throws Exception {
    master = Master.start(FILES.newFolder("logs").toPath());
    cluster = Cluster.start(FILES.newFolder("cluster"));
    conf = cluster.conf();
    conf.setLong("mapreduce.input.fileinputformat.split.maxsize", 400_000);
    // A second attempt at a slow task would be correct but is not expected below.
    conf.setBoolean("mapreduce.map.speculative", false);
    conf.setBoolean("mapreduce.reduce.speculative", false);
    // Enough time to read the map output again under any load.
    conf.setLong(Keys.SCAN_MIN_MILLIS, 60_000);
    conf.setLong(Keys.SCAN_MAX_MILLIS, 60_000);
    write("/words", Inputs.words(12_000, 10));
    write("/letters", Inputs.letters(12_000, 10));
    write("/edges", Inputs.edges(60_000, 3_000));
    write("/pairs", Inputs.pairs(20_000));
  }

  @AfterClass
  public static void stop() throws Exception {
    if (cluster != null) {
      cluster.close();
    }
    if (master != null) {
      master.close();
    }
  }

  private static void write(String file, String text) throws Exception {
    final Path path = new Path(file);
    try (FSDataOutputStream out = path.getFileSystem(conf).create(path)) {
      out.write(text.getBytes(StandardCharsets.UTF_8));
    }
  }

  /** Writes a table sorted by key, in two parts by key, as map-side joins require it. */
  private static void writeTable(String folder, int step) throws IOException {
    for (int part = 0; part < 2; ++part) {
      final Path file = new Path(folder, "part-0000" + part);
      try (SequenceFile.Writer out =
          SequenceFile.createWriter(
              conf,
              SequenceFile.Writer.file(file),
              SequenceFile.Writer.keyClass(IntWritable.class),
              SequenceFile.Writer.valueClass(Text.class))) {
        for (int key = part; key < 3_000; key += 2) {
          if (key % step == 0) {
            out.append(new IntWritable(key), new Text(folder + key));
          }
        }
      }
    }
  }

  /** Returns the settings of a job that runs within this process, without the connector. */
  private static Configuration local() {
    final Configuration local = new Configuration(conf);
    local.set("mapreduce.framework.name", "local");
    local.set("mapreduce.cluster.local.dir", FILES.getRoot() + "/local");
    return local;
  }

  /** Returns the settings of a job on the cluster, with the connector and its jar. */
  private static Configuration measured() {
    final Configuration measured = Jobs.measured(conf, master.address);
    measured.set("tmpjars", "file://" + System.getProperty("tidemark.jar"));
    return measured;
  }

  private static Path nextOutput() {
    return new Path("/out" + ++outputs);
  }

  /** Returns the output of a job that the test creates. */
  private static Path run(Job made, String input, int reduces) throws Exception {
    final Path output = nextOutput();
    final Job job =
        Jobs.prepared((JobConf) made.getConfiguration(), new Path(input), output, reduces);
    assertTrue("the job failed", job.waitForCompletion(false));
    return output;
  }

  /** Returns the output of one of Hadoop's examples, which is its last argument. */
  private static Path run(Configuration settings, Tool example, String... arguments)
      throws Exception {
    final Path output = nextOutput();
    for (int i = 0; i < arguments.length; ++i) {
      arguments[i] = arguments[i].replace("OUTPUT", output.toString());
    }
    assertEquals(0, ToolRunner.run(new Configuration(settings), example, arguments));
    return output;
  }

  private static void assertSameOutput(Path without, Path with) throws IOException {
    final byte[] expected = Jobs.output(conf, without);
    assertTrue("nothing to compare", expected.length > 100);
    assertArrayEquals(expected, Jobs.output(conf, with));
  }

  /** The counters of Hadoop and the log of the master. */
  private static final class Ran {
    final Counters counters;
    final EventLog log;

    Ran(String id) throws Exception {
      log = EventLog.of(master, id);
      counters =
          new org.apache.hadoop.mapreduce.Cluster(conf).getJob(JobID.forName(id)).getCounters();
    }

    long count(TaskCounter counter) {
      return counters.findCounter(counter).getValue();
    }
  }

  /** Returns the new jobs of the master, after checking the properties of each. */
  private static Ran[] ranSince(Set<String> before) throws Exception {
    final Set<String> ids = master.jobs();
    ids.removeAll(before);
    final Ran[] jobs = new Ran[ids.size()];
    int next = 0;
    for (String id : ids) {
      final Ran ran = new Ran(id);
      jobs[next++] = ran;
      assertEquals(1, ran.log.outcome);
      assertEquals(0, ran.log.refused);
      checkLives(ran.log);
      if (ran.log.reduceTasks > 0) {
        assertEquals(ran.log.mapTasks, ran.log.mapProfiles.size());
        assertEquals(ran.count(TaskCounter.REDUCE_INPUT_GROUPS), ran.log.groups());
      }
    }
    return jobs;
  }

  /**
   * Runs one job on the cluster and checks that its output equals that of a run without the
   * connector.
   */
  private static Ran ranLike(Path without, Callable<Path> run) throws Exception {
    final Set<String> before = master.jobs();
    assertSameOutput(without, run.call());
    final Ran[] jobs = ranSince(before);
    assertEquals(1, jobs.length);
    return jobs[0];
  }

  private static void checkLives(EventLog log) {
    int maps = 0;
    for (Map.Entry<String, Map<Integer, Long>> life : log.attempts.entrySet()) {
      final Map<Integer, Long> states = life.getValue();
      if (states.containsKey(FINISHED)) {
        maps += life.getKey().startsWith("m-") ? 1 : 0;
        assertTrue(life.getKey(), states.containsKey(STARTED));
        assertTrue(life.getKey(), states.get(STARTED) <= states.get(FINISHED));
        assertNotNull(life.getKey(), log.hosts.get(life.getKey()));
      }
    }
    assertEquals(log.mapTasks, maps);
  }

  /**
   * Checks that both sides of a job without a combiner report the same bytes, in total and for each
   * named heavy key.
   */
  private static void checkBytes(Ran ran) {
    assertEquals(ran.count(TaskCounter.MAP_OUTPUT_BYTES), ran.log.mapBytes());
    assertEquals(ran.log.mapBytes(), ran.log.reduceBytes());
  }

  /**
   * Checks that every attempt reports the times of its process. They are close to Hadoop's
   * counters, which are read at other times and do not include the start of the JVM.
   */
  private static void checkTimes(Ran ran) {
    assertEquals(ran.log.attempts.keySet(), ran.log.cpuMicros.keySet());
    assertEquals(ran.log.attempts.keySet(), ran.log.tellWaits);
    final double reported = ran.log.cpuMicros.values().stream().mapToLong(Long::longValue).sum() / 1e3;
    final double counted = ran.count(TaskCounter.CPU_MILLISECONDS);
    final double startsMax = 5_000.0 * ran.log.attempts.size();
    assertTrue(
        reported + " ms of " + counted, reported > counted / 2 && reported < 1.5 * counted + startsMax);
  }

  /** Checks that keys named by all map tasks have the sizes that the reduce tasks measured. */
  private static void checkNames(EventLog log, int keysMin) {
    final Map<Long, Long> names = log.namedKeys();
    final Map<Long, Long> sampled = log.sampledKeys();
    int compared = 0;
    for (Map.Entry<Long, Long> known : sampled.entrySet()) {
      if (known.getValue() >= new MeterSettings().namedGroupBytesMin()) {
        assertEquals(known.getValue(), names.get(known.getKey()));
        ++compared;
      }
    }
    assertTrue("keys known whole: " + compared, compared >= keysMin);
  }

  @Test
  public void wordCount() throws Exception {
    final Path without = run(Jobs.wordCount(local(), true), "/words", 2);
    final Ran ran = ranLike(without, () -> run(Jobs.wordCount(measured(), true), "/words", 2));
    assertEquals(ran.log.mapBytes(), ran.log.reduceBytes());
    // Without compression, the output consists of pairs with two length bytes each, end marks and
    // checksums.
    assertEquals(
        ran.count(TaskCounter.MAP_OUTPUT_MATERIALIZED_BYTES),
        ran.log.mapBytes()
            + 2 * ran.count(TaskCounter.COMBINE_OUTPUT_RECORDS)
            + 6L * ran.log.reduceTasks * ran.log.mapTasks);
    checkTimes(ran);
  }

  @Test
  public void invertedIndex() throws Exception {
    final Path without = run(Jobs.invertedIndex(local()), "/letters", 2);
    final Job made = Jobs.invertedIndex(measured());
    made.setJar(JobJar.of(FILES.newFile("inverted-index.jar"), InvertedIndex.class));
    final Ran ran = ranLike(without, () -> run(made, "/letters", 2));
    assertEquals(ran.count(TaskCounter.MAP_OUTPUT_BYTES), ran.log.mapBytes());
    assertEquals(ran.log.mapBytes(), ran.log.reduceBytes());
  }

  @Test
  public void teraSort() throws Exception {
    final Configuration generating = local();
    generating.setInt("mapreduce.job.maps", 2);
    final String rows = run(generating, new TeraGen(), "8000", "OUTPUT").toString();
    final Configuration expected = local();
    expected.setInt("mapreduce.job.reduces", 2);
    final Path without = run(expected, new TeraSort(), rows, "OUTPUT");
    final Configuration measured = measured();
    measured.setInt("mapreduce.job.reduces", 2);
    final Ran ran = ranLike(without, () -> run(measured, new TeraSort(), rows, "OUTPUT"));
    checkBytes(ran);
    assertEquals("each row has a key of its own", 8000, ran.log.groups());
    checkNames(ran.log, 200);
  }

  @Test
  public void secondarySort() throws Exception {
    final Path without = run(Jobs.secondarySort(local()), "/pairs", 2);
    final Configuration measured = measured();
    measured.setInt(Keys.GROUPING_PREFIX_BYTES, 4);
    final Ran ran = ranLike(without, () -> run(Jobs.secondarySort(measured), "/pairs", 2));
    checkBytes(ran);
    checkNames(ran.log, 100);
  }

  @Test
  public void grepRunsTwoJobs() throws Exception {
    final Path without = grep(local());
    final Set<String> before = master.jobs();
    assertSameOutput(without, grep(measured()));
    final Ran[] jobs = ranSince(before);
    assertEquals(2, jobs.length);
    checkBytes(jobs[1]);
  }

  @Test
  public void mapSideJoinIsReported() throws Exception {
    writeTable("/left", 2);
    writeTable("/right", 3);
    final Path without = join(local());
    final Ran ran = ranLike(without, () -> join(measured()));
    checkBytes(ran);
    assertEquals(500, ran.log.groups());
  }

  private static Path grep(Configuration settings) throws Exception {
    final Tool grep = ReflectionUtils.newInstance(Grep.class, null);
    return run(settings, grep, "/words", "OUTPUT", "w[0-9]*7");
  }

  private static Path join(Configuration settings) throws Exception {
    return run(
        settings,
        new Join(),
        "-r",
        "2",
        "-inFormat",
        org.apache.hadoop.mapreduce.lib.input.SequenceFileInputFormat.class.getName(),
        "-outFormat",
        TextOutputFormat.class.getName(),
        "-outKey",
        IntWritable.class.getName(),
        "-outValue",
        TupleWritable.class.getName(),
        "-joinOp",
        "inner",
        "/left",
        "/right",
        "OUTPUT");
  }

  @Test
  public void aCommandReportsItsJobAndKeepsItsOutput() throws Exception {
    final Path without = run(Jobs.wordCount(local(), true), "/words", 2);
    final Client client =
        new Client(
            FILES.newFolder("client").toPath(), cluster.clientConf(), Cluster.hadoopLibraries());
    final Path output = nextOutput();
    final Client.Ended watched =
        client.watchedExample(
            Arrays.asList("-o", "jsonl"),
            "wordcount",
            "-Dmapreduce.job.reduces=2",
            "-Dmapreduce.input.fileinputformat.split.maxsize=400000",
            "/words",
            output.toString());
    assertEquals(watched.err, 0, watched.exitCode);
    assertSameOutput(without, output);
    assertTrue(watched.err, watched.err.contains("JOB_STATE_RUNNING"));
    assertTrue(watched.err, watched.err.contains("JOB_STATE_SUCCEEDED"));
  }

  @Test
  public void tasksReportForAJobThatDoesNotReport() throws Exception {
    final Configuration plain = new Configuration(conf);
    plain.setInt("two.path.rounds", ROUNDS);
    final Job made = Jobs.twoPath(plain);
    made.setJar(JobJar.of(FILES.newFile(), TwoPath.class));
    final Job job =
        Jobs.prepared((JobConf) made.getConfiguration(), new Path("/edges"), nextOutput(), 2);
    job.submit();
    final Client client =
        new Client(FILES.newFolder().toPath(), cluster.clientConf(), Cluster.hadoopLibraries());
    final File out = FILES.newFile();
    final String web = "http://" + conf.get("yarn.resourcemanager.webapp.address");
    final Process poll = client.startPoll(job.getJobID().toString(), web, out);
    assertTrue("the job failed", job.waitForCompletion(false));
    assertTrue("the poller is still running", poll.waitFor(1, TimeUnit.MINUTES));
    final String output = new String(Files.readAllBytes(out.toPath()), StandardCharsets.UTF_8);
    assertEquals(output, 0, poll.exitValue());
    assertTrue(output, output.contains("the forecast uses only the progress of tasks"));
    assertTrue(output, output.contains("\"name\":\"two path\""));
    assertTrue(output, output.contains("\"remaining\":"));
    assertTrue(output, output.contains("JOB_STATE_SUCCEEDED"));
  }

  /**
   * The certificate of the authority travels with the job, and the token is among the job's
   * credentials.
   */
  @Test
  public void aProtectedMasterReceivesEventsOfTasksAndTheApplicationMaster() throws Exception {
    final Certificates certificates = new Certificates(FILES.newFolder());
    final Certificates.Pair shown = certificates.issue("master", "IP:127.0.0.1", "ec");
    try (Master careful =
        Master.start(
            FILES.newFolder().toPath(),
            "tls.certificate=" + shown.certificate,
            "tls.key=" + shown.key,
            Master.tokens(FILES.newFile(), "job_*", TOKEN))) {
      final Configuration settings = measured();
      settings.set(Keys.MASTER, careful.address);
      settings.set("tmpfiles", "file://" + certificates.authority());
      settings.set(Keys.TLS_CA, certificates.authority().getName());
      Jobs.giveToken(settings, FILES.newFile(), TOKEN);
      run(Jobs.wordCount(settings, true), "/words", 2);
      final EventLog log = EventLog.of(careful, careful.jobs().iterator().next());
      assertEquals(1, log.outcome);
      assertEquals(log.mapTasks, log.mapProfiles.size());
      assertEquals(2, log.reduces.size());
    }
  }

  private static Job faulty(Configuration settings) throws Exception {
    final Job made = FaultyWords.job(settings);
    made.setJar(JobJar.of(FILES.newFile(), FaultyWords.class));
    return made;
  }

  @Test
  public void failedAndSupersededAttemptsDoNotCount() throws Exception {
    final Path without = run(FaultyWords.job(local()), "/words", 2);
    final Configuration measured = measured();
    measured.setInt(FaultyWords.MAP_FAILS, 1);
    measured.setInt(FaultyWords.MAP_HANGS, 0);
    measured.setBoolean("mapreduce.map.speculative", true);
    // The scheduler considers another attempt whenever tasks report their progress.
    measured.setInt("mapreduce.task.progress-report.interval", 300);
    measured.setInt("mapreduce.job.speculative.retry-after-no-speculate", 300);
    final Ran ran = ranLike(without, () -> run(faulty(measured), "/words", 2));
    checkBytes(ran);
    assertTrue(ran.log.attempts.get("m-1.0").containsKey(FAILED));
    assertFalse(ran.log.mapProfiles.containsKey("m-1.0"));
    assertTrue(ran.log.attempts.get("m-0.0").containsKey(KILLED));
    assertTrue(ran.log.attempts.get("m-0.1").containsKey(FINISHED));
    assertEquals(Collections.singleton("m-0.1"), ran.log.speculative);
  }

  /** Returns settings with which the tasks of the job run in the application master. */
  private static Configuration uber() {
    final Configuration uber = measured();
    uber.setBoolean("mapreduce.job.ubertask.enable", true);
    return uber;
  }

  @Test
  public void anUberJobIsReported() throws Exception {
    final Path without = run(Jobs.wordCount(local(), true), "/words", 1);
    final Ran ran = ranLike(without, () -> run(Jobs.wordCount(uber(), true), "/words", 1));
    assertEquals(
        ran.log.mapTasks + 1,
        ran.counters.findCounter(JobCounter.TOTAL_LAUNCHED_UBERTASKS).getValue());
    assertEquals(ran.log.mapBytes(), ran.log.reduceBytes());
  }

  @Test
  public void aFailingUberJobIsReported() throws Exception {
    // The job has no reduce task, since Hadoop starts a reduce task concurrently with the end of
    // the job. If the task is late, Hadoop exits the application master before the job has ended.
    final Configuration uber = uber();
    uber.setInt(FaultyWords.MAP_FAILS, 1);
    final Job job =
        Jobs.prepared(
            (JobConf) faulty(uber).getConfiguration(), new Path("/words"), nextOutput(), 0);
    try {
      assertFalse("the job did not fail", job.waitForCompletion(false));
    } catch (IOException noStatus) {
      // The application master has ended, and the history server does not list the job yet.
    }
    final EventLog log = EventLog.of(master, job.getJobID().toString());
    assertEquals(FAILED_JOB, log.outcome);
    assertTrue(log.attempts.get("m-1.0").containsKey(FAILED));
    assertFalse(log.attempts.get("m-1.0").containsKey(FINISHED));
    assertFalse(log.mapProfiles.containsKey("m-1.0"));
  }

  @Test
  public void aFailedAttemptIsReportedAndOthersKeepTheirTimes() throws Exception {
    final String jar = JobJar.of(FILES.newFile("two-path.jar"), TwoPath.class);
    final Configuration unhurried = local();
    unhurried.setInt("two.path.rounds", ROUNDS);
    final Path without = run(Jobs.twoPath(unhurried), "/edges", 2);
    final Configuration measured = measured();
    measured.setInt("two.path.rounds", ROUNDS);
    measured.setBoolean("two.path.first.attempt.fails", true);
    final Job made = Jobs.twoPath(measured);
    made.setJar(jar);
    final Ran ran = ranLike(without, () -> run(made, "/edges", 2));
    assertTrue(ran.log.attempts.get("r-0.0").containsKey(FAILED));
    checkNames(ran.log, 100);
    long bytes = 0;
    for (String id : new String[] {"r-0.1", "r-1.0"}) {
      final EventLog.Reduce reduce = ran.log.reduces.get(id);
      bytes += reduce.bytes;
      final Map<Integer, Long> states = ran.log.attempts.get(id);
      final double share =
          reduce.nanos / 1e6 / (states.get(FINISHED) - states.get(SHUFFLED));
      System.out.printf("%s: %.1f %% of its reduce phase%n", id, 100 * share);
      // On an idle machine, the share is nearly 1. The duration of the commit is not tested.
      assertTrue(id + ": " + share, share > 0.5 && share <= 1);
    }
    assertEquals(ran.log.mapBytes(), bytes);
  }
}
