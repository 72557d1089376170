package org.tidemark.spark;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.tidemark.jvm.support.Master;
import org.tidemark.jvm.support.FaultyMaster;
import org.tidemark.spark.jobs.Groups;
import org.tidemark.spark.jobs.Lost;
import org.tidemark.spark.support.EventLog;
import org.tidemark.spark.support.Spark;

public class SparkIT {
  @ClassRule public static final TemporaryFolder FOLDER = new TemporaryFolder();

  private static final String LOCAL = "local[2,4]";
  private static final String CLUSTER = "local-cluster[2,1,512]";

  /** The tasks that group values. */
  private static final Set<String> REDUCES = Set.of("1.0.0.0", "1.0.1.0", "1.0.2.0", "1.0.3.0");

  /** A state of attempts. */
  private static final int KILLED = 6;

  private static Spark spark;
  private static String expected;

  @BeforeClass
  public static void runWithout() throws Exception {
    spark = new Spark(FOLDER.newFolder().toPath());
    final Spark.Ended plain = spark.work(LOCAL, Collections.emptyList(), "none");
    assertEquals(plain.err, 0, plain.exitCode);
    expected = plain.output("RESULT").get(0).substring(2);
  }

  private static void check(Spark.Ended ended, int contexts) {
    assertEquals(ended.err, 0, ended.exitCode);
    assertEquals(contexts, ended.output("RESULT").size());
    for (int i = 0; i < contexts; ++i) {
      assertEquals(i + " " + expected, ended.output("RESULT").get(i));
      assertEquals("of the connector's threads", i + " 0", ended.output("THREADS").get(i));
      assertEquals("of its connections", i + " 0", ended.output("SOCKETS").get(i));
    }
  }

