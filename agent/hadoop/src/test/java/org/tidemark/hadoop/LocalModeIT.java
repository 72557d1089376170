package org.tidemark.hadoop;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.AbstractMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.counters.AbstractCounters;
import org.junit.AfterClass;
import org.junit.Before;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.tidemark.hadoop.jobs.FaultyWords;
import org.tidemark.hadoop.jobs.OldEdges;
import org.tidemark.hadoop.support.EventLog;
import org.tidemark.hadoop.support.Inputs;
import org.tidemark.hadoop.support.Jobs;
import org.tidemark.jvm.profile.MeterSettings;
import org.tidemark.jvm.profile.NameBudget;
import org.tidemark.jvm.support.Master;

/** Tests jobs in the LocalJobRunner with a real master. */
public class LocalModeIT {
  @ClassRule public static final TemporaryFolder FILES = new TemporaryFolder();

  /** JobOutcome and AttemptState of event.proto. */
  private static final int FAILED_JOB = 2;

  private static final int FINISHED = 4;
  private static final int FAILED = 5;

  private static Master master;
  private static int outputs;

  private Configuration conf;

  @BeforeClass
  public static void startMaster() throws Exception {
    master = Master.start(FILES.newFolder("logs").toPath());
  }

  @AfterClass
  public static void stopMaster() throws Exception {
    if (master != null) {
      master.close();
    }
  }

  @Before
  public void configure() {
    conf = Jobs.local(FILES.getRoot());
    conf.setLong("mapreduce.input.fileinputformat.split.maxsize", 200_000);
    conf.setLong(Keys.SCAN_MIN_MILLIS, 60_000);
    conf.setLong(Keys.SCAN_MAX_MILLIS, 60_000);
  }

  private static Path input(String name, String text) throws IOException {
    final File directory = new File(FILES.getRoot(), name);
    if (directory.mkdir()) {
      Files.write(directory.toPath().resolve("data"), text.getBytes(StandardCharsets.UTF_8));
    }
    return new Path(directory.toURI());
  }

  private static Path nextOutput() {
    return new Path(new File(FILES.getRoot(), "out" + ++outputs).toURI());
  }

  private byte[] outputOf(Job made, Path input, int reduces) throws Exception {
    return Jobs.output(conf, run(made, input, reduces).getValue());
  }

  private static Map.Entry<Job, Path> run(Job made, Path input, int reduces) throws Exception {
    final Path output = nextOutput();
    final JobConf job = (JobConf) made.getConfiguration();
    final Job prepared = Jobs.prepared(job, input, output, reduces);
    assertTrue("the job failed", prepared.waitForCompletion(false));
    return new AbstractMap.SimpleEntry<>(prepared, output);
  }

  private static long count(Job job, TaskCounter counter) throws IOException {
    final AbstractCounters<?, ?> counters = job.getCounters();
    return counters.findCounter(counter).getValue();
  }

  /** Returns the log of a job with the connector, after checking the properties of every job. */
  private EventLog checked(Job job) throws Exception {
    final EventLog log = EventLog.of(master, job.getJobID().toString());
    assertEquals(1, log.outcome);
    assertEquals(0, log.refused);
    assertEquals(count(job, TaskCounter.REDUCE_INPUT_GROUPS), log.groups());
    assertEquals(log.mapTasks, log.mapProfiles.size());
    for (EventLog.Reduce reduce : log.reduces.values()) {
      assertEquals(reduce.groups, reduce.points + reduce.dropped);
    }
    return log;
  }

  @Test
  public void aJobWithoutACombinerIsMeasuredExactly() throws Exception {
    final Path input = input("edges", Inputs.edges(60_000, 3_000));
    final byte[] without = outputOf(Jobs.twoPath(conf), input, 3);
    final Map.Entry<Job, Path> with =
        run(Jobs.twoPath(Jobs.measured(conf, master.address)), input, 3);
    assertArrayEquals(without, Jobs.output(conf, with.getValue()));

    final EventLog log = checked(with.getKey());
    assertTrue("more than one map task", log.mapTasks > 1);
    assertEquals(count(with.getKey(), TaskCounter.MAP_OUTPUT_BYTES), log.mapBytes());
    assertEquals(log.mapBytes(), log.reduceBytes());
    final Map<Long, Long> fromMaps = log.explicitKeys();
    final Map<Long, Long> fromReduces = log.namedKeys();
    assertTrue(fromReduces.size() > 100);
    int compared = 0;
    for (Map.Entry<Long, Long> named : fromReduces.entrySet()) {
      if (named.getValue() > 1_000) {  // heavy enough to be explicit in every map task
        assertEquals(named.getValue(), fromMaps.get(named.getKey()));
        ++compared;
      }
    }
    assertTrue("heavy keys: " + compared, compared > 5);

    final Map<Long, Long> sampled = log.sampledKeys();
    assertTrue("sampled keys: " + sampled.size(), sampled.size() >= NameBudget.SAMPLED_KEYS_MIN);
    final MeterSettings defaults = new MeterSettings();
    for (Map.Entry<Long, Long> known : sampled.entrySet()) {
      if (known.getValue() >= defaults.namedGroupBytesMin()) {
        assertEquals("whole, not in part", known.getValue(), fromReduces.get(known.getKey()));
      }
    }
  }

