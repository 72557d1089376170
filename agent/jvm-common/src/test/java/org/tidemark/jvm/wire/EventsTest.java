package org.tidemark.jvm.wire;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.Test;
import org.tidemark.jvm.Vectors;
import org.tidemark.jvm.profile.KeySampler;
import org.tidemark.jvm.profile.MeterSettings;
import org.tidemark.jvm.profile.PartitionKeys;
import org.tidemark.jvm.profile.ProcessorWatch;
import org.tidemark.jvm.profile.ReduceMeter;

/**
 * Tests the bytes of each event. tests/wire/event_vectors_test.cc parses the same bytes with the
 * master's generated code, and compares them with the text next to them.
 */
public class EventsTest {
  @Test
  public void everyEventHasTheBytesOfItsVector() throws Exception {
    final Map<String, Event> events = events();
    for (JsonNode vector : Vectors.read("events.json")) {
      final String name = vector.get("name").asText();
      final Event event = events.remove(name);
      assertEquals(
          name,
          vector.get("hex").asText(),
          Vectors.hex(event.encoded(5_000_000_000L).toByteArray()));
    }
    assertTrue("without a vector: " + events.keySet(), events.isEmpty());
  }

  @Test
  public void aTruncatedMessageEndsItsReading() {
    final byte[] whole = new ProtoWriter().uint(1, 300).string(2, "abc").toByteArray();
    for (int length = 0; length < whole.length; ++length) {
      final ProtoReader reader = new ProtoReader(Arrays.copyOf(whole, length));
      int fields = 0;
      while (reader.next()) {
        ++fields;
      }
      assertEquals(length >= 3 ? 1 : 0, fields);
      assertFalse(reader.next() && length < 3);
    }
  }

  /** Events of real application masters can take megabytes. */
  @Test
  public void longTextsAreCutBetweenCharacters() {
    final String euros = String.join("", Collections.nCopies(1 << 20, "\u20ac"));
    assertTrue(Events.jobClosed(Events.Outcome.FAILED, euros, 0).sizeBytes < 5_000);
    final AttemptUpdate update = failedReduce();
    update.failure = euros;
    assertTrue(Events.attemptChanged(update).sizeBytes < 5_000);
    for (String start : new String[] {"", "a", "ab", "\ud83d\ude00"}) {
      final ProtoReader reader =
          new ProtoReader(new ProtoWriter().text(1, start + euros).toByteArray());
      assertTrue(reader.next());
      final String cut = new String(reader.content(), StandardCharsets.UTF_8);
      assertTrue(reader.content().length > ProtoWriter.TEXT_BYTES_MAX - 3);
      assertTrue(reader.content().length <= ProtoWriter.TEXT_BYTES_MAX);
      assertTrue((start + euros).startsWith(cut));
    }
  }

