package org.tidemark.spark;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import org.apache.spark.sql.FakeMetric;
import org.junit.Test;
import org.tidemark.jvm.wire.Attempt;
import org.tidemark.jvm.wire.HeartbeatUpdate;

public class InputDoneTest {
  private static final int STAGE = 4;
  private static final boolean SHUFFLE = true;

  private final RowsFromPython python = new RowsFromPython();

  private InputDone task() {
    return new InputDone(STAGE, python);
  }

  private static HeartbeatUpdate read(long records) {
    final HeartbeatUpdate update = new HeartbeatUpdate(new Attempt(STAGE, 0, 1, 0));
    update.recordsDone = records;
    update.bytesDone = 10 * records;
    return update;
  }

  private static HeartbeatUpdate heartbeat(
      InputDone task, HeartbeatUpdate update, boolean isShuffle, Operators operators) {
    task.report(update, isShuffle, operators, 1_000);
    return update;
  }

  private static Operators operators(Object... metrics) throws Exception {
    return Operators.of(Arrays.asList(metrics), new Members());
  }

  private static Operators python(long rows) throws Exception {
    return operators(
        new FakeMetric(1, "data sent to Python workers", 0),
        new FakeMetric(3, "number of output rows", rows));
  }

  @Test
  public void isTheInputReadByStreamingOperators() throws Exception {
    for (boolean isShuffle : new boolean[] {false, true}) {
      final HeartbeatUpdate update =
          heartbeat(task(), read(100), isShuffle, operators(new FakeMetric(1, "duration", 0)));
      assertFalse(update.isInputReadFirst);
      assertEquals(100, update.recordsDone);
    }
    assertFalse(heartbeat(task(), read(100), !SHUFFLE, operators()).isInputReadFirst);
  }

  @Test
  public void isUnknownIfAllInputIsReadBeforeTheFirstResult() throws Exception {
    final Operators sort = operators(new FakeMetric(1, "sort time", 0));
    assertTrue(heartbeat(task(), read(0), !SHUFFLE, sort).isInputReadFirst);
    assertTrue("an RDD's", heartbeat(task(), read(0), SHUFFLE, operators()).isInputReadFirst);
    assertTrue("not known", heartbeat(task(), read(100), !SHUFFLE, null).isInputReadFirst);
  }

  @Test
  public void isTheOutputOfPythonOnceATaskHasMeasuredIt() throws Exception {
    final InputDone first = task();
    assertTrue(heartbeat(first, read(100), SHUFFLE, python(20)).isInputReadFirst);
    python.came(STAGE + 1, 1, 1, 0);
    python.came(STAGE, 100, 50, 0.1);  // a filter
    assertTrue("stays so", heartbeat(first, read(100), SHUFFLE, python(30)).isInputReadFirst);
    final InputDone second = task();
    HeartbeatUpdate update = heartbeat(second, read(0), SHUFFLE, python(0));
    assertFalse(update.isInputReadFirst);
    assertEquals(0, update.recordsDone);
    update = heartbeat(second, read(100), SHUFFLE, python(20));
    assertFalse(update.isInputReadFirst);
    assertEquals(40, update.recordsDone);
    assertEquals(400, update.bytesDone);
    python.came(STAGE, 100, 100, 0.1);
    assertEquals(
        "never less than before", 60, heartbeat(second, read(100), SHUFFLE, python(30)).recordsDone);
    assertEquals("nor more", 100, heartbeat(second, read(100), SHUFFLE, python(70)).recordsDone);
  }

  @Test
  public void isUnknownForPythonWithFewBatchesOrWithoutSamples() throws Exception {
    final InputDone first = task();
    for (int second = 1; second < 10; ++second) {
      first.report(read(100), SHUFFLE, python(0), second);
    }
    first.finished(100, python(100), 10);
    assertTrue(heartbeat(task(), read(100), SHUFFLE, python(0)).isInputReadFirst);
    task().finished(100, python(100), 10);
    assertTrue(heartbeat(task(), read(100), SHUFFLE, python(0)).isInputReadFirst);
    for (int other = 0; other < 9; ++other) {
      final InputDone even = task();
      for (int second = 1; second < 10; ++second) {
        even.report(read(100), SHUFFLE, python(10 * second), second);
      }
      even.finished(100, python(100), 10);
    }
    assertFalse(heartbeat(task(), read(100), SHUFFLE, python(0)).isInputReadFirst);
  }
}
