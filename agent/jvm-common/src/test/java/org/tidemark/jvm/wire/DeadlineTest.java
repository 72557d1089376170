package org.tidemark.jvm.wire;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import org.junit.Test;

public final class DeadlineTest {
  @Test
  public void isATimeSince1970() {
    assertEquals(1_800_000, Deadline.millis("d", "1970-01-01T01:30:00+01:00"));
    assertEquals(1_800_000, Deadline.millis("d", " 1970-01-01T00:30:00Z "));
  }

  @Test
  public void isEmptyWithoutAReason() {
    assertEquals(0, Deadline.millis("d", ""));
    assertEquals(0, Deadline.millis("d", null));
  }

  @Test
  public void rejectsInvalidTimes() {
    for (String bad : new String[] {"07:30", "2h", "tomorrow", "2026-11-26", "2026-11-26T07:30:00"}) {
      final Exception refused =
          assertThrows(
              IllegalArgumentException.class, () -> Deadline.millis("spark.tidemark.deadline", bad));
      assertTrue(refused.getMessage().startsWith("spark.tidemark.deadline is not a time such as"));
    }
  }
}
