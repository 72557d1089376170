package org.tidemark.tez;

import static org.junit.Assert.assertEquals;

import org.apache.tez.common.counters.TaskCounter;
import org.apache.tez.common.counters.TezCounters;
import org.junit.Test;
import org.tidemark.jvm.wire.Attempt;
import org.tidemark.jvm.wire.HeartbeatUpdate;
import org.tidemark.tez.support.History;

public class RunningAttemptsTest {
  private final DagReport.Running running =
      new DagReport.Running(new History(1).attempt(1, 2, 0), new Attempt(1, 0, 2, 0));
  private final TezCounters counters = new TezCounters();

  private HeartbeatUpdate progress(float fraction, long inputBytes) {
    return RunningAttempts.progress(running, fraction, new CounterValues(counters), inputBytes);
  }

  @Test
  public void theShareOfTheInputIsReported() {
    counters.findCounter(TaskCounter.REDUCE_INPUT_RECORDS).setValue(9);
    counters.findCounter(TaskCounter.GC_TIME_MILLIS).setValue(3);
    assertEquals(250, progress(0.25f, 1_000).bytesDone);
    assertEquals(1_000, progress(1.5f, 1_000).bytesDone);
    assertEquals(9, progress(0, 1_000).recordsDone);
    assertEquals(3_000, progress(0, 1_000).time.memoryWaitMicros);
    assertEquals("not measured", -1, progress(0, 1_000).time.cpuMicros);
  }

  @Test
  public void theTasksOwnCounterReplacesAnUnknownSize() {
    assertEquals(0, progress(0.5f, -1).bytesDone);
    counters.findCounter(TaskCounter.INPUT_SPLIT_LENGTH_BYTES).setValue(80);
    assertEquals(40, progress(0.5f, -1).bytesDone);
  }

  @Test
  public void readingCountersAddsNone() {
    final int before = counters.countCounters();
    progress(0.5f, -1);
    assertEquals(before, counters.countCounters());
  }
}
