package org.tidemark.spark;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.tidemark.jvm.support.Master;
import org.tidemark.spark.jobs.Busy;
import org.tidemark.spark.jobs.Starved;
import org.tidemark.spark.support.EventLog;
import org.tidemark.spark.support.Spark;
import org.tidemark.spark.support.SparkLog;

/** Compares reported waits of tasks in real applications with the tasks' own measurements. */
public class WaitsIT {
  @ClassRule public static final TemporaryFolder FOLDER = new TemporaryFolder();

  private static final int TWO_ON_A_CORE = 2 * Runtime.getRuntime().availableProcessors();

  private static Spark spark;

  @BeforeClass
  public static void findSpark() throws Exception {
    spark = new Spark(FOLDER.newFolder().toPath());
  }

  private static Spark.Ended run(
      Master master, Class<?> job, int slots, List<String> options, int... arguments)
      throws Exception {
    options.addAll(Arrays.asList("--conf", Settings.MASTER + "=" + master.address));
    final Spark.Ended ended = spark.job(job, "local[" + slots + "]", options, arguments);
    assertEquals(ended.err, 0, ended.exitCode);
    return ended;
  }

  private static EventLog logOf(Master master, Spark.Ended ended) throws Exception {
    return EventLog.of(master, ended.output("APPLICATION").get(0));
  }

  @Test
  public void processorTimeAndWaitCoverTheTimeOfAComputingTask()
      throws Exception {
    try (Master master = Master.start(FOLDER.newFolder().toPath())) {
      final Spark.Ended ended =
          run(
              master,
              Busy.class,
              TWO_ON_A_CORE,
              Spark.reporting(Spark.jar()),
              TWO_ON_A_CORE,
              4_000);
      final EventLog log = logOf(master, ended);
      assertEquals(TWO_ON_A_CORE, ended.output("MICROS").size());
      long allWaited = 0;
      long all = 0;
      for (String line : ended.output("MICROS")) {
        final String attempt = "0.0." + line.split(" ")[0] + ".0";
        final long micros = Long.parseLong(line.split(" ")[1]);
        final long waited = log.processorWaitMicros.get(attempt);
        assertEquals(line, micros, log.cpuMicros.get(attempt) + waited, 0.05 * micros);
        allWaited += waited;
        all += micros;
      }
      assertTrue(allWaited + " of " + all, allWaited > all / 4);
    }
  }

  @Test
  public void theWaitForMemoryEndsWithItsRelease() throws Exception {
    try (Master master = Master.start(FOLDER.newFolder().toPath())) {
      final Spark.Ended ended =
          run(master, Starved.class, 2, Spark.reporting(Spark.jar()), 4_300);
      final EventLog log = logOf(master, ended);
      final long micros = Long.parseLong(ended.output("MICROS").get(0));
      assertTrue(ended.out, micros > 4_000_000);
      assertEquals(micros, log.memoryWaitMicros.get("0.0.1.0"), 0.1 * micros);
      assertEquals("it had it", 0, log.memoryWaitMicros.get("0.0.0.0"), 0.1 * micros);
    }
  }

  @Test
  public void theWaitForInputExcludesTheTimeToDecodeIt() throws Exception {
    try (Master master = Master.start(FOLDER.newFolder().toPath())) {
      final List<String> options = Spark.reporting(Spark.jar() + "," + spark.jobsJar());
      options.addAll(Arrays.asList("--conf", Settings.MASTER + "=" + master.address));
      final Spark.Ended ended =
          spark.python("local[1]", options, "slow_scan.py", FOLDER.getRoot() + "/table");
      assertEquals(ended.err, 0, ended.exitCode);
      final long slept = Long.parseLong(ended.output("MICROS").get(0));
      assertTrue(ended.out, slept > 500_000);
      final EventLog log = logOf(master, ended);
      final long waited = Collections.max(log.scanWaitMicros.values());
      assertEquals(slept, waited, 0.1 * slept);
    }
  }

  @Test
  public void theWaitForTheSchedulerEqualsThatOfSparksLog() throws Exception {
    final File events = FOLDER.newFolder();
    try (Master master = Master.start(FOLDER.newFolder().toPath())) {
      final EventLog log =
          logOf(master, run(master, Busy.class, 2, Spark.logging(events), 6, 300));
      assertEquals(6, log.schedulerWaits().size());
      assertEquals(SparkLog.of(events).schedulerWaits(), log.schedulerWaits());
      assertTrue("two waves went before", Collections.max(log.schedulerWaits().values()) > 600);
    }
  }
}
