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
import org.tidemark.jvm.wire.HeartbeatUpdate;
import org.tidemark.jvm.wire.TimeUse;

/** The progress and waits of a task. Created on the task's thread; read by one thread at a time. */
final class TaskWatch implements Sender.Reporter {
  private static final long NANOS_PER_MICRO = 1_000;
  private static final long MICROS_PER_MILLI = 1_000;

  private boolean hasFinished;

  private final Members members;
  private final ThreadMXBean threads;
  final Attempt attempt;
  /** The task's number in the application. */
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
  private long scanWaitMicros;
  /** Called when the task ends. May be null. Belongs to the task's thread. */
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
    // Before the task ends, Spark counts fetched data elsewhere.
    metrics.mergeShuffleReadMetrics();
    final HeartbeatUpdate update = new HeartbeatUpdate(attempt);
    addRead(update);
    update.bytesEmitted = emitted();
    addWaits(update.time);
    return Events.heartbeat(update);
  }

  /** Returns the number of bytes that the task has written so far. */
  long emitted() {
    return metrics.outputMetrics().bytesWritten() + metrics.shuffleWriteMetrics().bytesWritten();
  }

  /** Returns the mean number of shuffle bytes per record. */
  double bytesPerRecord() {
    metrics.mergeShuffleReadMetrics();
    final long records = metrics.shuffleReadMetrics().recordsRead();
    return records == 0 ? 0 : (double) metrics.shuffleReadMetrics().totalBytesRead() / records;
  }

  /** Registers a function that ends the key groups together with the task. */
  void endWith(Runnable keyGroups) {
    atEnd = keyGroups;
  }

  void endKeyGroups() {
    if (atEnd != null) {
      atEnd.run();
    }
  }

  /**
   * Records that the task has finished. A last report, which also holds this monitor, may be in
   * progress.
   */
  synchronized void finished() {
    hasFinished = true;
    input.finished(recordsRead(), operators(), System.nanoTime() - startNanos);
  }

  private void addRead(HeartbeatUpdate update) {
    final long shuffled = metrics.shuffleReadMetrics().totalBytesRead();
    update.bytesDone = metrics.inputMetrics().bytesRead() + shuffled;
    update.recordsDone = recordsRead();
    if (hasFinished) {
      return;
    }
    input.report(update, shuffled > 0, operators(), System.nanoTime() - startNanos);
  }

  private long recordsRead() {
    return metrics.inputMetrics().recordsRead() + metrics.shuffleReadMetrics().recordsRead();
  }

  /** Returns null if unknown. */
  private Operators operators() {
    try {
      return Operators.of(metrics, members);
    } catch (ReflectiveOperationException unavailable) {
      return null;
    }
  }

  private void addWaits(TimeUse time) {
    final long elapsedMicros = (System.nanoTime() - startNanos) / NANOS_PER_MICRO;
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
    addScan(time, elapsedMicros);
  }

  /**
   * Adds the time for which the task waited for its input. Spark's time of a scan includes decoding,
   * so the wait is limited to the time for which the thread neither ran nor waited for anything else.
   */
  private void addScan(TimeUse time, long elapsedMicros) {
    final Operators operators = operators();
    if (operators == null
        || operators.scanMillis < 0
        || time.cpuMicros < 0
        || time.processorWaitMicros < 0) {
      return;
    }
    final long blockedMicros =
        elapsedMicros
            - time.cpuMicros
            - time.processorWaitMicros
            - time.memoryWaitMicros
            - time.networkWaitMicros
            - time.ioWaitMicros;
    scanWaitMicros =
        Math.max(scanWaitMicros, Math.min(operators.scanMillis * MICROS_PER_MILLI, blockedMicros));
    time.scanWaitMicros = scanWaitMicros;
    time.scanBytes = metrics.inputMetrics().bytesRead();
  }
}
