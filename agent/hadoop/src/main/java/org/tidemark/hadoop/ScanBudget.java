package org.tidemark.hadoop;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Limits the time that a map task may use to reread its output. One limit applies to the processor
 * time of the task's thread, which does not depend on other load. The limit of elapsed time is a
 * few times higher to allow for slow disks. Belongs to the thread that created it.
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
