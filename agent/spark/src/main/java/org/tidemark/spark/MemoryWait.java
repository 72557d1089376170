package org.tidemark.spark;

import java.lang.management.ThreadInfo;

/**
 * Estimates how long a thread waited for execution memory from one sample per second. The JVM
 * reports a thread's total wait, but the cause of its current wait only. Not thread-safe.
 */
final class MemoryWait {
  /** Tasks that wait for memory block on objects of this package. */
  private static final String MEMORY_MANAGER = "org.apache.spark.memory.";

  private long waitedMillisBefore;
  private boolean didWait;
  private long millis;

  /** {@code thread} is null if it is unknown. */
  MemoryWait(ThreadInfo thread) {
    waitedMillisBefore = thread == null ? 0 : thread.getWaitedTime();
  }

  /** Returns the wait until the sample {@code thread}, which is null if the thread has ended. */
  long millisUntil(ThreadInfo thread) {
    if (thread != null) {
      sample(
          thread.getWaitedTime(), String.valueOf(thread.getLockName()).startsWith(MEMORY_MANAGER));
    }
    return millis;
  }

  /**
   * Adds the wait since the last sample if the thread waits for memory now or did so at the last
   * sample. In the latter case, that wait ended in between.
   */
  long sample(long waitedMillis, boolean waits) {
    if (waitedMillis >= 0) {  // negative if the JVM does not count
      if (waits || didWait) {
        millis += Math.max(0, waitedMillis - Math.max(0, waitedMillisBefore));
      }
      didWait = waits;
      waitedMillisBefore = waitedMillis;
    }
    return millis;
  }
}
