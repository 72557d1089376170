package org.tidemark.spark;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import org.apache.spark.sql.FakeMetric;
import org.junit.Test;
import org.tidemark.jvm.wire.Attempt;
import org.tidemark.jvm.wire.HeartbeatNews;

public class InputDoneTest {
  private static final int STAGE = 4;
  private static final boolean SHUFFLE = true;

  private final RowsFromPython python = new RowsFromPython();

  private InputDone task() {
    return new InputDone(STAGE, python);
  }

  private static HeartbeatNews read(long records) {
    final HeartbeatNews news = new HeartbeatNews(new Attempt(STAGE, 0, 1, 0));
    news.recordsDone = records;
    news.bytesDone = 10 * records;
    return news;
  }

  private static HeartbeatNews told(
      InputDone task, HeartbeatNews news, boolean isShuffle, Operators operators) {
    task.tell(news, isShuffle, operators, 1_000);
    return news;
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
  public void isWhatWasReadWhereRecordsAreDoneWithAsTheyAreRead() throws Exception {
    for (boolean isShuffle : new boolean[] {false, true}) {
      final HeartbeatNews news =
          told(task(), read(100), isShuffle, operators(new FakeMetric(1, "duration", 0)));
      assertFalse(news.isInputReadFirst);
      assertEquals(100, news.recordsDone);
    }
    assertFalse(told(task(), read(100), !SHUFFLE, operators()).isInputReadFirst);
  }

  @Test
  public void isNotToldWhereAllIsReadBeforeTheFirstResultFromTheFirstReportOn() throws Exception {
    final Operators sort = operators(new FakeMetric(1, "sort time", 0));
    assertTrue(told(task(), read(0), !SHUFFLE, sort).isInputReadFirst);
    assertTrue("an RDD's", told(task(), read(0), SHUFFLE, operators()).isInputReadFirst);
    assertTrue("not known", told(task(), read(100), !SHUFFLE, null).isInputReadFirst);
  }

  @Test
  public void isWhatHasComeBackFromPythonOnceATaskHasShownHowMuchThatIs() throws Exception {
    final InputDone first = task();
    assertTrue(told(first, read(100), SHUFFLE, python(20)).isInputReadFirst);
    python.came(STAGE + 1, 1, 1, 0);
    python.came(STAGE, 100, 50, 0.1); // a filter
    assertTrue("stays so", told(first, read(100), SHUFFLE, python(30)).isInputReadFirst);
    final InputDone second = task();
    HeartbeatNews news = told(second, read(0), SHUFFLE, python(0));
    assertFalse(news.isInputReadFirst);
    assertEquals(0, news.recordsDone);
    news = told(second, read(100), SHUFFLE, python(20));
    assertFalse(news.isInputReadFirst);
    assertEquals(40, news.recordsDone);
    assertEquals(400, news.bytesDone);
    python.came(STAGE, 100, 100, 0.1);
    assertEquals(
        "never less than before", 60, told(second, read(100), SHUFFLE, python(30)).recordsDone);
    assertEquals("nor more", 100, told(second, read(100), SHUFFLE, python(70)).recordsDone);
  }

  @Test
  public void isNotToldByPythonOfWhichItComesBackInAFewBatchesOrNobodyLooked() throws Exception {
    final InputDone first = task();
    for (int second = 1; second < 10; ++second) {
      first.tell(read(100), SHUFFLE, python(0), second);
    }
    first.finished(100, python(100), 10);
    assertTrue(told(task(), read(100), SHUFFLE, python(0)).isInputReadFirst);
    task().finished(100, python(100), 10);
    assertTrue(told(task(), read(100), SHUFFLE, python(0)).isInputReadFirst);
    for (int other = 0; other < 9; ++other) {
      final InputDone even = task();
      for (int second = 1; second < 10; ++second) {
        even.tell(read(100), SHUFFLE, python(10 * second), second);
      }
      even.finished(100, python(100), 10);
    }
    assertFalse(told(task(), read(100), SHUFFLE, python(0)).isInputReadFirst);
  }
}