  @Test
  public void anInvertedIndexIsUnchangedAndMeasuredExactly() throws Exception {
    final Path input = input("letters", Inputs.letters(8_000, 10));
    final byte[] without = outputOf(Jobs.invertedIndex(conf), input, 3);
    final Map.Entry<Job, Path> with =
        run(Jobs.invertedIndex(Jobs.measured(conf, master.address)), input, 3);
    assertArrayEquals(without, Jobs.output(conf, with.getValue()));
    final EventLog log = checked(with.getKey());
    assertEquals(count(with.getKey(), TaskCounter.MAP_OUTPUT_BYTES), log.mapBytes());
    assertEquals(log.mapBytes(), log.reduceBytes());
  }

  @Test
  public void outputIsMeasuredBehindACombiner() throws Exception {
    final Path input = input("words", Inputs.words(8_000, 10));
    final byte[] without = outputOf(Jobs.wordCount(conf, true), input, 2);
    final Map.Entry<Job, Path> with =
        run(Jobs.wordCount(Jobs.measured(conf, master.address), true), input, 2);
    assertArrayEquals(without, Jobs.output(conf, with.getValue()));
    final EventLog log = checked(with.getKey());
    final Job job = with.getKey();
    assertTrue(log.mapBytes() < count(job, TaskCounter.MAP_OUTPUT_BYTES));
    // Without compression: pairs with two bytes of lengths each, end marks and checksums.
    final long partitions = 2L * log.mapTasks;
    assertEquals(
        count(job, TaskCounter.MAP_OUTPUT_MATERIALIZED_BYTES),
        log.mapBytes() + 2 * count(job, TaskCounter.COMBINE_OUTPUT_RECORDS) + 6 * partitions);
  }

  @Test
  public void theOldApiIsTimedCallByCall() throws Exception {
    final Path input = input("words", Inputs.words(8_000, 10));
    final byte[] without =
        outputOf(Job.getInstance(Jobs.oldWordCount(conf)), input, 2);
    final Map.Entry<Job, Path> with =
        run(Job.getInstance(Jobs.oldWordCount(Jobs.measured(conf, master.address))), input, 2);
    assertArrayEquals(without, Jobs.output(conf, with.getValue()));
    final EventLog log = checked(with.getKey());
    assertEquals(count(with.getKey(), TaskCounter.MAP_OUTPUT_BYTES), log.mapBytes());
    assertEquals("values that were skipped count", log.mapBytes(), log.reduceBytes());
    assertEquals(0, log.reduces.values().stream().mapToLong(r -> r.dropped).sum());
  }

  @Test
  public void compressedMapOutputIsMeasuredUncompressed() throws Exception {
    conf.setBoolean("mapreduce.map.output.compress", true);
    final Path input = input("edges", Inputs.edges(60_000, 3_000));
    final Map.Entry<Job, Path> with =
        run(Jobs.twoPath(Jobs.measured(conf, master.address)), input, 3);
    final EventLog log = checked(with.getKey());
    assertEquals(count(with.getKey(), TaskCounter.MAP_OUTPUT_BYTES), log.mapBytes());
    assertEquals(log.mapBytes(), log.reduceBytes());
  }

  @Test
  public void encryptedIntermediateDataIsMeasuredToo() throws Exception {
    conf.setBoolean("mapreduce.job.encrypted-intermediate-data", true);
    conf.set(
        "hadoop.security.crypto.codec.classes.aes.ctr.nopadding",
        "org.apache.hadoop.crypto.JceAesCtrCryptoCodec");
    final Path input = input("edges", Inputs.edges(60_000, 3_000));
    final Map.Entry<Job, Path> with =
        run(Jobs.twoPath(Jobs.measured(conf, master.address)), input, 3);
    final EventLog log = checked(with.getKey());
    assertEquals(count(with.getKey(), TaskCounter.MAP_OUTPUT_BYTES), log.mapBytes());
  }

