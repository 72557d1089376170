package org.tidemark.hadoop;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * What a map task may spend on reading its output again: so much of its thread's processor time, so
 * that a machine that is busy with others does not eat it up, and a few times that by the clock, for
 * disks that are slow. Belongs to the thread that made it.
 */
final class ScanBudget {
  private static final int WALL_FACTOR = 4;

  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private final boolean knowsProcessorTime = threads.isCurrentThreadCpuTimeSupported();
  private final long nanos;
  private final long wallEndNanos;
  private final long startNanos;

  ScanBudget(long nanos) {
    this.nanos = nanos;
    wallEndNanos = System.nanoTime() + (knowsProcessorTime ? WALL_FACTOR * nanos : nanos);
    startNanos = now();
  }

  boolean isSpent() {
    return leftNanos() <= 0 || System.nanoTime() - wallEndNanos >= 0;
  }

  /** Of the thread's processor time, where that is known. */
  long spentNanos() {
    return now() - startNanos;
  }

  long leftNanos() {
    return nanos - spentNanos();
  }

  private long now() {
    return knowsProcessorTime ? threads.getCurrentThreadCpuTime() : System.nanoTime();
  }
}
