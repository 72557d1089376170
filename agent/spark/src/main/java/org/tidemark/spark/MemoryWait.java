package org.tidemark.spark;

import java.lang.management.ThreadInfo;

/**
 * How long a thread waited for execution memory, from what it is seen to do once a second: a thread
 * says how long it has waited in all, but only what it waits for now. Not thread-safe.
 */
final class MemoryWait {
  /** Those whose tasks wait for memory wait for this. */
  private static final String MEMORY_MANAGER = "org.apache.spark.memory.";

  private long waitedMillisBefore;
  private boolean didWait;
  private long millis;

  /** {@code thread}: null: not known. */
  MemoryWait(ThreadInfo thread) {
    waitedMillisBefore = thread == null ? 0 : thread.getWaitedTime();
  }

  /** Until {@code thread} was looked at; null: it has ended. */
  long millisUntil(ThreadInfo thread) {
    if (thread != null) {
      look(
          thread.getWaitedTime(), String.valueOf(thread.getLockName()).startsWith(MEMORY_MANAGER));
    }
    return millis;
  }

  /**
   * What it waited since the last look was for memory if it waits for that now, or did then: that
   * wait ended in between.
   */
  long look(long waitedMillis, boolean waits) {
    if (waitedMillis >= 0) { // else nobody counts
      if (waits || didWait) {
        millis += Math.max(0, waitedMillis - Math.max(0, waitedMillisBefore));
      }
      didWait = waits;
      waitedMillisBefore = waitedMillis;
    }
    return millis;
  }
}
