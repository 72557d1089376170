package org.tidemark.tez;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.tez.common.counters.TaskCounter;
import org.apache.tez.common.counters.TezCounters;
import org.apache.tez.dag.api.EdgeManagerPluginDescriptor;
import org.apache.tez.dag.api.EdgeProperty;
import org.apache.tez.dag.api.InputDescriptor;
import org.apache.tez.dag.api.OutputDescriptor;
import org.apache.tez.dag.api.UserPayload;
import org.apache.tez.dag.api.oldrecords.TaskAttemptState;
import org.apache.tez.dag.api.records.DAGProtos.DAGPlan;
import org.apache.tez.dag.app.dag.DAGState;
import org.apache.tez.dag.app.dag.VertexState;
import org.apache.tez.dag.records.TezTaskAttemptID;
import org.apache.tez.runtime.api.impl.TezEvent;
import org.junit.Test;
import org.tidemark.jvm.support.Fields;
import org.tidemark.jvm.wire.HeartbeatUpdate;
import org.tidemark.jvm.wire.JobDescription;
import org.tidemark.jvm.wire.ProtoWriter;
import org.tidemark.tez.support.History;
import org.tidemark.tez.support.Plans;
import org.tidemark.tez.support.Sent;

public class DagReportTest {
  private static final long AT = History.SUBMITTED + 3;
  private static final int TOKENS = 0;
  private static final int SUMS = 1;

  private static final int QUEUED = 1;
  private static final int STARTED = 2;
  private static final int FINISHED = 4;
  private static final int FAILED = 5;
  private static final int KILLED = 6;
  private static final int OBSOLETE = 7;

  private final Sent sent = new Sent();
  private final History history = new History(1);
  private final DagReport report = reportOf(Plans.wordCount().build(), false);

  private DagReport reportOf(DAGPlan plan, boolean isIncomplete) {
    final JobDescription job = DagDescription.of(plan, new Configuration(false));
    job.masterAttempt = isIncomplete ? 2 : 1;
    return new DagReport(plan, job, isIncomplete, sent);
  }

  private Fields stage(int number) {
    return sent.of(Sent.STAGE_OPENED).stream()
        .filter(stage -> stage.value(1) == number)
        .reduce((earlier, later) -> later)
        .get();
  }

  /** Returns the bytes that Tez's ShuffleUtils would send: a size, and megabytes by partition. */
  private static byte[] measured(long bytes, long... megabytes) {
    final ProtoWriter detailed = new ProtoWriter();
    for (long size : megabytes) {
      detailed.uintAlways(1, size);
    }
    return new ProtoWriter().uint(1, bytes).message(3, detailed).toByteArray();
  }

  private void runTokens(int tasks, byte[] output) throws Exception {
    report.report(history.initialized(TOKENS, tasks, Collections.emptyList()));
    for (int task = 0; task < tasks; ++task) {
      final TezTaskAttemptID id = history.attempt(TOKENS, task, 0);
      report.report(history.started(id, 2, AT));
      final List<TezEvent> events =
          List.of(history.output(TOKENS, "tokens", "sums", output));
      report.report(history.finished(id, new TezCounters(), events));
    }
  }

  @Test
  public void theDagIsKnownBeforeAVertexRuns() {
    assertEquals("words", sent.of(Sent.JOB_OPENED).get(0).text(1));
    assertEquals("tez", sent.of(Sent.JOB_OPENED).get(0).text(2));
    assertEquals("announced with the job", 3, sent.of(Sent.JOB_OPENED).get(0).messages(8).size());
    assertEquals(3, sent.of(Sent.STAGE_OPENED).size());
    assertEquals("tokens", stage(TOKENS).text(3));
    assertFalse("splits decide its tasks", stage(TOKENS).has(8));
    assertEquals(4, stage(SUMS).value(8));
    assertArrayEquals(new long[] {0}, stage(SUMS).varints(5));
    assertArrayEquals(new long[] {1}, stage(2).varints(5));
  }

  @Test
  public void aVertexHasTheSameSignatureInEveryRun() {
    final String signature = stage(SUMS).text(4);
    reportOf(Plans.wordCount().build(), false);
    assertEquals(signature, stage(SUMS).text(4));
    assertFalse(signature.equals(stage(TOKENS).text(4)));
  }

  @Test
  public void attemptsAreReportedWithTheirContainers() throws Exception {
    report.report(history.scheduled(SUMS, 2, AT - 1));
    report.report(history.started(history.attempt(SUMS, 2, 0), 5, AT));
    report.report(history.started(history.attempt(SUMS, 3, 0), 5, AT));
    assertEquals("a container is reused", 1, sent.of(Sent.EXECUTOR_OPENED).size());
    assertEquals("node-1", sent.of(Sent.EXECUTOR_OPENED).get(0).text(2));
    assertEquals(1, sent.of(Sent.EXECUTOR_OPENED).get(0).value(5));
    final List<Fields> changes = sent.of(Sent.ATTEMPT_CHANGED);
    assertEquals(QUEUED, changes.get(0).value(2));
    assertEquals(STARTED, changes.get(1).value(2));
    assertEquals(AT * 1_000_000, changes.get(1).value(3));
    assertEquals(SUMS, changes.get(1).message(1).value(1));
    assertEquals(2, changes.get(1).message(1).value(3));
    assertFalse(changes.get(1).has(5));
    report.containerStopped(History.container(5));
    assertEquals(1, sent.of(Sent.EXECUTOR_CLOSED).size());
  }

