package org.tidemark.hadoop;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.Job;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.FixMethodOrder;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.junit.runners.MethodSorters;
import org.tidemark.hadoop.support.Cluster;
import org.tidemark.hadoop.support.EventLog;
import org.tidemark.hadoop.support.Inputs;
import org.tidemark.hadoop.support.Jobs;
import org.tidemark.jvm.support.FarMachine;
import org.tidemark.jvm.support.Master;
import org.tidemark.jvm.support.FaultyMaster;

/**
 * Tests that faults of the master, the application master or a node do not change the output of a
 * job. Durations are printed but not checked, since they depend on other load.
 */
@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class YarnFaultsIT {
  @ClassRule public static final TemporaryFolder FILES = new TemporaryFolder();

  private static final int OBSOLETE = 7;
  private static final int KILLED = 6;

  private static Cluster cluster;
  private static Configuration conf;
  private static int outputs;
  private static byte[] expected;

  @BeforeClass
  public static void start() throws Exception {
    cluster = Cluster.start(FILES.newFolder("cluster"));
    conf = cluster.conf();
    conf.setLong("mapreduce.input.fileinputformat.split.maxsize", 400_000);
    // Hadoop's default timeouts for a lost node take minutes.
    conf.setInt("mapreduce.job.reducer.unconditional-preempt.delay.sec", 5);
    conf.setInt("yarn.client.nodemanager-connect.max-wait-ms", 5_000);
    conf.setInt("mapreduce.reduce.shuffle.connect.timeout", 5_000);
    conf.setBoolean("mapreduce.map.speculative", false);
    conf.setBoolean("mapreduce.reduce.speculative", false);
    final Path words = new Path("/words");
    try (FSDataOutputStream out = words.getFileSystem(conf).create(words)) {
      out.write(Inputs.words(24_000, 10).getBytes(StandardCharsets.UTF_8));
    }
    run("warm up", conf);
    expected = run("without the connector", conf);
  }

  @AfterClass
  public static void stop() throws Exception {
    if (cluster != null) {
      cluster.close();
    }
  }

  /** A fault that occurs while the job runs. */
  private interface Fault {
    void strike(Job job) throws Exception;
  }

  private static byte[] run(String what, Configuration settings) throws Exception {
    return run(what, settings, job -> {});
  }

  private static byte[] run(String what, Configuration settings, Fault fault) throws Exception {
    final Path output = new Path("/out" + ++outputs);
    final JobConf made = (JobConf) Jobs.wordCount(settings, false).getConfiguration();
    final Job job = Jobs.prepared(made, new Path("/words"), output, 2);
    final long begin = System.nanoTime();
    job.submit();
    fault.strike(job);
    assertTrue(what + ": the job failed", job.waitForCompletion(false));
    System.out.printf("%s: %.1f s%n", what, (System.nanoTime() - begin) / 1e9);
    return Jobs.output(conf, output);
  }

  private static Configuration measured(String master) {
    final Configuration measured = Jobs.measured(conf, master);
    measured.set("tmpjars", "file://" + System.getProperty("tidemark.jar"));
    return measured;
  }

  private static void check(String what, String master) throws Exception {
    assertArrayEquals(expected, run(what, measured(master)));
  }

  @Test
  public void aPresentMasterDoesNotDelayTheJob() throws Exception {
    try (Master master = Master.start(FILES.newFolder().toPath())) {
      check("a master that is there", master.address);
    }
  }

  @Test
  public void anAbsentMasterDoesNotDelayTheJob() throws Exception {
    check("absent", FaultyMaster.absent());
  }

  @Test
  public void aMasterBehindABlackHole() throws Exception {
    try (FarMachine far = FarMachine.start()) {
      far.fallSilent();
      check("black-holed", far.address + ":7411");
    }
  }

  @Test
  public void aFullMasterDoesNotDelayTheJob() throws Exception {
    try (FaultyMaster full = FaultyMaster.full()) {
      check("full", full.address);
    }
  }

  @Test
  public void aTemporarilySilentMasterReceivesAllEvents() throws Exception {
    try (FarMachine far = FarMachine.start();
        Master master = Master.start(far, FILES.newFolder().toPath())) {
      final byte[] output =
          run(
              "silent for five seconds",
              measured(master.address),
              job -> {
                awaitMaps(job);
                assertFalse("it never heard of the job", master.jobs().isEmpty());
                far.fallSilent();
                Thread.sleep(5_000);
                far.speak();
              });
      assertArrayEquals(expected, output);
      final EventLog log = EventLog.of(master, master.jobs().iterator().next());
      assertEquals("it heard how the job ended", 1, log.outcome);
    }
  }

  @Test
  public void aSilentMasterDoesNotDelayTheJob() throws Exception {
    try (FarMachine far = FarMachine.start();
        Master master = Master.start(far, FILES.newFolder().toPath())) {
      final byte[] output =
          run(
              "silent for good",
              measured(master.address),
              job -> {
                awaitMaps(job);
                far.fallSilent();
              });
      assertArrayEquals(expected, output);
    }
  }

  @Test
  public void aRejectedTokenDoesNotDelayTheJob() throws Exception {
    final File tokens = FILES.newFile();
    Files.write(tokens.toPath(), "agent * 2f0d6b1c9e8a47d3".getBytes(StandardCharsets.US_ASCII));
    try (Master master = Master.start(FILES.newFolder().toPath(), "tokens=" + tokens)) {
      final Configuration wrong = measured(master.address);
      Jobs.giveToken(wrong, FILES.newFile(), "not-the-master's-token");
      assertArrayEquals(expected, run("wrong token", wrong));
      assertEquals(Collections.emptySet(), master.jobs());
    }
  }

  @Test
  public void aSlowlyReadingMasterDoesNotDelayTheJob() throws Exception {
    try (FaultyMaster slow =
        FaultyMaster.with(
            (in, out) -> {
              while (in.read() >= 0) {
                Thread.sleep(1_000);
              }
            })) {
      check("slow", slow.address);
    }
  }

  @Test
  public void invalidResponsesDoNotDelayTheJob() throws Exception {
    final byte[] garbage = "HTTP/1.1 400 Bad Request\r\n\r\n{}{}{}{}".getBytes("US-ASCII");
    try (FaultyMaster odd = FaultyMaster.with((in, out) -> out.write(garbage))) {
      check("garbage", odd.address);
    }
  }

  @Test
  public void aMasterMayBeKilledDuringTheJob() throws Exception {
    final Master master = Master.start(FILES.newFolder().toPath());
    final byte[] output =
        run(
            "master killed",
            measured(master.address),
            job -> {
              awaitMaps(job);
              assertFalse("it never heard of the job", master.jobs().isEmpty());
              master.kill();
            });
    assertArrayEquals(expected, output);
  }

  @Test
  public void aNewApplicationMasterResumesAfterAKilledOne() throws Exception {
    try (Master master = Master.start(FILES.newFolder().toPath())) {
      final byte[] output =
          run(
              "application master killed",
              measured(master.address),
              job -> {
                awaitMaps(job);
                assertTrue(kill(masters(job)) > 0);
              });
      assertArrayEquals(expected, output);
      final EventLog log = EventLog.of(master, master.jobs().iterator().next());
      assertEquals("the second one told how it ended", 1, log.outcome);
    }
  }

  /** The last test, since the node does not return. */
  @Test
  public void zLastALostNodeIsReported() throws Exception {
    try (Master master = Master.start(FILES.newFolder().toPath())) {
      final byte[] output =
          run(
              "node lost",
              measured(master.address),
              job -> {
                awaitMaps(job);
                // The application master must survive, the tasks on the other node must not.
                final String line = masters(job).get(0).info().commandLine().orElse("");
                final String lost =
                    line.contains("/nodemanager1/") ? "nodemanager2" : "nodemanager1";
                cluster.daemon(lost).destroyForcibly();
                kill(cluster.containers("/" + lost + "/"));
              });
      assertArrayEquals(expected, output);
      final EventLog log = EventLog.of(master, master.jobs().iterator().next());
      assertEquals(1, log.outcome);
      final long lost =
          log.attempts.values().stream()
              .map(states -> states.keySet())
              .filter(states -> states.contains(KILLED) || states.contains(OBSOLETE))
              .count();
      assertTrue("attempts that were lost with it: " + lost, lost > 0);
    }
  }

  private static List<ProcessHandle> masters(Job job) {
    final String application = job.getJobID().toString().replace("job", "application");
    return cluster.containers("MRAppMaster").stream()
        .filter(process -> process.info().commandLine().orElse("").contains(application))
        .collect(Collectors.toList());
  }

  private static int kill(Collection<ProcessHandle> processes) {
    processes.forEach(ProcessHandle::destroyForcibly);
    return processes.size();
  }

  /** Waits until a map task has ended and the job has not. */
  private static void awaitMaps(Job job) throws Exception {
    final long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
    while (job.mapProgress() <= 0.2 && !job.isComplete()) {
      assertTrue("no map task ends", System.nanoTime() < deadline);
      Thread.sleep(50);
    }
    assertFalse("the job was over too soon", job.isComplete());
  }
}
