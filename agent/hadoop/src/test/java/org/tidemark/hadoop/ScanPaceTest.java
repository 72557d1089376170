package org.tidemark.hadoop;

import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import org.junit.Before;
import org.junit.Test;

public class ScanPaceTest {
  private static final long BUDGET = 300_000_000;
  private static final long PERCENT = BUDGET / 100;

  private final ScanPace pace = new ScanPace();

  @Before
  public void begin() {
    pace.begin();
  }

  private boolean goesOn(long partitionBytes, long doneBytes, long percentSpent) {
    return pace.isWorthGoingOn(partitionBytes, doneBytes, percentSpent * PERCENT, BUDGET);
  }

  @Test
  public void aPartitionIsBegunAsLongAsNothingIsKnown() {
    assertTrue(pace.isWorthBeginning(Long.MAX_VALUE, BUDGET));
  }

  @Test
  public void aPartitionThatTakesThriceTheTimeLeftIsGivenUpEarly() {
    assertTrue(goesOn(900, 15, 5));
    assertTrue(goesOn(900, 30, 10));
    assertFalse(goesOn(900, 60, 20));
  }

  @Test
  public void aPartitionThatMayJustFitIsReadToTheEnd() {
    assertTrue(goesOn(900, 180, 20));
    assertTrue(goesOn(900, 899, 99));
  }

  @Test
  public void aSlowStartIsNotHeldAgainstAPartition() {
    assertTrue(goesOn(900, 1, 9));
    assertTrue(goesOn(900, 101, 20));
  }

  @Test
  public void aPartitionOfWhichNothingIsReadIsGivenUp() {
    assertTrue(goesOn(900, 0, 9));
    assertFalse(goesOn(900, 0, 20));
  }

  @Test
  public void whatWasGivenUpTeachesToLeaveItsLikeAlone() {
    assertTrue(goesOn(900, 10, 9));
    pace.end(43, 20 * PERCENT);
    assertFalse(pace.isWorthBeginning(900, BUDGET));
    assertTrue("one that is small enough", pace.isWorthBeginning(300, BUDGET));
  }

  @Test
  public void bytesBeyondWhatALongCanMultiplyAreNoTrouble() {
    pace.end(1L << 40, 1L << 40);
    assertFalse(pace.isWorthBeginning(1L << 50, 1L << 40));
    assertTrue(pace.isWorthBeginning(1L << 30, 1L << 40));
  }
}