  private static Map<String, Event> events() {
    final Map<String, Event> events = new LinkedHashMap<>();
    events.put("job opened by an application master", Events.jobOpened(wholeJob()));
    events.put("job opened by a task that knows little", Events.jobOpened(jobOfTwoStages(-1, false)));
    events.put("job opened with keys grouped by a comparator", Events.jobOpened(jobOfTwoStages(3, true)));
    final JobDescription ofWorkflow = new JobDescription("hadoop");
    ofWorkflow.workflow = new WorkflowDescription("pig_1");
    ofWorkflow.workflow.name = "s.pig";
    ofWorkflow.workflow.node = "b";
    ofWorkflow.workflow.nodes.put("a", Arrays.asList());
    ofWorkflow.workflow.nodes.put("b", Arrays.asList("a"));
    ofWorkflow.workflow.parentJobIds.add("job_1");
    ofWorkflow.workflow.quietSeconds = 3600;
    events.put("job opened in a workflow", Events.jobOpened(ofWorkflow));
    events.put(
        "job closed", Events.jobClosed(Events.Outcome.FAILED, "task r-1 gave up", 1_700_000_000_250L));
    events.put(
        "executor opened", Events.executorOpened(3, "node-1", "/default-rack", "container_1", 0));
    events.put("executor opened with slots", Events.executorOpened(4, "node-2", "", "1", 16));
    events.put("stage opened again", Events.stageOpened(retriedStage()));
    events.put("stage opened that is skipped", Events.stageOpened(skippedStage()));
    final StageDescription some = new StageDescription(9, StageDescription.Kind.GENERIC);
    some.tasks = 2;
    some.indexes = 10;
    events.put("stage opened for some partitions", Events.stageOpened(some));
    final StageDescription ofLoop = new StageDescription(9, StageDescription.Kind.GENERIC);
    ofLoop.tasks = 2;
    ofLoop.work = 0x0123456789abcdefL;
    events.put("stage opened of a loop", Events.stageOpened(ofLoop));
    events.put(
        "stage closed",
        Events.stageClosed(7, 1, Events.Outcome.FAILED, "fetch failed", 1_700_000_001_000L));
    events.put("group opened", Events.groupOpened("sql/4", "count at Job.scala:12", 1_700_000_000_500L));
    events.put(
        "group opened with a plan",
        Events.groupOpened("sql/4", "count at Job.scala:12", 1_700_000_000_500L, 12, 0, 1));
    events.put(
        "group closed",
        Events.groupClosed("sql/4", Events.Outcome.SUCCEEDED, null, 1_700_000_001_000L));
    events.put("executor closed", Events.executorClosed(3));
    events.put("map attempt started", Events.attemptChanged(startedMap()));
    events.put("reduce attempt failed", Events.attemptChanged(failedReduce()));
    events.put(
        "map attempt failed that was the last of its task", Events.attemptChanged(lastFailure()));
    events.put("heartbeat", Events.heartbeat(Attempt.map(3, 1), 1 << 20, 12_345, 777));
    events.put("heartbeat of a task that waits", Events.heartbeat(waitingTask()));
    final HeartbeatUpdate sorting = new HeartbeatUpdate(new Attempt(7, 0, 2, 0));
    sorting.recordsDone = 50;
    sorting.isInputReadFirst = true;
    events.put("heartbeat of a task that sorts", Events.heartbeat(sorting));
    events.put("attempt started with records to read", Events.attemptChanged(knownInput()));
    events.put(
        "map profile",
        Events.mapProfile(Attempt.map(2, 0), Arrays.asList(scanned(), unscanned()), 0));
    events.put(
        "map profile with a sample",
        Events.mapProfile(
            Attempt.map(2, 1), Arrays.asList(sampled()), KeySampler.EVERY_RANK));
    events.put("reduce profile", reduceProfile(true, false, null, null));
    events.put("reduce profile with points", reduceProfile(true, true, null, null));
    events.put("reduce profile whose keys have no names", reduceProfile(false, false, null, null));
    events.put(
        "reduce profile of a task that shares its processors",
        reduceProfile(false, false, sharing(), null));
    final TimeUse took = new TimeUse();
    took.cpuMicros = 1_500_000;
    took.processorWaitMicros = 250_000;
    took.memoryWaitMicros = 3;
    events.put(
        "reduce profile of a task that tells what it took",
        reduceProfile(false, false, sharing(), took));
    return events;
  }

  private static JobDescription wholeJob() {
    final JobDescription job = new JobDescription("hadoop");
    job.name = "word count \u00e9";
    job.applicationId = "application_1_0002";
    job.user = "ann";
    job.queue = "default";
    job.submittedMillis = 1_700_000_000_123L;
    job.masterAttempt = 2;
    job.deadlineMillis = 1_700_000_600_000L;
    job.parameters.put("k", "80");
    final StageDescription map = new StageDescription(0, StageDescription.Kind.MAP);
    map.tasks = 4;
    map.hasCombiner = true;
    job.stages.add(map);
    return job;
  }

  private static JobDescription jobOfTwoStages(int reduceTasks, boolean isGroupingOpaque) {
    final JobDescription job = new JobDescription("hadoop");
    final StageDescription map = new StageDescription(0, StageDescription.Kind.MAP);
    map.hasCombiner = false;
    final StageDescription reduce = new StageDescription(1, StageDescription.Kind.REDUCE);
    reduce.parents = new long[] {0};
    reduce.tasks = reduceTasks;
    reduce.isGroupingOpaque = isGroupingOpaque;
    job.stages.add(map);
    job.stages.add(reduce);
    return job;
  }

