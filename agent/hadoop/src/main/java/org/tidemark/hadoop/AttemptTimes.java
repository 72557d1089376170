package org.tidemark.hadoop;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import org.tidemark.jvm.profile.CollectionTime;
import org.tidemark.jvm.profile.ProcessorTime;
import org.tidemark.jvm.profile.ProcessorWatch;
import org.tidemark.jvm.wire.TimeUse;

/**
 * Measures for how long a task attempt used processors, waited for a processor, and waited for
 * garbage collection. Created on the task's thread; read by one thread at a time.
 *
 * <p>If the process runs only this attempt, the times include the start of the process and all
 * threads of Hadoop, the JVM and the job. If tasks share the process, the times include only the
 * task's thread, from construction on.
 */
final class AttemptTimes {
  private static final long NANOS_PER_MICRO = 1_000;
  private static final long MICROS_PER_MILLI = 1_000;

  /** Null if the process runs only this attempt. */
  private final ThreadMXBean threads;
  private final long thread = Thread.currentThread().getId();
  private final ProcessorWatch processor = ProcessorWatch.ofThisThread(System.nanoTime());
  private final long usedBefore;
  private final long waitedBefore;
  private final long collectedBefore;

  AttemptTimes(boolean ownsProcess) {
    threads = ownsProcess ? null : ManagementFactory.getThreadMXBean();
    usedBefore = ownsProcess ? 0 : usedNanos();
    waitedBefore = ownsProcess ? 0 : processor.waitedNanosSinceItBegan();
    collectedBefore = ownsProcess ? 0 : CollectionTime.millis();
  }

  TimeUse read() {
    final TimeUse time = new TimeUse();
    time.cpuMicros = microsSince(usedBefore, usedNanos());
    time.processorWaitMicros = microsSince(waitedBefore, processor.waitedNanosSinceItBegan());
    time.memoryWaitMicros =
        Math.max(0, CollectionTime.millis() - collectedBefore) * MICROS_PER_MILLI;
    return time;
  }

  private long usedNanos() {
    if (threads == null) {
      return ProcessorTime.ofProcessNanos();
    }
    return threads.isThreadCpuTimeSupported() ? threads.getThreadCpuTime(thread) : -1;
  }

  /** Returns a negative number if one of the values is unknown. */
  private static long microsSince(long beforeNanos, long nowNanos) {
    return beforeNanos < 0 || nowNanos < 0
        ? -1
        : Math.max(0, nowNanos - beforeNanos) / NANOS_PER_MICRO;
  }
}