  @Test
  public void aGroupingComparatorRemovesKeyNames() throws Exception {
    final Path input = input("pairs", Inputs.pairs(20_000));
    final byte[] without = outputOf(Jobs.secondarySort(conf), input, 2);
    final Map.Entry<Job, Path> with =
        run(Jobs.secondarySort(Jobs.measured(conf, master.address)), input, 2);
    assertArrayEquals(without, Jobs.output(conf, with.getValue()));
    final EventLog log = checked(with.getKey());
    assertTrue(log.explicitKeys().isEmpty());
    assertTrue(log.namedKeys().isEmpty());
  }

  @Test
  public void aGroupingComparatorOfAPrefixKeepsKeyNames() throws Exception {
    conf.setInt(Keys.GROUPING_PREFIX_BYTES, 4);
    final Path input = input("pairs", Inputs.pairs(20_000));
    final Map.Entry<Job, Path> with =
        run(Jobs.secondarySort(Jobs.measured(conf, master.address)), input, 2);
    final EventLog log = checked(with.getKey());
    assertTrue(log.namedKeys().size() > 100);
    log.namedKeys().forEach((hash, bytes) -> assertEquals(bytes, log.explicitKeys().get(hash)));
    final long values =
        log.mapProfiles.values().stream()
            .flatMap(List::stream)
            .mapToLong(partition -> partition.explicitValues)
            .sum();
    assertEquals(count(with.getKey(), TaskCounter.MAP_OUTPUT_RECORDS), values);
  }

  @Test
  public void aCaseInsensitiveSortComparatorRemovesKeyNames() throws Exception {
    conf.setClass(
        "mapreduce.job.output.key.comparator.class",
        KeyGroupingTest.IgnoringCase.class,
        RawComparator.class);
    final String words = Inputs.words(4_000, 5);
    final Path input = input("cased", words + words.toUpperCase(Locale.ROOT));
    final byte[] without = outputOf(Jobs.wordCount(conf, false), input, 2);
    final Map.Entry<Job, Path> with =
        run(Jobs.wordCount(Jobs.measured(conf, master.address), false), input, 2);
    assertArrayEquals(without, Jobs.output(conf, with.getValue()));
    final EventLog log = checked(with.getKey());
    assertTrue(log.explicitKeys().isEmpty());
    assertTrue(log.sampledKeys().isEmpty());
    assertTrue(log.namedKeys().isEmpty());
    assertEquals(count(with.getKey(), TaskCounter.MAP_OUTPUT_BYTES), log.mapBytes());
    assertEquals(log.mapBytes(), log.reduceBytes());
  }

  /**
   * Each key equals its neighbours. The new API forms one group of all keys, the old API one of
   * every two.
   */
  @Test
  public void groupsEqualHadoopsForAnyComparator() throws Exception {
    conf.setClass(
        "mapreduce.job.output.group.comparator.class",
        KeyGroupingTest.Neighbours.class,
        RawComparator.class);
    final Path input = input("path", Inputs.edges(2_000, 300));
    final Map.Entry<Job, Path> with =
        run(Jobs.twoPath(Jobs.measured(conf, master.address)), input, 1);
    assertEquals(1, checked(with.getKey()).groups());
    final JobConf old = OldEdges.job(Jobs.measured(conf, master.address));
    final Map.Entry<Job, Path> withOld = run(Job.getInstance(old), input, 1);
    assertTrue(checked(withOld.getKey()).groups() > 100);
  }

  @Test
  public void aTooShortPrefixRemovesOnlyKeyNames() throws Exception {
    conf.setInt(Keys.GROUPING_PREFIX_BYTES, 1);
    final Path input = input("pairs", Inputs.pairs(20_000));
    final Map.Entry<Job, Path> with =
        run(Jobs.secondarySort(Jobs.measured(conf, master.address)), input, 2);
    final EventLog log = checked(with.getKey());
    assertTrue(log.explicitKeys().isEmpty());
    assertEquals(count(with.getKey(), TaskCounter.MAP_OUTPUT_BYTES), log.mapBytes());
  }

