package org.tidemark.spark;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class MemoryWaitTest {
  private static final boolean FOR_MEMORY = true;

  private final MemoryWait wait = new MemoryWait(null);

  @Test
  public void isWhatWasWaitedWhileMemoryIsWaitedFor() {
    assertEquals(0, wait.look(500, !FOR_MEMORY));
    assertEquals(900, wait.look(1_400, FOR_MEMORY));
    assertEquals(1_900, wait.look(2_400, FOR_MEMORY));
  }

  @Test
  public void endsBetweenTwoLooks() {
    wait.look(1_000, FOR_MEMORY);
    assertEquals(1_300, wait.look(1_300, !FOR_MEMORY));
    assertEquals("others are not for memory", 1_300, wait.look(2_300, !FOR_MEMORY));
  }

  @Test
  public void isNotKnownWhereNobodyCounts() {
    assertEquals(0, wait.look(-1, FOR_MEMORY));
    assertEquals(0, wait.millisUntil(null));
  }
}