  @Test
  public void aSecondRunningAttemptIsSpeculativeAndARetryIsNot() throws Exception {
    final TezTaskAttemptID first = history.attempt(SUMS, 0, 0);
    report.report(history.started(first, 1, AT));
    report.report(history.started(history.attempt(SUMS, 0, 1), 2, AT));
    assertEquals(1, sent.last(Sent.ATTEMPT_CHANGED).value(5));
    report.report(history.ended(first, TaskAttemptState.KILLED, "other attempt succeeded"));
    assertEquals(KILLED, sent.last(Sent.ATTEMPT_CHANGED).value(2));
    final TezTaskAttemptID other = history.attempt(SUMS, 1, 0);
    report.report(history.started(other, 3, AT));
    report.report(history.ended(other, TaskAttemptState.FAILED, "no memory"));
    assertEquals(FAILED, sent.last(Sent.ATTEMPT_CHANGED).value(2));
    assertEquals("no memory", sent.last(Sent.ATTEMPT_CHANGED).text(8));
    report.report(history.started(history.attempt(SUMS, 1, 1), 3, AT));
    assertFalse(sent.last(Sent.ATTEMPT_CHANGED).has(5));
  }

  @Test
  public void countersAreReportedAtTheEndOfAnAttempt() throws Exception {
    final TezTaskAttemptID id = history.attempt(SUMS, 0, 0);
    final TezCounters counters = new TezCounters();
    counters.findCounter(TaskCounter.SHUFFLE_BYTES_DECOMPRESSED).setValue(5_000);
    counters.findCounter(TaskCounter.REDUCE_INPUT_RECORDS).setValue(70);
    counters.findCounter(TaskCounter.OUTPUT_BYTES).setValue(300);
    counters.findCounter(TaskCounter.CPU_MILLISECONDS).setValue(40);
    report.report(history.started(id, 1, AT));
    report.report(history.finished(id, counters, Collections.emptyList()));
    final Fields end = sent.last(Sent.ATTEMPT_CHANGED);
    assertEquals(FINISHED, end.value(2));
    assertEquals(5_000, end.value(6));
    assertEquals(70, end.value(7));
    final Fields times = sent.last(Sent.TASK_HEARTBEAT);
    assertEquals(300, times.value(4));
    assertEquals(40_000, times.value(5));
    assertEquals("created at 1 ms, started at 3 ms", 2_000, times.value(6));
  }

  @Test
  public void progressNeverShrinksAndEndsWithTheAttempt() throws Exception {
    final TezTaskAttemptID id = history.attempt(SUMS, 0, 0);
    report.report(history.started(id, 1, AT));
    final DagReport.Running running = report.running().get(0);
    final HeartbeatUpdate update = new HeartbeatUpdate(running.attempt);
    for (long bytes : new long[] {900, 400}) {
      update.bytesDone = bytes;
      report.progressed(running, update);
      assertEquals(900, sent.last(Sent.TASK_HEARTBEAT).value(2));
    }
    report.report(history.finished(id, new TezCounters(), Collections.emptyList()));
    assertEquals(900, sent.last(Sent.TASK_HEARTBEAT).value(2));
    report.progressed(running, update);
    assertEquals(3, sent.of(Sent.TASK_HEARTBEAT).size());
  }

  @Test
  public void lostOutputMakesAFinishedAttemptObsolete() throws Exception {
    final TezTaskAttemptID id = history.attempt(SUMS, 0, 0);
    report.report(history.started(id, 1, AT));
    report.report(history.finished(id, new TezCounters(), Collections.emptyList()));
    report.report(history.ended(id, TaskAttemptState.KILLED, "node lost"));
    assertEquals(OBSOLETE, sent.last(Sent.ATTEMPT_CHANGED).value(2));
  }

  @Test
  public void aVertexThatChangesItsParallelismStartsANewAttemptAtTheStage() throws Exception {
    report.report(history.configured(SUMS, 4, Collections.emptyMap()));
    assertEquals(0, stage(SUMS).value(2));
    report.report(history.configured(SUMS, 2, Collections.emptyMap()));
    assertEquals(1, stage(SUMS).value(2));
    assertEquals(2, stage(SUMS).value(8));
    report.report(history.started(SUMS, AT));
    report.report(history.started(history.attempt(SUMS, 1, 0), 1, AT));
    assertEquals(1, sent.last(Sent.ATTEMPT_CHANGED).message(1).value(2));
    assertEquals(AT * 1_000_000, stage(SUMS).value(18));
  }