  /** Returns the log of a failed job, after checking that no file remains. */
  private EventLog failed(Job made, Path input) throws Exception {
    final Job job =
        Jobs.prepared((JobConf) made.getConfiguration(), input, nextOutput(), 2);
    assertFalse("the job did not fail", job.waitForCompletion(false));
    final EventLog log = EventLog.of(master, job.getJobID().toString());
    assertEquals(FAILED_JOB, log.outcome);
    final long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (ourThreads() > 0) {
      assertTrue("threads are left", System.nanoTime() < deadline);
      Thread.sleep(20);
    }
    return log;
  }

  private static long ourThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("tidemark"))
        .count();
  }

  private static void assertFailed(EventLog log, String attempt) {
    assertTrue(attempt, log.attempts.get(attempt).containsKey(FAILED));
    assertFalse(attempt, log.attempts.get(attempt).containsKey(FINISHED));
  }

  @Test
  public void aFailingMapIsReportedAsFailedAndEndsTheJob() throws Exception {
    conf.setInt(FaultyWords.MAP_FAILS, 1);
    final Path input = input("words", Inputs.words(8_000, 10));
    final EventLog log =
        failed(FaultyWords.job(Jobs.measured(conf, master.address)), input);
    assertFailed(log, "m-1.0");
    assertFalse("of what it did nothing is known", log.mapProfiles.containsKey("m-1.0"));
    assertTrue("the others did their work", log.attempts.get("m-0.0").containsKey(FINISHED));
  }

  @Test
  public void aFailingMapOfTheOldApiIsReportedAsFailedAndEndsTheJob() throws Exception {
    conf.setInt(FaultyWords.MAP_FAILS, 0);
    final Path input = input("words", Inputs.words(8_000, 10));
    final EventLog log =
        failed(
            Job.getInstance(FaultyWords.oldJob(Jobs.measured(conf, master.address))), input);
    assertFailed(log, "m-0.0");
    assertFalse("of what it did nothing is known", log.mapProfiles.containsKey("m-0.0"));
  }

  @Test
  public void aFailingReduceIsReportedAsFailedAndEndsTheJob() throws Exception {
    conf.setInt(FaultyWords.REDUCE_FAILS, 1);
    final Path input = input("words", Inputs.words(8_000, 10));
    final EventLog log =
        failed(FaultyWords.job(Jobs.measured(conf, master.address)), input);
    assertFailed(log, "r-1.0");
    assertTrue("the others did their work", log.attempts.get("r-0.0").containsKey(FINISHED));
  }

  @Test
  public void onlySizesOfPartitionsAreReportedWithoutTime() throws Exception {
    conf.setLong(Keys.SCAN_MIN_MILLIS, 0);
    conf.setLong(Keys.SCAN_MAX_MILLIS, 0);
    final Path input = input("edges", Inputs.edges(60_000, 3_000));
    final Map.Entry<Job, Path> with =
        run(Jobs.twoPath(Jobs.measured(conf, master.address)), input, 3);
    final EventLog log = checked(with.getKey());
    assertTrue(log.explicitKeys().isEmpty());
    assertTrue(log.sampledKeys().isEmpty());
    // Without a scan, the sizes come from the index, in which each pair has two bytes of lengths.
    assertEquals(
        count(with.getKey(), TaskCounter.MAP_OUTPUT_BYTES)
            + 2 * count(with.getKey(), TaskCounter.MAP_OUTPUT_RECORDS),
        log.mapBytes());
  }

  @Test
  public void anAbsentMasterDoesNotDelayTheApplication() throws Exception {
    final int unused;
    try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      unused = closed.getLocalPort();
    }
    final Path input = input("words", Inputs.words(8_000, 10));
    final byte[] without = outputOf(Jobs.wordCount(conf, true), input, 2);
    assertArrayEquals(
        without,
        outputOf(Jobs.wordCount(Jobs.measured(conf, "127.0.0.1:" + unused), true), input, 2));
  }

  @Test
  public void anUnresolvableNameDoesNotDelayTheJob() throws Exception {
    final Path input = input("words", Inputs.words(8_000, 10));
    assertTrue(
        outputOf(Jobs.wordCount(Jobs.measured(conf, "nobody.invalid:port"), true), input, 2).length
            > 0);
  }

  @Test
  public void aDisabledConnectorReportsNothing() throws Exception {
    conf.setBoolean(Keys.ENABLED, false);
    final Path input = input("words", Inputs.words(8_000, 10));
    final Map.Entry<Job, Path> with =
        run(Jobs.wordCount(Jobs.measured(conf, master.address), true), input, 2);
    final String id = with.getKey().getJobID().toString();
    final File logs = new File(FILES.getRoot(), "logs");
    assertEquals(0, logs.list((directory, name) -> name.contains(id)).length);
  }
}
