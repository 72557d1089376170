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
  private final long wallEndNanos;
  private final long processorEndNanos;

  ScanBudget(long nanos) {
    final long wallNanos = knowsProcessorTime ? WALL_FACTOR * nanos : nanos;
    wallEndNanos = System.nanoTime() + wallNanos;
    processorEndNanos = knowsProcessorTime ? threads.getCurrentThreadCpuTime() + nanos : 0;
  }

  boolean isSpent() {
    return System.nanoTime() - wallEndNanos >= 0
        || knowsProcessorTime && threads.getCurrentThreadCpuTime() - processorEndNanos >= 0;
  }
}
