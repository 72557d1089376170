package org.tidemark.spark;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskFailedReason;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.tidemark.jvm.guard.Guard;
import org.tidemark.jvm.guard.Log;
import org.tidemark.jvm.guard.Reasons;
import org.tidemark.jvm.transport.Sender;

/**
 * Reports the progress of an executor's tasks once a second and at their end ({@link TaskWatch}).
 * Connects at the first task. Spark calls the start and end methods on the task's own thread.
 */
final class ExecutorHalf implements ExecutorPlugin {
  /** Holds a few minutes of events of sixteen tasks, in bytes. */
  private static final long BUFFER_BYTES_MAX = 2 << 20;
  /** Longest wait for the delivery of the last events at the end of an executor. */
  private static final long FINAL_WAIT_NANOS = 200_000_000L;

  private final Log log = Settings.newLog();
  private final Guard guard = new Guard(log);
  private final Members members = new Members();
  private final RowsFromPython python = new RowsFromPython();
  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private final Map<Thread, TaskWatch> tasks = new ConcurrentHashMap<>();

  private PluginContext context;
  private SparkConf conf;
  private String executor;
  private Map<String, String> fromDriver;
  /** True if this plug-in turned on contention monitoring and must turn it off. */
  private boolean monitorsContention;
  private volatile boolean keys;
  /** Null until it is known. */
  private volatile MapOutputs outputs;
  // Guarded by this.
  private boolean isSetUp;
  private boolean isAsked;
  private Sender sender;

  @Override
  public void init(PluginContext context, Map<String, String> fromDriver) {
    try {
      this.context = context;
      conf = context.conf();
      executor = context.executorID();
      this.fromDriver = fromDriver;
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  @Override
  public void onTaskStart() {
    try {
      if (guard.isOff()) {
        return;
      }
      final Sender open = sender();
      final TaskContext task = TaskContext.get();
      if (open != null && task != null) {
        final TaskWatch watch = new TaskWatch(task, members, threads, python);
        tasks.put(Thread.currentThread(), watch);
        open.startReports(watch);
        // Polls only now, since Spark 4.0 and later create the shuffle manager at the first task.
        if (isFirst()) {
          pollShuffles(open);
        }
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  private synchronized boolean isFirst() {
    final boolean first = !isSetUp;
    isSetUp = true;
    return first;
  }

  private void pollShuffles(Sender open) throws IllegalAccessException {
    outputs = new MapOutputs(SparkEnv.get(), members);
    if (keys) {
      ShuffleTap.install(SparkEnv.get(), new KeyGroups(open, guard, this::watchOfThisTask));
    }
  }

  /** Returns null for a task that does not report. */
  private TaskWatch watchOfThisTask() {
    return tasks.get(Thread.currentThread());
  }

  @Override
  public void onTaskSucceeded() {
    endTask(true);
  }

  @Override
  public void onTaskFailed(TaskFailedReason reason) {
    endTask(false);
  }

  /** Sends the last progress of the task. Does not block. */
  private void endTask(boolean succeeded) {
    try {
      final TaskWatch watch = tasks.remove(Thread.currentThread());
      if (watch != null && !guard.isOff()) {
        sender().endReports(watch);
        watch.endKeyGroups();
        if (succeeded) {
          watch.finished();
          reportOutput(watch);
        }
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  /**
   * Sends the sizes of a map output to the driver, before Spark reports to the driver that the task
   * has finished.
   */
  private void reportOutput(TaskWatch watch) {
    final MapOutputs known = outputs;
    try {
      final long[] written =
          known == null ? null : known.writtenBy(watch.attempt.stage, watch.task);
      if (written != null) {
        context.send(written);
      }
    } catch (IOException | ReflectiveOperationException | RuntimeException notToBeHad) {
      // If the sizes do not arrive, the driver uses Spark's own sizes.
    }
  }

  @Override
  public void shutdown() {
    try {
      final Sender open;
      synchronized (this) {
        isAsked = true;
        open = sender;
      }
      if (open != null) {
        open.stop(FINAL_WAIT_NANOS);
      }
      if (monitorsContention) {
        threads.setThreadContentionMonitoringEnabled(false);
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  /** Returns null if nothing is reported. */
  private synchronized Sender sender() {
    if (!isAsked) {
      isAsked = true;
      try {
        final Settings settings = Settings.of(conf::get, fromDriver);
        // In local mode, this object is created before the application has its id.
        final String application = conf.get("spark.app.id", "");
        // The settings are empty if the driver's half is off.
        if (settings != null && !application.isEmpty() && !fromDriver.isEmpty()) {
          sender =
              settings.open("executor-" + executor, application, BUFFER_BYTES_MAX, log, guard);
          keys = settings.keys;
          monitorContention();
        }
      } catch (IllegalArgumentException | IOException wrong) {
        log.warn("cannot report the progress of tasks: " + Reasons.of(wrong) + "; the tasks themselves are not affected");
      }
    }
    return sender;
  }

  /** Threads measure their waits for memory only if this option is set. */
  private void monitorContention() {
    if (threads.isThreadContentionMonitoringSupported()
        && !threads.isThreadContentionMonitoringEnabled()) {
      threads.setThreadContentionMonitoringEnabled(true);
      monitorsContention = true;
    }
  }
}