  private static long logged(File events, String kind) throws Exception {
    try (Stream<Path> files = Files.walk(events.toPath())) {
      long count = 0;
      for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
        try (Stream<String> lines = Files.lines(file, StandardCharsets.UTF_8)) {
          count += lines.filter(line -> line.contains("\"SparkListener" + kind + "\"")).count();
        }
      }
      return count;
    }
  }

  /** Returns the log of a master that reads Spark's own logs from a folder, without a connector. */
  private static EventLog readFrom(File events, String application) throws Exception {
    try (Stream<Path> files = Files.walk(events.toPath())) {
      for (Path file : files.collect(Collectors.toList())) {
        // A master reads the logs of running applications.
        final String name = file.getFileName().toString();
        if (name.equals(application) || name.equals("appstatus_" + application)) {
          Files.move(file, file.resolveSibling(name + ".inprogress"));
        }
      }
    }
    try (Master reader =
        Master.start(FOLDER.newFolder().toPath(), "spark_logs=" + events)) {
      return EventLog.of(reader, application);
    }
  }

  private static Map<Long, String> signatures(EventLog log) {
    final Map<Long, String> signatures = new TreeMap<>();
    log.stages.forEach((number, stage) -> signatures.put(number, stage.signature));
    return signatures;
  }

  @Test
  public void eventsOfALocalApplicationAgreeWithItsLog() throws Exception {
    final File events = FOLDER.newFolder();
    final List<String> options = Spark.logging(events);
    options.addAll(Arrays.asList("--conf", Settings.PARAMETER_PREFIX + "k=80"));
    try (Master master = Master.start(FOLDER.newFolder().toPath())) {
      final Spark.Ended ended = spark.work(LOCAL, options, master.address);
      check(ended, 1);
      final EventLog log = EventLog.of(master, ended.output("APPLICATION").get(0).substring(2));
      assertEquals(1, log.outcome);
      assertEquals(0, log.refused);
      assertEquals("spark", log.engine);
      assertEquals(Collections.singletonMap("k", "80"), log.parameters);
      assertEquals(Set.of("driver", "executor"), log.sources);
      assertEquals(1, log.executors);
      assertEquals(logged(events, "TaskStart"), log.attempts.size());
      assertEquals(logged(events, "TaskEnd"), log.finished() + 1);  // One attempt failed.
      assertEquals(
          logged(events, "StageSubmitted"), log.stages.size() - log.skipped().size());
      assertEquals("groupByKey's output was there for count()", Set.of(2L), log.skipped());
      assertEquals(Set.of(0L), log.stages.get(1L).parents);
      assertEquals(4, log.stages.get(1L).taskBytes.length);
      assertEquals(6, log.stages.get(0L).tasks);
      assertTrue(
          "take() wants some partitions of 10",
          log.stages.values().stream().anyMatch(s -> s.indexes == 10 && s.tasks < 10));
      assertEquals(logged(events, "StageCompleted"), log.closedStages.size());
      assertEquals(Set.of(1), new HashSet<>(log.closedStages.values()));
      assertEquals(logged(events, "JobEnd"), log.closedGroups.size());
      assertEquals(log.groupNames.keySet(), log.closedGroups.keySet());
      assertTrue(log.groupNames.toString(), log.groupNames.get("job/0").startsWith("reduce at"));
      assertTrue(
          "groups are made of all that is read",
          log.readFirst.containsAll(REDUCES));
      // Every task that ended reported its time.
      assertEquals(log.attempts.keySet(), log.cpuMicros.keySet());
      assertEquals(
          log.stages.size(), log.stages.values().stream().map(s -> s.signature).distinct().count());
      final EventLog read = readFrom(events, ended.output("APPLICATION").get(0).substring(2));
      assertEquals(signatures(log), signatures(read));
    }
  }

  @Test
  public void contextsMayFollowEachOtherForAnyMaster() throws Exception {
    try (Master master = Master.start(FOLDER.newFolder().toPath());
        FaultyMaster silent = FaultyMaster.with((in, out) -> Thread.sleep(600_000));
        FaultyMaster garbage =
            FaultyMaster.with(
                (in, out) -> {
                  while (in.read() >= 0) {
                    out.write(new byte[] {7, 0, 77, 1, 2, 3, 4, 5, 6, 0, 0, 0});
                    out.flush();
                  }
                });
        FaultyMaster full = FaultyMaster.full()) {
      final String[] masters = {
        master.address,
        FaultyMaster.absent(),
        silent.address,
        garbage.address,
        full.address,
        "no address",
        master.address
      };
      final Spark.Ended ended =
          spark.work(LOCAL, Spark.reporting(Spark.jar()), masters);
      check(ended, masters.length);
      assertEquals(2, master.jobs().size());
      for (String job : master.jobs()) {
        assertEquals(1, EventLog.of(master, job).outcome);
      }
      for (String line :
          Arrays.asList("cannot be reached", "gave no proper answer", "is not HOST:PORT")) {
        assertTrue(line + ": " + ended.err, ended.err.contains(line));
      }
    }
  }

  @Test
  public void executorsInSeparateProcessesReport() throws Exception {
    try (Master master = Master.start(FOLDER.newFolder().toPath())) {
      final Spark.Ended ended =
          spark.work(CLUSTER, Spark.reporting(Spark.jar()), master.address);
      check(ended, 1);
      final EventLog log = EventLog.of(master, ended.output("APPLICATION").get(0).substring(2));
      assertEquals(1, log.outcome);
      assertEquals(0, log.refused);
      assertEquals(2, log.executors);
      assertEquals(log.attempts.keySet(), log.cpuMicros.keySet());
    }
  }

  @Test
  public void keyGroupsOfAnRddsShuffleAreCountedAndNamed() throws Exception {
    final int keys = 400;
    final Spark.Ended plain =
        spark.job(Groups.class, LOCAL, Collections.emptyList(), keys, 2_000, 10);
    for (String cluster : Arrays.asList(LOCAL, CLUSTER)) {
      try (Master master = Master.start(FOLDER.newFolder().toPath())) {
        final List<String> options = Spark.reporting(Spark.jar());
        options.addAll(Arrays.asList("--conf", Settings.MASTER + "=" + master.address));
        options.addAll(Arrays.asList("--conf", Settings.KEYS + "=true"));
        final Spark.Ended ended = spark.job(Groups.class, cluster, options, keys, 2_000, 10);
        assertEquals(ended.err, 0, ended.exitCode);
        assertEquals(plain.output("RESULT"), ended.output("RESULT"));
        final EventLog log = EventLog.of(master, ended.output("APPLICATION").get(0));
        assertEquals(1, log.outcome);
        assertEquals(0, log.refused);
        assertEquals(keys, log.groups.values().stream().mapToLong(n -> n).sum());
        assertEquals("of all its records groups are made", REDUCES, log.readFirst);
        assertTrue(log.heavyKeys.contains(KeyNames.of("key 0")));
        assertTrue(log.doneKeys.contains(KeyNames.of("key 0")));
        final long reduced = log.reduceBytes.values().stream().mapToLong(n -> n).sum();
        assertEquals("but for rounding", log.mapBytes, reduced, keys);
      }
    }
  }

  @Test
  public void inputSizesOfAJoinAreKnownBeforeItsTasks() throws Exception {
    try (Master master = Master.start(FOLDER.newFolder().toPath())) {
      final File events = FOLDER.newFolder();
      final List<String> options = Spark.logging(events);
      options.addAll(Arrays.asList("--conf", Settings.MASTER + "=" + master.address));
      final Spark.Ended ended =
          spark.python(LOCAL, options, "skew_join.py", "24", "true", "false");
      assertEquals(ended.err, 0, ended.exitCode);
      assertEquals(2, ended.output("RESULT").size());
      assertEquals(1, ended.output("RESULT").stream().distinct().count());
      final EventLog log = EventLog.of(master, ended.output("APPLICATION").get(0));
      assertEquals(0, log.refused);
      int joins = 0;
      for (Map.Entry<Long, EventLog.Stage> entry : log.stages.entrySet()) {
        final EventLog.Stage stage = entry.getValue();
        assertTrue(stage.group, stage.group.startsWith("sql/"));
        if (stage.skipped || stage.parents.size() < 2) {
          continue;
        }
        ++joins;
        // For very small inputs, Spark's rounding is coarser.
        assertTrue(log.worstSize(entry.getKey(), 100) < 0.1);
        for (int i = 0; i < stage.tasks; ++i) {
          final double records = log.inputRecords.get(entry.getKey() + "." + i);
          // The records are computed from the mean record size of the shuffle, and records of the
          // heavy key are smaller.
          assertEquals("task " + i, records, stage.taskRecords[i], 0.6 * records + 100);
          assertTrue("it sorts", log.readFirst.contains(entry.getKey() + ".0." + i + ".0"));
        }
      }
      assertEquals(2, joins);
      assertEquals(log.groupNames.keySet(), log.closedGroups.keySet());
      assertEquals(Set.of(1), new HashSet<>(log.closedGroups.values()));
      assertTrue(log.groupNames.toString(), log.groupNames.get("sql/0").startsWith("collect at"));
      assertEquals(
          signatures(log), signatures(readFrom(events, ended.output("APPLICATION").get(0))));
    }
  }

  @Test
  public void aDyingExecutorDoesNotFailTheApplication() throws Exception {
    final Spark.Ended plain = spark.job(Lost.class, CLUSTER, Collections.emptyList());
    try (Master master = Master.start(FOLDER.newFolder().toPath())) {
      final List<String> options = Spark.reporting(Spark.jar());
      options.addAll(Arrays.asList("--conf", Settings.MASTER + "=" + master.address));
      final Spark.Ended ended = spark.job(Lost.class, CLUSTER, options);
      assertEquals(ended.err, 0, ended.exitCode);
      assertEquals(plain.output("RESULT"), ended.output("RESULT"));
      final EventLog log = EventLog.of(master, ended.output("APPLICATION").get(0));
      assertEquals(1, log.outcome);
      assertEquals(0, log.refused);
      // The replacement may register after all tasks have ended on the other executor.
      assertTrue(log.executors >= 2);
      assertTrue(log.closedExecutors >= 1);
      assertEquals("it was lost, and no fault of the task's", KILLED, log.stateOf("1.0.0.0"));
      assertTrue("a stage is tried again", log.stages.values().stream().anyMatch(s -> s.attempt > 0));
    }
  }

  @Test
  public void bothConnectorsMayWorkInOneProcess() throws Exception {
    final File hadoop = new File(System.getProperty("tidemark.hadoop.jar", ""));
    assumeTrue("there is no " + hadoop, hadoop.exists());
    final File input = FOLDER.newFile();
    Files.write(input.toPath(), "one\ntwo\nthree\n".getBytes(StandardCharsets.UTF_8));
    try (Master master = Master.start(FOLDER.newFolder().toPath())) {
      final List<String> options = Spark.reporting(Spark.jar());
      options.addAll(Arrays.asList("--driver-class-path", hadoop.getPath()));
      options.addAll(Arrays.asList("--conf", Settings.MASTER + "=" + master.address));
      final Spark.Ended ended =
          spark.python(
              LOCAL,
              options,
              "both.py",
              input.getPath(),
              FOLDER.getRoot() + "/both",
              master.address);
      assertEquals(ended.err, 0, ended.exitCode);
      assertEquals(Arrays.asList("3"), ended.output("RESULT"));
      assertEquals(Arrays.asList("0"), ended.output("THREADS"));
      final String job = ended.output("MAPREDUCE").get(0);
      assertTrue(job, job.endsWith(" True"));
      assertEquals(1, EventLog.of(master, job.split(" ")[0]).outcome);
      assertEquals(1, EventLog.of(master, ended.output("APPLICATION").get(0)).outcome);
    }
  }

  @Test
  public void anInterruptedApplicationReportsItsInterruption() throws Exception {
    try (Master master = Master.start(FOLDER.newFolder().toPath())) {
      final List<String> options = Spark.reporting(Spark.jar());
      options.addAll(Arrays.asList("--conf", Settings.MASTER + "=" + master.address));
      final Spark.Ended ended = spark.interrupted(LOCAL, options);
      final EventLog log = EventLog.of(master, ended.output("APPLICATION").get(0));
      assertEquals("killed", 3, log.outcome);
    }
  }

  @Test
  public void aCommandReportsItsJobAndKeepsItsResult() throws Exception {
    final Spark.Ended alone = spark.watchedWork(LOCAL, Arrays.asList("-o", "jsonl"));
    check(alone, 1);
    final String application = alone.output("APPLICATION").get(0).substring(2);
    assertTrue(alone.err, alone.err.contains(application));
    assertTrue(alone.err, alone.err.contains("JOB_STATE_SUCCEEDED"));
    try (Master master = Master.start(FOLDER.newFolder().toPath())) {
      final Spark.Ended other =
          spark.watchedWork(LOCAL, Arrays.asList("-o", "jsonl", "--master", master.address));
      check(other, 1);
      assertTrue(other.err, other.err.contains("JOB_STATE_SUCCEEDED"));
      assertEquals(1, master.jobs().size());
    }
  }

  @Test
  public void anAbsentMasterDoesNotDelayExecutors() throws Exception {
    check(spark.work(CLUSTER, Spark.reporting(Spark.jar()), FaultyMaster.absent()), 1);
  }

  @Test
  public void aMissingClassDisablesTheConnector() throws Exception {
    for (String gone : Arrays.asList("Events", "TaskWatch", "Guard", "ApplicationListener")) {
      final String broken = spark.jarWithout(gone);
      check(spark.work(LOCAL, Spark.reporting(broken), FaultyMaster.absent()), 1);
    }
  }
}
