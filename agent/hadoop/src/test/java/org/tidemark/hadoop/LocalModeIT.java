package org.tidemark.hadoop;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.examples.Join;
import org.apache.hadoop.examples.terasort.TeraGen;
import org.apache.hadoop.examples.terasort.TeraSort;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.SequenceFile;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.counters.AbstractCounters;
import org.apache.hadoop.mapreduce.lib.input.SequenceFileInputFormat;
import org.apache.hadoop.mapreduce.lib.join.TupleWritable;
import org.apache.hadoop.mapreduce.lib.output.TextOutputFormat;
import org.apache.hadoop.streaming.StreamJob;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;
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
import org.tidemark.jvm.support.FaultyMaster;
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

  private static Path edges() throws IOException {
    return input("edges", Inputs.edges(60_000, 3_000));
  }

  private static Path pairs() throws IOException {
    return input("pairs", Inputs.pairs(20_000));
  }

  private static Path words() throws IOException {
    return input("words", Inputs.words(8_000, 10));
  }

  private static Job wordCount(Configuration settings) throws IOException {
    return Jobs.wordCount(settings, true);
  }

  private static Path nextOutput() {
    return new Path(new File(FILES.getRoot(), "out" + ++outputs).toURI());
  }

  private interface Maker {
    Job of(Configuration settings) throws Exception;
  }

  private static final class Ran {
    final Job job;
    final Path output;

    Ran(Job made, Path input, int reduces) throws Exception {
      output = nextOutput();
      job = Jobs.prepared((JobConf) made.getConfiguration(), input, output, reduces);
      assertTrue("the job failed", job.waitForCompletion(false));
    }

    long count(TaskCounter counter) throws IOException {
      final AbstractCounters<?, ?> counters = job.getCounters();
      return counters.findCounter(counter).getValue();
    }

    /** Returns the log of the job. Also checks properties that every job with the connector has. */
    EventLog log() throws Exception {
      final EventLog log = EventLog.of(master, job.getJobID().toString());
      assertEquals(1, log.outcome);
      assertEquals(0, log.refused);
      assertEquals(count(TaskCounter.REDUCE_INPUT_GROUPS), log.groups());
      assertEquals(log.mapTasks, log.mapProfiles.size());
      for (EventLog.Reduce reduce : log.reduces.values()) {
        assertEquals(reduce.groups, reduce.points + reduce.dropped);
      }
      return log;
    }
  }

  /** Returns settings with which the events of a job arrive however slow the machine is. */
  private Configuration measured() {
    final Configuration measured = Jobs.measured(conf, master.address);
    measured.setLong(Keys.FINAL_WAIT_MILLIS, 60_000);
    return measured;
  }

  private Ran run(Maker maker, Path input, int reduces) throws Exception {
    return new Ran(maker.of(measured()), input, reduces);
  }

  /** Runs the job with and without the connector, and compares the outputs. */
  private Ran runAndCompare(Maker maker, Path input, int reduces) throws Exception {
    final Ran ran = run(maker, input, reduces);
    assertSameOutput(maker, input, reduces, ran);
    return ran;
  }

  private void assertSameOutput(Maker maker, Path input, int reduces, Ran with) throws Exception {
    final Ran without = new Ran(maker.of(conf), input, reduces);
    assertArrayEquals(Jobs.output(conf, without.output), Jobs.output(conf, with.output));
  }

  /** Checks that map and reduce tasks report all bytes, for a job without a combiner. */
  private static void checkBytes(Ran ran, EventLog log) throws IOException {
    assertEquals(ran.count(TaskCounter.MAP_OUTPUT_BYTES), log.mapBytes());
    assertEquals(log.mapBytes(), log.reduceBytes());
  }

  @Test
  public void aJobWithoutACombinerIsMeasuredExactly() throws Exception {
    final Ran ran = runAndCompare(Jobs::twoPath, edges(), 3);
    final EventLog log = ran.log();
    assertTrue("more than one map task", log.mapTasks > 1);
    checkBytes(ran, log);
    final Map<Long, Long> fromMaps = log.explicitKeys();
    final Map<Long, Long> fromReduces = log.namedKeys();
    assertTrue(fromReduces.size() > 100);
    int compared = 0;
    for (Map.Entry<Long, Long> named : fromReduces.entrySet()) {
      if (named.getValue() > 1_000) {  // Heavy enough to be explicit in every map task.
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
    final Ran ran = runAndCompare(Jobs::invertedIndex, input, 3);
    checkBytes(ran, ran.log());
  }

  /** Returns the output of one of Hadoop's examples, which is its last argument. */
  private static Path run(Tool example, Configuration settings, String... arguments)
      throws Exception {
    final Path output = nextOutput();
    final String[] all = Arrays.copyOf(arguments, arguments.length + 1);
    all[arguments.length] = output.toString();
    assertEquals(0, ToolRunner.run(new Configuration(settings), example, all));
    return output;
  }

  /** Runs an example with and without the connector, and compares the outputs. */
  private EventLog runAndCompare(Supplier<Tool> example, String... arguments) throws Exception {
    final Set<String> before = master.jobs();
    final Path with = run(example.get(), measured(), arguments);
    final Set<String> ids = master.jobs();
    ids.removeAll(before);
    assertEquals(1, ids.size());
    final Path without = run(example.get(), conf, arguments);
    assertArrayEquals(Jobs.output(conf, without), Jobs.output(conf, with));
    final EventLog log = EventLog.of(master, ids.iterator().next());
    assertEquals(1, log.outcome);
    assertEquals(log.mapBytes(), log.reduceBytes());
    return log;
  }

  @Test
  public void eachRowOfTeraSortIsAGroup() throws Exception {
    final Path rows = run(new TeraGen(), conf, "8000");
    conf.setInt("mapreduce.job.reduces", 2);
    assertEquals(8000, runAndCompare(TeraSort::new, rows.toString()).groups());
  }

  @Test
  public void keyGroupsOfStreamingEndWithTheirAnswers() throws Exception {
    conf.setInt("mapreduce.job.reduces", 2);
    for (String reducer : new String[] {"cat", "uniq", "sed -n 1p"}) {
      final EventLog log =
          runAndCompare(
              StreamJob::new,
              "-input",
              edges().toString(),
              "-mapper",
              "cat",
              "-reducer",
              reducer,
              "-output");
      assertTrue("groups: " + log.groups(), log.groups() > 100);
      for (EventLog.Reduce reduce : log.reduces.values()) {
        assertEquals(reduce.groups, reduce.points + reduce.dropped);
      }
    }
  }

  /** Writes a table sorted by key, in two parts by key, as map-side joins require it. */
  private String table(String name, int step) throws IOException {
    final File folder = FILES.newFolder(name);
    for (int part = 0; part < 2; ++part) {
      final Path file = new Path(folder.getPath(), "part-0000" + part);
      try (SequenceFile.Writer out =
          SequenceFile.createWriter(
              conf,
              SequenceFile.Writer.file(file),
              SequenceFile.Writer.keyClass(IntWritable.class),
              SequenceFile.Writer.valueClass(Text.class))) {
        for (int key = part; key < 3_000; key += 2) {
          if (key % step == 0) {
            out.append(new IntWritable(key), new Text(name + key));
          }
        }
      }
    }
    return folder.getPath();
  }

  @Test
  public void aMapSideJoinIsMeasured() throws Exception {
    final EventLog log =
        runAndCompare(
            Join::new,
            "-r",
            "2",
            "-inFormat",
            SequenceFileInputFormat.class.getName(),
            "-outFormat",
            TextOutputFormat.class.getName(),
            "-outKey",
            IntWritable.class.getName(),
            "-outValue",
            TupleWritable.class.getName(),
            "-joinOp",
            "inner",
            table("left", 2),
            table("right", 3));
    assertEquals(500, log.groups());
  }

  @Test
  public void outputIsMeasuredBehindACombiner() throws Exception {
    final Ran ran = runAndCompare(LocalModeIT::wordCount, words(), 2);
    final EventLog log = ran.log();
    assertTrue(log.mapBytes() < ran.count(TaskCounter.MAP_OUTPUT_BYTES));
    // Without compression, the output consists of pairs with two length bytes each, end marks and
    // checksums.
    final long partitions = 2L * log.mapTasks;
    assertEquals(
        ran.count(TaskCounter.MAP_OUTPUT_MATERIALIZED_BYTES),
        log.mapBytes() + 2 * ran.count(TaskCounter.COMBINE_OUTPUT_RECORDS) + 6 * partitions);
  }

  @Test
  public void theOldApiIsTimedCallByCall() throws Exception {
    final Maker maker = settings -> Job.getInstance(Jobs.oldWordCount(settings));
    final Ran ran = runAndCompare(maker, words(), 2);
    final EventLog log = ran.log();
    checkBytes(ran, log);  // Includes the skipped values.
    assertEquals(0, log.reduces.values().stream().mapToLong(r -> r.dropped).sum());
  }

  @Test
  public void compressedMapOutputIsMeasuredUncompressed() throws Exception {
    conf.setBoolean("mapreduce.map.output.compress", true);
    final Ran ran = run(Jobs::twoPath, edges(), 3);
    checkBytes(ran, ran.log());
  }

  @Test
  public void encryptedIntermediateDataIsMeasuredToo() throws Exception {
    conf.setBoolean("mapreduce.job.encrypted-intermediate-data", true);
    conf.set(
        "hadoop.security.crypto.codec.classes.aes.ctr.nopadding",
        "org.apache.hadoop.crypto.JceAesCtrCryptoCodec");
    final Ran ran = run(Jobs::twoPath, edges(), 3);
    checkBytes(ran, ran.log());
  }

  @Test
  public void aGroupingComparatorRemovesKeyNames() throws Exception {
    final EventLog log = runAndCompare(Jobs::secondarySort, pairs(), 2).log();
    assertTrue(log.explicitKeys().isEmpty());
    assertTrue(log.namedKeys().isEmpty());
  }

  @Test
  public void aGroupingComparatorOfAPrefixKeepsKeyNames() throws Exception {
    conf.setInt(Keys.GROUPING_PREFIX_BYTES, 4);
    final Ran ran = run(Jobs::secondarySort, pairs(), 2);
    final EventLog log = ran.log();
    assertTrue(log.namedKeys().size() > 100);
    log.namedKeys().forEach((hash, bytes) -> assertEquals(bytes, log.explicitKeys().get(hash)));
    final long values =
        log.mapProfiles.values().stream()
            .flatMap(List::stream)
            .mapToLong(partition -> partition.explicitValues)
            .sum();
    assertEquals(ran.count(TaskCounter.MAP_OUTPUT_RECORDS), values);
  }

  @Test
  public void aCaseInsensitiveSortComparatorRemovesKeyNames() throws Exception {
    conf.setClass(
        "mapreduce.job.output.key.comparator.class",
        KeyGroupingTest.IgnoringCase.class,
        RawComparator.class);
    final String words = Inputs.words(4_000, 5);
    final Path input = input("cased", words + words.toUpperCase(Locale.ROOT));
    final Ran ran = runAndCompare(settings -> Jobs.wordCount(settings, false), input, 2);
    final EventLog log = ran.log();
    assertTrue(log.explicitKeys().isEmpty());
    assertTrue(log.sampledKeys().isEmpty());
    assertTrue(log.namedKeys().isEmpty());
    checkBytes(ran, log);
  }

  /**
   * Each key equals the adjacent keys. The new API forms one group of all keys, whereas the old API
   * forms a group of every two keys.
   */
  @Test
  public void groupsEqualHadoopsForAnyComparator() throws Exception {
    conf.setClass(
        "mapreduce.job.output.group.comparator.class",
        KeyGroupingTest.Neighbours.class,
        RawComparator.class);
    final Path input = input("path", Inputs.edges(2_000, 300));
    assertEquals(1, run(Jobs::twoPath, input, 1).log().groups());
    final Maker old = settings -> Job.getInstance(OldEdges.job(settings));
    assertTrue(run(old, input, 1).log().groups() > 100);
  }

  @Test
  public void aTooShortPrefixRemovesOnlyKeyNames() throws Exception {
    conf.setInt(Keys.GROUPING_PREFIX_BYTES, 1);
    final Ran ran = run(Jobs::secondarySort, pairs(), 2);
    final EventLog log = ran.log();
    assertTrue(log.explicitKeys().isEmpty());
    assertEquals(ran.count(TaskCounter.MAP_OUTPUT_BYTES), log.mapBytes());
  }

  /** Returns the log of a failed job, and checks that no file remains. */
  private EventLog failed(Maker maker) throws Exception {
    final JobConf made =
        (JobConf) maker.of(measured()).getConfiguration();
    final Job job = Jobs.prepared(made, words(), nextOutput(), 2);
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
    final EventLog log = failed(FaultyWords::job);
    assertFailed(log, "m-1.0");
    assertFalse("of what it did nothing is known", log.mapProfiles.containsKey("m-1.0"));
    assertTrue("the others did their work", log.attempts.get("m-0.0").containsKey(FINISHED));
  }

  @Test
  public void aFailingMapOfTheOldApiIsReportedAsFailedAndEndsTheJob() throws Exception {
    conf.setInt(FaultyWords.MAP_FAILS, 0);
    final EventLog log = failed(settings -> Job.getInstance(FaultyWords.oldJob(settings)));
    assertFailed(log, "m-0.0");
    assertFalse("of what it did nothing is known", log.mapProfiles.containsKey("m-0.0"));
  }

  @Test
  public void aFailingReduceIsReportedAsFailedAndEndsTheJob() throws Exception {
    conf.setInt(FaultyWords.REDUCE_FAILS, 1);
    final EventLog log = failed(FaultyWords::job);
    assertFailed(log, "r-1.0");
    assertTrue("the others did their work", log.attempts.get("r-0.0").containsKey(FINISHED));
  }

  @Test
  public void onlySizesOfPartitionsAreReportedWithoutTime() throws Exception {
    conf.setLong(Keys.SCAN_MIN_MILLIS, 0);
    conf.setLong(Keys.SCAN_MAX_MILLIS, 0);
    final Ran ran = run(Jobs::twoPath, edges(), 3);
    final EventLog log = ran.log();
    assertTrue(log.explicitKeys().isEmpty());
    assertTrue(log.sampledKeys().isEmpty());
    // Without a scan, the index determines the sizes. There, each pair has two bytes of lengths.
    assertEquals(
        ran.count(TaskCounter.MAP_OUTPUT_BYTES) + 2 * ran.count(TaskCounter.MAP_OUTPUT_RECORDS),
        log.mapBytes());
  }

  @Test
  public void anAbsentMasterDoesNotDelayTheApplication() throws Exception {
    checkUnaffectedBy(FaultyMaster.absent());
  }

  @Test
  public void anUnresolvableNameDoesNotDelayTheJob() throws Exception {
    checkUnaffectedBy("nobody.invalid:port");
  }

  private void checkUnaffectedBy(String address) throws Exception {
    final Ran ran = new Ran(wordCount(Jobs.measured(conf, address)), words(), 2);
    assertSameOutput(LocalModeIT::wordCount, words(), 2, ran);
  }

  @Test
  public void aDisabledConnectorReportsNothing() throws Exception {
    conf.setBoolean(Keys.ENABLED, false);
    final String id = run(LocalModeIT::wordCount, words(), 2).job.getJobID().toString();
    final File logs = new File(FILES.getRoot(), "logs");
    assertEquals(0, logs.list((directory, name) -> name.contains(id)).length);
  }
}