  @Test
  public void partitionSizesAreReportedBeforeTheirReadersRun() throws Exception {
    // Two tasks write 1000 bytes each, in the proportions 1, 2, 3 and 4.
    runTokens(2, measured(1_000, 1, 2, 3, 4));
    assertArrayEquals(new long[] {200, 400, 600, 800}, stage(SUMS).varints(11));
    assertEquals("rounded", 2, stage(SUMS).value(13));
    report.report(history.started(history.attempt(SUMS, 3, 0), 1, AT));
    assertEquals(800, sent.last(Sent.ATTEMPT_CHANGED).value(6));
  }

  @Test
  public void readersOfSeveralPartitionsGetTheSum() throws Exception {
    final EdgeProperty edge =
        EdgeProperty.create(
            EdgeManagerPluginDescriptor.create(
                    "org.apache.tez.dag.library.vertexmanager.ShuffleVertexManager"
                        + "$CustomShuffleEdgeManager")
                .setUserPayload(
                    UserPayload.create(
                        ByteBuffer.wrap(new ProtoWriter().uint(3, 3).toByteArray()))),
            EdgeProperty.DataSourceType.PERSISTED,
            EdgeProperty.SchedulingType.SEQUENTIAL,
            OutputDescriptor.create("out"),
            InputDescriptor.create("in"));
    report.report(history.configured(SUMS, 2, Collections.singletonMap("tokens", edge)));
    runTokens(1, measured(1_000, 1, 2, 3, 4));
    assertArrayEquals(new long[] {600, 400}, stage(SUMS).varints(11));
  }

  @Test
  public void sizesAreSentOnlyWhenAllSourcesHaveEnded() throws Exception {
    report.report(history.initialized(TOKENS, 2, Collections.emptyList()));
    final TezTaskAttemptID id = history.attempt(TOKENS, 0, 0);
    report.report(
        history.finished(
            id,
            new TezCounters(),
            List.of(history.output(TOKENS, "tokens", "sums", measured(10, 1, 1, 1, 1)))));
    assertEquals(0, stage(SUMS).varints(11).length);
  }

  @Test
  public void aVertexIsClosedOnlyIfItsTasksDoNotShowTheEnd() throws Exception {
    report.report(history.finished(SUMS, 4, 4, VertexState.SUCCEEDED));
    assertTrue(sent.of(Sent.STAGE_CLOSED).isEmpty());
    report.report(history.finished(SUMS, 0, 0, VertexState.SUCCEEDED));
    assertEquals(1, sent.last(Sent.STAGE_CLOSED).value(3));
    report.report(history.finished(TOKENS, 2, 1, VertexState.FAILED));
    assertEquals(2, sent.last(Sent.STAGE_CLOSED).value(3));
    assertEquals("why", sent.last(Sent.STAGE_CLOSED).text(4));
  }

  @Test
  public void aNewApplicationMasterReportsTheFinishedTasksAgain() throws Exception {
    final DagReport second = reportOf(Plans.wordCount().build(), true);
    assertEquals("replaces the earlier attempt", 4, stage(SUMS).value(2));
    second.configured(SUMS, 2);
    assertEquals(5, stage(SUMS).value(2));
    final TezTaskAttemptID id = history.attempt(SUMS, 1, 0);
    final TezCounters counters = new TezCounters();
    counters.findCounter(TaskCounter.SHUFFLE_BYTES_DECOMPRESSED).setValue(5_000);
    for (int repetition = 0; repetition < 2; ++repetition) {
      second.recovered(id, AT, AT + 5, new CounterValues(counters));
    }
    assertTrue(second.hasFinished(id.getTaskID()));
    final List<Fields> changes = sent.of(Sent.ATTEMPT_CHANGED);
    assertEquals(2, changes.size());
    assertEquals(STARTED, changes.get(0).value(2));
    assertEquals(FINISHED, changes.get(1).value(2));
    assertEquals(5, changes.get(1).message(1).value(2));
    assertEquals(5_000, changes.get(1).value(6));
    second.report(history.ended(id, TaskAttemptState.KILLED, "node lost"));
    assertEquals(OBSOLETE, sent.last(Sent.ATTEMPT_CHANGED).value(2));
    assertFalse(second.hasFinished(id.getTaskID()));
  }

  @Test
  public void theEndOfTheDagIsReported() throws Exception {
    report.report(history.finished(DAGState.FAILED, "vertex failed"));
    assertEquals(2, sent.last(Sent.JOB_CLOSED).value(1));
    assertEquals("vertex failed", sent.last(Sent.JOB_CLOSED).text(2));
    report.splits(TOKENS, new long[] {1});
    assertEquals("nothing follows", 3, sent.of(Sent.STAGE_OPENED).size());
  }

  @Test
  public void theStateIsReportedAgainAfterDrops() throws Exception {
    report.report(history.started(history.attempt(SUMS, 0, 0), 1, AT));
    report.reportAfterDrops(0);
    assertEquals(1, sent.of(Sent.JOB_OPENED).size());
    report.reportAfterDrops(3);
    assertEquals(2, sent.of(Sent.JOB_OPENED).size());
    assertEquals(2, sent.of(Sent.ATTEMPT_CHANGED).size());
  }
}
