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
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobCounter;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.tidemark.hadoop.jobs.FaultyWords;
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
 * Tests jobs on a real cluster whose daemons do not have the connector. Compares the output with
 * that of the same job in local mode without the connector.
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

  private static final int PAUSE_MILLIS = 500;

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
    // A second attempt at a slow task would be correct, but the checks below do not expect it.
    conf.setBoolean("mapreduce.map.speculative", false);
    conf.setBoolean("mapreduce.reduce.speculative", false);
    // Sufficient to read the map output again under any load.
    conf.setLong(Keys.SCAN_MIN_MILLIS, 60_000);
    conf.setLong(Keys.SCAN_MAX_MILLIS, 60_000);
    write("/words", Inputs.words(12_000, 10));
    write("/edges", Inputs.edges(60_000, 3_000));
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

  private static Path run(Job made, String input, int reduces) throws Exception {
    final Path output = nextOutput();
    final Job job =
        Jobs.prepared((JobConf) made.getConfiguration(), new Path(input), output, reduces);
    assertTrue("the job failed", job.waitForCompletion(false));
    return output;
  }

  private static void assertSameOutput(Path without, Path with) throws IOException {
    final byte[] expected = Jobs.output(conf, without);
    assertTrue("nothing to compare", expected.length > 100);
    assertArrayEquals(expected, Jobs.output(conf, with));
  }

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

  /**
   * Runs one job on the cluster. Checks that its output equals that of a run without the connector,
   * and the properties of every job.
   */
  private static Ran ranLike(Path without, Callable<Path> run) throws Exception {
    final Set<String> before = master.jobs();
    assertSameOutput(without, run.call());
    final Set<String> ids = master.jobs();
    ids.removeAll(before);
    assertEquals(1, ids.size());
    final Ran ran = new Ran(ids.iterator().next());
    assertEquals(1, ran.log.outcome);
    assertEquals(0, ran.log.refused);
    checkLives(ran.log);
    assertEquals(ran.log.mapTasks, ran.log.mapProfiles.size());
    assertEquals(ran.count(TaskCounter.REDUCE_INPUT_GROUPS), ran.log.groups());
    return ran;
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
   * Checks that map and reduce tasks of a job without a combiner report the same bytes, in total
   * and for each named heavy key.
   */
  private static void checkBytes(Ran ran) {
    assertEquals(ran.count(TaskCounter.MAP_OUTPUT_BYTES), ran.log.mapBytes());
    assertEquals(ran.log.mapBytes(), ran.log.reduceBytes());
  }

  /**
   * Checks that every attempt reports the times of its process. They resemble Hadoop's counters,
   * which are read at other times and do not include the start of the JVM.
   */
  private static void checkTimes(Ran ran) {
    assertEquals(ran.log.attempts.keySet(), ran.log.cpuMicros.keySet());
    assertEquals(ran.log.attempts.keySet(), ran.log.tellWaits);
    assertFalse("no report before a read", ran.log.tellStarts.isEmpty());
    final double reported = ran.log.cpuMicros.values().stream().mapToLong(Long::longValue).sum() / 1e3;
    final double ratio = reported / ran.count(TaskCounter.CPU_MILLISECONDS);
    assertTrue("ratio " + ratio, ratio > 0.5 && ratio < 50);
  }

  /** Checks that keys that all map tasks name have the sizes that the reduce tasks measured. */
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
    final File gate = new File(FILES.getRoot(), "gate");
    plain.set(TwoPath.GATE, gate.getPath());
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
    while (poll.isAlive() && !text(out).contains("\"remaining\":")) {
      Thread.sleep(100);
    }
    assertTrue(gate.createNewFile());
    assertTrue("the job failed", job.waitForCompletion(false));
    poll.waitFor();
    final String output = text(out);
    assertEquals(output, 0, poll.exitValue());
    assertTrue(output, output.contains("the forecast uses only the progress of tasks"));
    assertTrue(output, output.contains("\"name\":\"two path\""));
    assertTrue(output, output.contains("\"remaining\":"));
    assertTrue(output, output.contains("JOB_STATE_SUCCEEDED"));
  }

  private static String text(File file) throws IOException {
    return new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8);
  }

  /**
   * The certificate of the authority is sent with the job, and the token is among the job's
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
    // The scheduler considers another attempt only when tasks report their progress.
    measured.setInt("mapreduce.task.progress-report.interval", 300);
    measured.setInt("mapreduce.job.speculative.retry-after-no-speculate", 300);
    final Ran ran = ranLike(without, () -> run(faulty(measured), "/words", 2));
    checkBytes(ran);
    assertTrue(ran.log.attempts.get("m-1.0").containsKey(FAILED));
    assertFalse(ran.log.mapProfiles.containsKey("m-1.0"));
    assertTrue(ran.log.attempts.get("m-0.0").containsKey(KILLED));
    assertTrue(ran.log.attempts.get("m-0.1").containsKey(FINISHED));
    // A slow machine may cause further ones.
    assertTrue(ran.log.speculative.toString(), ran.log.speculative.contains("m-0.1"));
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
    // The job has no reduce task, since Hadoop would start it while the job ends. If the task were
    // late, Hadoop would exit the application master before the job has ended.
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
    final Path without = run(Jobs.twoPath(local()), "/edges", 2);
    final Configuration measured = measured();
    measured.setInt(TwoPath.PAUSE_MILLIS, PAUSE_MILLIS);
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
      final double millis = reduce.nanos / 1e6;
      assertTrue(id + ": " + millis, millis >= PAUSE_MILLIS);
      // The states have whole milliseconds.
      assertTrue(id + ": " + millis, millis <= states.get(FINISHED) - states.get(SHUFFLED) + 1);
    }
    assertEquals(ran.log.mapBytes(), bytes);
  }
}
