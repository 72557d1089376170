package org.tidemark.spark;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import org.apache.spark.sql.FakeMetric;
import org.junit.Test;

public class OperatorsTest {
  private static Operators of(Object... accumulators) throws Exception {
    return Operators.of(Arrays.asList(accumulators), new Members());
  }

  @Test
  public void areReportedOnlyForSql() throws Exception {
    assertFalse(of("an accumulator of the application's").areThere);
    assertTrue(of(new FakeMetric(7, "duration", 0)).areThere);
    assertTrue(of(new FakeMetric(7, null, 0)).areThere);
  }

  @Test
  public void sortReportsItsDuration() throws Exception {
    assertFalse(of(new FakeMetric(7, "duration", 0)).sort);
    assertTrue(of(new FakeMetric(7, "duration", 0), new FakeMetric(9, "sort time", 0)).sort);
  }

  @Test
  public void timesOfScansAreAddedUp() throws Exception {
    assertTrue(of(new FakeMetric(7, "duration", 5)).scanMillis < 0);
    assertEquals(
        30,
        of(
                new FakeMetric(7, "scan time", 10),
                new FakeMetric(9, "scan time", -1),
                new FakeMetric(12, "scan time", 20))
            .scanMillis);
  }

  @Test
  public void rowsReturnedByPythonAreSeparateFromOthers() throws Exception {
    assertTrue(of(new FakeMetric(7, "number of output rows", 5)).rowsFromPython < 0);
    assertEquals(
        30,
        of(
                new FakeMetric(12, "number of output rows", 10),  // rows from Python
                new FakeMetric(7, "number of output rows", 5),
                new FakeMetric(10, "data sent to Python workers", 500),
                new FakeMetric(11, "data returned from Python workers", 100),
                new FakeMetric(13, "number of output rows", 5),
                new FakeMetric(20, "data sent to Python workers", 400),
                new FakeMetric(25, "number of output rows", 20))
            .rowsFromPython);
  }
}
