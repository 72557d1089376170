package org.tidemark.spark;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class MemoryWaitTest {
  private static final boolean FOR_MEMORY = true;

  private final MemoryWait wait = new MemoryWait(null);

  @Test
  public void includesTheCurrentWaitForMemory() {
    assertEquals(0, wait.sample(500, !FOR_MEMORY));
    assertEquals(900, wait.sample(1_400, FOR_MEMORY));
    assertEquals(1_900, wait.sample(2_400, FOR_MEMORY));
  }

  @Test
  public void taskEndsBetweenTwoPolls() {
    wait.sample(1_000, FOR_MEMORY);
    assertEquals(1_300, wait.sample(1_300, !FOR_MEMORY));
    assertEquals("others are not for memory", 1_300, wait.sample(2_300, !FOR_MEMORY));
  }

  @Test
  public void isUnknownWithoutCounters() {
    assertEquals(0, wait.sample(-1, FOR_MEMORY));
    assertEquals(0, wait.millisUntil(null));
  }
}
