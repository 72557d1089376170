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
 * Tells how far the tasks of an executor are, once a second and when they end: {@link TaskWatch}.
 * Connects with the first task. The calls at a task's start and end come on its own thread.
 */
final class ExecutorHalf implements ExecutorPlugin {
  /** Room for what some minutes of sixteen tasks make known. bytes */
  private static final long BUFFER_BYTES_MAX = 2 << 20;
  /** What an executor may wait at its end for its last words to arrive. */
  private static final long LAST_WORDS_NANOS = 200_000_000L;

  private final Log log = Settings.newLog();
  private final Guard guard = new Guard(log);
  private final Members members = new Members();
  private final RowsFromPython python = new RowsFromPython();
  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private final Map<Thread, TaskWatch> tasks = new ConcurrentHashMap<>();

  private PluginContext context;
  private SparkConf conf;
  private String executor;
  private Map<String, String> told;
  /** Ours to turn off again. */
  private boolean monitorsContention;
  private volatile boolean keys;
  /** Null: not known yet. */
  private volatile MapOutputs outputs;
  // Guarded by this.
  private boolean isSetUp;
  private boolean isAsked;
  private Sender sender;

  @Override
  public void init(PluginContext context, Map<String, String> told) {
    try {
      this.context = context;
      conf = context.conf();
      executor = context.executorID();
      this.told = told;
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
        // Not before: from Spark 4.0 on there is no shuffle manager until the first task.
        if (isFirst()) {
          lookAtShuffles(open);
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

  private void lookAtShuffles(Sender open) throws IllegalAccessException {
    outputs = new MapOutputs(SparkEnv.get(), members);
    if (keys) {
      ShuffleTap.install(SparkEnv.get(), new KeyGroups(open, guard, this::watchOfThisTask));
    }
  }

  /** Null: it does not report. */
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

  /** Says a last time how far the task was, and waits for nobody. */
  private void endTask(boolean succeeded) {
    try {
      final TaskWatch watch = tasks.remove(Thread.currentThread());
      if (watch != null && !guard.isOff()) {
        sender().endReports(watch);
        watch.endKeyGroups();
        if (succeeded) {
          watch.finished();
          tellOutput(watch);
        }
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  /** To the driver, before it hears that the task has finished. */
  private void tellOutput(TaskWatch watch) {
    final MapOutputs known = outputs;
    try {
      final long[] written =
          known == null ? null : known.writtenBy(watch.attempt.stage, watch.task);
      if (written != null) {
        context.send(written);
      }
    } catch (IOException | ReflectiveOperationException | RuntimeException notToBeHad) {
      // The driver knows what Spark tells it.
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
        open.stop(LAST_WORDS_NANOS);
      }
      if (monitorsContention) {
        threads.setThreadContentionMonitoringEnabled(false);
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  /** Null: nothing is reported. */
  private synchronized Sender sender() {
    if (!isAsked) {
      isAsked = true;
      try {
        final Settings settings = Settings.of(conf::get, told);
        // In local mode this is made before the application has its id.
        final String application = conf.get("spark.app.id", "");
        // Nothing was told where the driver's half is off.
        if (settings != null && !application.isEmpty() && !told.isEmpty()) {
          sender =
              settings.open("executor-" + executor, application, BUFFER_BYTES_MAX, log, guard);
          keys = settings.keys;
          monitorContention();
        }
      } catch (IllegalArgumentException | IOException wrong) {
        log.warn("tasks do not report: " + Reasons.of(wrong) + "; they are not affected");
      }
    }
    return sender;
  }

  /** Only then do threads say how long they waited for memory. */
  private void monitorContention() {
    if (threads.isThreadContentionMonitoringSupported()
        && !threads.isThreadContentionMonitoringEnabled()) {
      threads.setThreadContentionMonitoringEnabled(true);
      monitorsContention = true;
    }
  }
}
