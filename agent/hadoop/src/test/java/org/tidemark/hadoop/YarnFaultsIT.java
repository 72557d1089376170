package org.tidemark.hadoop;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Collection;
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
import org.junit.FixMethodOrder;
import org.junit.Test;
import org.junit.runners.MethodSorters;
import org.tidemark.hadoop.support.Cluster;
import org.tidemark.hadoop.support.EventLog;
import org.tidemark.hadoop.support.Inputs;
import org.tidemark.hadoop.support.Jobs;
import org.tidemark.jvm.support.FarMachine;
import org.tidemark.jvm.support.Master;

/**
 * Tests that faults of the master, the application master or a node do not change the output of a
 * job. Durations are printed but not checked, since they depend on other load.
 */
@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class YarnFaultsIT extends MasterFaults {
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

  @Override
  void check(String what, String master, Configuration further) throws Exception {
    final Configuration measured = measured(master);
    further.forEach(setting -> measured.set(setting.getKey(), setting.getValue()));
    assertArrayEquals(expected, run(what, measured));
  }

  private static void check(String what, String master, Fault fault) throws Exception {
    assertArrayEquals(expected, run(what, measured(master), fault));
  }

  /** Returns the log of the only job, which must have succeeded. */
  private static EventLog succeeded(Master master) throws Exception {
    final EventLog log = EventLog.of(master, master.jobs().iterator().next());
    assertEquals("the reported outcome", 1, log.outcome);
    return log;
  }

  @Test
  public void aTemporarilySilentMasterReceivesAllEvents() throws Exception {
    try (FarMachine far = FarMachine.start();
        Master master = Master.start(far, FILES.newFolder().toPath())) {
      check(
          "silent for five seconds",
          master.address,
          job -> {
            awaitMaps(job);
            assertFalse("it never heard of the job", master.jobs().isEmpty());
            far.fallSilent();
            Thread.sleep(5_000);
            far.speak();
          });
      succeeded(master);
    }
  }

  @Test
  public void aSilentMasterDoesNotDelayTheJob() throws Exception {
    try (FarMachine far = FarMachine.start();
        Master master = Master.start(far, FILES.newFolder().toPath())) {
      check(
          "silent for good",
          master.address,
          job -> {
            awaitMaps(job);
            far.fallSilent();
          });
    }
  }

  @Test
  public void aMasterMayBeKilledDuringTheJob() throws Exception {
    final Master master = Master.start(FILES.newFolder().toPath());
    check(
        "master killed",
        master.address,
        job -> {
          awaitMaps(job);
          assertFalse("it never heard of the job", master.jobs().isEmpty());
          master.kill();
        });
  }

  @Test
  public void aNewApplicationMasterResumesAfterAKilledOne() throws Exception {
    try (Master master = Master.start(FILES.newFolder().toPath())) {
      check(
          "application master killed",
          master.address,
          job -> {
            awaitMaps(job);
            assertTrue(kill(masters(job)) > 0);
          });
      succeeded(master);
    }
  }

  /** Must be the last test, since the node does not return. */
  @Test
  public void zLastALostNodeIsReported() throws Exception {
    try (Master master = Master.start(FILES.newFolder().toPath())) {
      check(
          "node lost",
          master.address,
          job -> {
            awaitMaps(job);
            // The application master must survive, but the tasks on the other node must not.
            final String line = masters(job).get(0).info().commandLine().orElse("");
            final String lost = line.contains("/nodemanager1/") ? "nodemanager2" : "nodemanager1";
            cluster.daemon(lost).destroyForcibly();
            kill(cluster.containers("/" + lost + "/"));
          });
      final long lost =
          succeeded(master).attempts.values().stream()
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

  /** Waits until a map task has ended while the job is still running. */
  private static void awaitMaps(Job job) throws Exception {
    final long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
    while (job.mapProgress() <= 0.2 && !job.isComplete()) {
      assertTrue("no map task ends", System.nanoTime() < deadline);
      Thread.sleep(50);
    }
    assertFalse("the job was over too soon", job.isComplete());
  }
}
