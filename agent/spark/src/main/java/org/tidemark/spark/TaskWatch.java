package org.tidemark.spark;

import java.lang.management.ThreadMXBean;
import org.apache.spark.TaskContext;
import org.apache.spark.executor.TaskMetrics;
import org.tidemark.jvm.profile.CollectionTime;
import org.tidemark.jvm.profile.ProcessorWatch;
import org.tidemark.jvm.transport.Sender;
import org.tidemark.jvm.wire.Attempt;
import org.tidemark.jvm.wire.Event;
import org.tidemark.jvm.wire.Events;
import org.tidemark.jvm.wire.HeartbeatNews;
import org.tidemark.jvm.wire.TimeUse;

/**
 * How far a task is, and what it waited for. Made on the task's thread; looked at on one thread at a
 * time.
 */
final class TaskWatch implements Sender.Reporter {
  private static final long NANOS_PER_MICRO = 1_000;
  private static final long MICROS_PER_MILLI = 1_000;

  private boolean hasFinished;

  private final Members members;
  private final ThreadMXBean threads;
  final Attempt attempt;
  /** Its number in the application. */
  final long task;
  private final TaskMetrics metrics;
  private final InputDone input;
  private final long thread = Thread.currentThread().getId();
  private final ProcessorWatch processor;
  private final long startNanos = System.nanoTime();
  private final long cpuNanosBefore;
  private final long collectionMillisBefore = CollectionTime.millis();
  private final MemoryWait memory;
  private long cpuNanos;
  /** What else ends with the task; null: nothing. Belongs to the task's thread. */
  private Runnable atEnd;

  TaskWatch(TaskContext task, Members members, ThreadMXBean threads, RowsFromPython python) {
    this.members = members;
    this.threads = threads;
    this.task = task.taskAttemptId();
    attempt =
        new Attempt(
            task.stageId(), task.stageAttemptNumber(), task.partitionId(), task.attemptNumber());
    metrics = task.taskMetrics();
    input = new InputDone(attempt.stage, python);
    processor = ProcessorWatch.ofThisThread(startNanos);
    cpuNanosBefore = threads.getThreadCpuTime(thread);
    memory = new MemoryWait(threads.getThreadInfo(thread));
  }

  @Override
  public Event report() {
    // Until the task ends, what it fetched is counted elsewhere.
    metrics.mergeShuffleReadMetrics();
    final HeartbeatNews news = new HeartbeatNews(attempt);
    addRead(news);
    news.bytesEmitted = emitted();
    addWaits(news.time);
    return Events.heartbeat(news);
  }

  /** What the task has written so far. bytes */
  long emitted() {
    return metrics.outputMetrics().bytesWritten() + metrics.shuffleWriteMetrics().bytesWritten();
  }

  /** How many bytes of the shuffle there were for each record. */
  double bytesPerRecord() {
    metrics.mergeShuffleReadMetrics();
    final long records = metrics.shuffleReadMetrics().recordsRead();
    return records == 0 ? 0 : (double) metrics.shuffleReadMetrics().totalBytesRead() / records;
  }

  /** The key groups of the task end with it. */
  void endWith(Runnable keyGroups) {
    atEnd = keyGroups;
  }

  void endKeyGroups() {
    if (atEnd != null) {
      atEnd.run();
    }
  }

  /** The task has finished. A last report may be under way, under this monitor too. */
  synchronized void finished() {
    hasFinished = true;
    input.finished(recordsRead(), operators(), System.nanoTime() - startNanos);
  }

  private void addRead(HeartbeatNews news) {
    final long shuffled = metrics.shuffleReadMetrics().totalBytesRead();
    news.bytesDone = metrics.inputMetrics().bytesRead() + shuffled;
    news.recordsDone = recordsRead();
    if (hasFinished) {
      return;
    }
    input.tell(news, shuffled > 0, operators(), System.nanoTime() - startNanos);
  }

  private long recordsRead() {
    return metrics.inputMetrics().recordsRead() + metrics.shuffleReadMetrics().recordsRead();
  }

  /** Null: not known. */
  private Operators operators() {
    try {
      return Operators.of(metrics, members);
    } catch (ReflectiveOperationException notTold) {
      return null;
    }
  }

  private void addWaits(TimeUse time) {
    final long cpu = threads.getThreadCpuTime(thread);
    if (cpu >= 0 && cpuNanosBefore >= 0) {
      cpuNanos = Math.max(cpuNanos, cpu - cpuNanosBefore);
      time.cpuMicros = cpuNanos / NANOS_PER_MICRO;
    }
    final ProcessorWatch.Use use = processor.read(System.nanoTime());
    if (use != null) {
      time.processorWaitMicros = use.waitedNanos / NANOS_PER_MICRO;
    }
    time.memoryWaitMicros =
        (memory.millisUntil(threads.getThreadInfo(thread))
                + CollectionTime.millis()
                - collectionMillisBefore)
            * MICROS_PER_MILLI;
    time.networkWaitMicros = metrics.shuffleReadMetrics().fetchWaitTime() * MICROS_PER_MILLI;
    time.ioWaitMicros = metrics.shuffleWriteMetrics().writeTime() / NANOS_PER_MICRO;
    time.networkBytes = metrics.shuffleReadMetrics().remoteBytesRead();
    time.ioBytes = metrics.shuffleWriteMetrics().bytesWritten();
  }
}
