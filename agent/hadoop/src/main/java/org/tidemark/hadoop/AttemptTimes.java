package org.tidemark.hadoop;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import org.tidemark.jvm.profile.CollectionTime;
import org.tidemark.jvm.profile.ProcessorTime;
import org.tidemark.jvm.profile.ProcessorWatch;
import org.tidemark.jvm.wire.TimeUse;

/**
 * For how long a task attempt used processors, waited for one, and waited for garbage to be
 * collected. Made on the task's thread; looked at on one thread at a time.
 *
 * <p>A process that is the attempt's own counts from its start on, its processor time with all
 * threads: those of Hadoop, of the JVM, and those that the job's own code starts. Of one that tasks
 * share, that of the task's thread counts, from here on.
 */
final class AttemptTimes {
  private static final long NANOS_PER_MICRO = 1_000;
  private static final long MICROS_PER_MILLI = 1_000;

  /** Null: the process is the attempt's own. */
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

  /** Below zero: one of them is not known. */
  private static long microsSince(long beforeNanos, long nowNanos) {
    return beforeNanos < 0 || nowNanos < 0
        ? -1
        : Math.max(0, nowNanos - beforeNanos) / NANOS_PER_MICRO;
  }
}