  private static StageDescription retriedStage() {
    final StageDescription stage = new StageDescription(7, StageDescription.Kind.GENERIC);
    stage.attempt = 1;
    stage.name = "collect at Job.scala:12";
    stage.signature = "collect#2";
    stage.parents = new long[] {3, 300};
    stage.group = "sql/4";
    stage.tasks = 3;
    stage.pool = "fair";
    stage.taskBytes = new long[] {0, 1 << 20, 77};
    stage.taskRecords = new long[] {0, 12_345, 1};
    stage.precision = StageDescription.Precision.ROUNDED;
    stage.slots = 8;
    stage.openedMillis = 1_700_000_000_500L;
    return stage;
  }

  private static StageDescription skippedStage() {
    final StageDescription stage = new StageDescription(8, StageDescription.Kind.GENERIC);
    stage.tasks = 2;
    stage.skipped = true;
    return stage;
  }

  private static HeartbeatUpdate waitingTask() {
    final HeartbeatUpdate update = new HeartbeatUpdate(new Attempt(7, 1, 2, 1));
    update.bytesDone = 1 << 20;
    update.recordsDone = 12_345;
    update.bytesEmitted = 777;
    update.time.cpuMicros = 1_500_000;
    update.time.schedulerWaitMicros = 0;
    update.time.processorWaitMicros = 250_000;
    update.time.memoryWaitMicros = 3;
    update.time.networkWaitMicros = 40;
    update.time.ioWaitMicros = 5_000;
    update.time.networkBytes = 0;
    update.time.ioBytes = 777;
    update.time.scanWaitMicros = 6_000;
    update.time.scanBytes = 4_096;
    return update;
  }

  private static AttemptUpdate startedMap() {
    final AttemptUpdate update = new AttemptUpdate(Attempt.map(0, 0), Events.State.STARTED);
    update.atMillis = 1_700_000_001_000L;
    update.executor = 3;
    update.inputBytes = 0;
    return update;
  }

  private static AttemptUpdate knownInput() {
    final AttemptUpdate update = new AttemptUpdate(new Attempt(7, 1, 2, 1), Events.State.STARTED);
    update.inputBytes = 4096;
    update.inputRecords = 50;
    return update;
  }

  private static AttemptUpdate failedReduce() {
    final AttemptUpdate update = new AttemptUpdate(Attempt.reduce(7, 2), Events.State.FAILED);
    update.speculative = true;
    update.failure = "java.io.IOException: disk";
    return update;
  }

  private static AttemptUpdate lastFailure() {
    final AttemptUpdate update = new AttemptUpdate(Attempt.map(4, 3), Events.State.FAILED);
    update.taskFailed = true;
    return update;
  }

  private static PartitionKeys scanned() {
    final PartitionKeys keys = new PartitionKeys(0, 2);
    keys.totalBytes = keys.scannedBytes = 1000;
    keys.explicitHashes[0] = 0xef46db3751d8e999L;
    keys.explicitBytes[0] = 600;
    keys.explicitValues[0] = 60;
    keys.explicitHashes[1] = 1;
    keys.explicitBytes[1] = 300;
    keys.explicitValues[1] = 1;
    keys.implicitKeyCount = 9;
    keys.implicitBytes = 100;
    return keys;
  }

  private static PartitionKeys sampled() {
    final PartitionKeys keys = scanned();
    keys.sampledHashes = new long[] {3, 0xffffffffffffffffL};
    keys.sampledBytes = new long[] {20, 1};
    keys.sampledValues = new long[] {300, 1};
    return keys;
  }

  private static PartitionKeys unscanned() {
    final PartitionKeys keys = new PartitionKeys(5, 0);
    keys.totalBytes = 1L << 33;
    return keys;
  }

  private static ProcessorWatch.Use sharing() {
    return new ProcessorWatch.Use(8_250_000_000L, 2_000_000_001L, 4);
  }

  private static Event reduceProfile(
      boolean named, boolean points, ProcessorWatch.Use use, TimeUse time) {
    final MeterSettings settings = new MeterSettings();
    settings.setSendPoints(points);
    final ReduceMeter meter = new ReduceMeter(settings);
    meter.start(1_000_000_000L);
    meter.begin(0x1122334455667788L, 0);
    meter.read(80);
    meter.turnLarge(1_000_000_000L);
    meter.end(11);
    meter.closeUnit(3_500_000_000L);
    meter.begin(42, 100);
    meter.read(10);
    meter.read(15);
    return Events.reduceProfile(
        Attempt.reduce(1, 0),
        meter.take(true),
        1_700_000_002_000L,
        meter.running(140),
        named,
        use,
        time);
  }
}
