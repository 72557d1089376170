package org.tidemark.hadoop;

import java.io.File;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.split.SplitMetaInfoReader;
import org.apache.hadoop.util.ShutdownHookManager;
import org.tidemark.jvm.transport.Sender;
import org.tidemark.jvm.wire.Attempt;
import org.tidemark.jvm.wire.AttemptUpdate;
import org.tidemark.jvm.wire.Events;

/**
 * A job of the LocalJobRunner, which has no application master. Its tasks report their own start
 * and end, and the last reduce task reports the end of the job.
 *
 * <p>The runner does not notify plug-ins if a reduce task or the job fails, but it removes the
 * job's directory when the job is over. The job ends with this process at the latest. If the runner
 * then still waits for tasks, the job was killed; otherwise it has failed. Thread-safe.
 */
final class LocalJob {
  private static final long END_POLL_MILLIS = 100;
  /** Longest wait for the delivery of the last events, at the end of the job or of its process. */
  private static final long FINAL_WAIT_NANOS = 200_000_000L;
  /** Longer than delivery takes, even on a busy machine. */
  private static final long WATCHER_LEAVES_MILLIS = 1_000;
  /** Runs before Hadoop's own hook, which may remove the jar of this class. */
  private static final int SHUTDOWN_PRIORITY = FileSystem.SHUTDOWN_HOOK_PRIORITY + 1;

  /** All tasks run in one process. */
  private static final int THIS_PROCESS = 0;

  private static final String ENDED_EARLY =
      "the job ended before all of its tasks had ended; see its client's log";

  private static final Map<JobID, LocalJob> RUNNING = new HashMap<>();

  private final JobID id;
  private final Sender sender;
  private final int reduceTasks;
  private final long finalWaitNanos;
  private final long[] splitBytes;
  private final File directory;
  private final Runnable onShutdown = this::endWithProcess;
  /** Null if the job's end cannot be observed. */
  private Thread watcher;

  // Guarded by this.
  private final Set<Attempt> running = new HashSet<>();
  private int reducesDone;
  private boolean isOver;
  private boolean isExecutorReported;

  private LocalJob(JobID id, JobConf job, Sender sender) {
    this.id = id;
    this.sender = sender;
    reduceTasks = job.getNumReduceTasks();
    finalWaitNanos = Link.finalWaitNanos(job, FINAL_WAIT_NANOS);
    splitBytes = splitBytes(id, job);
    directory = new File(new Path(job.get(MRJobConfig.MAPREDUCE_JOB_DIR)).toUri().getPath());
  }

  static LocalJob of(JobID id, JobConf job, Sender sender) {
    synchronized (RUNNING) {
      LocalJob known = RUNNING.get(id);
      if (known == null) {
        known = new LocalJob(id, job, sender);
        if (known.directory.exists()) {
          known.awaitEnd();
        }
        RUNNING.put(id, known);
      }
      return known;
    }
  }

  /**
   * Returns the length of each split in bytes by map task, or an empty array if it cannot be read.
   */
  static long[] splitBytes(JobID id, JobConf job) {
    try {
      final Path directory = new Path(job.get(MRJobConfig.MAPREDUCE_JOB_DIR));
      final FileSystem files = directory.getFileSystem(job);
      return Arrays.stream(
              SplitMetaInfoReader.readSplitMetaInfo(id, files, job, directory))
          .mapToLong(split -> split.getInputDataLength())
          .toArray();
    } catch (Exception notToBeHad) {
      return new long[0];
    }
  }

  synchronized void started(Attempt attempt) {
    if (!isExecutorReported) {
      isExecutorReported = true;
      sender.send(Events.executorOpened(THIS_PROCESS, "localhost", "", "", 0));
    }
    running.add(attempt);
    final AttemptUpdate update = updateOf(attempt, Events.State.STARTED);
    if (attempt.isMap() && attempt.index < splitBytes.length) {
      update.inputBytes = splitBytes[attempt.index];
    }
    sender.send(Events.attemptChanged(update));
  }

  void ended(Attempt attempt, boolean wentWell) {
    synchronized (this) {
      if (isOver) {
        return;
      }
      running.remove(attempt);
      sender.send(
          Events.attemptChanged(
              updateOf(attempt, wentWell ? Events.State.FINISHED : Events.State.FAILED)));
      if (attempt.isMap() || !wentWell || ++reducesDone < reduceTasks) {
        return;
      }
    }
    end(Events.Outcome.SUCCEEDED, "");
  }

  private void awaitEnd() {
    watcher = Connector.GUARD.thread("tidemark-local-job", this::watch);
    watcher.start();
    ShutdownHookManager.get().addShutdownHook(onShutdown, SHUTDOWN_PRIORITY);
  }

  private void watch() throws InterruptedException {
    while (directory.exists()) {
      if (isOverSoon()) {
        return;
      }
    }
    end(Events.Outcome.FAILED, ENDED_EARLY);
  }

  private synchronized boolean isOverSoon() throws InterruptedException {
    if (!isOver) {
      wait(END_POLL_MILLIS);
    }
    return isOver;
  }

  void endWithProcess() {
    try {
      if (Connector.GUARD.isOff()) {
        return;
      }
      if (directory.exists() && isRunnerWaitingForTasks()) {
        end(Events.Outcome.KILLED, "its process ended before the job");
      } else {
        end(Events.Outcome.FAILED, ENDED_EARLY);
      }
      // If the watcher observed the end first, its last events may still be in flight.
      watcher.join(
          Math.max(WATCHER_LEAVES_MILLIS, TimeUnit.NANOSECONDS.toMillis(finalWaitNanos)));
    } catch (Throwable ours) {
      Connector.GUARD.turnOff(ours);
    }
  }

  /**
   * Returns true if a runner in this process waits for its tasks. After a failure, a client may
   * exit before the runner removes the job's directory.
   */
  private static boolean isRunnerWaitingForTasks() {
    return Thread.getAllStackTraces().values().stream()
        .flatMap(Arrays::stream)
        .anyMatch(
            frame ->
                frame.getClassName().equals("org.apache.hadoop.mapred.LocalJobRunner$Job")
                    && frame.getMethodName().equals("runTasks"));
  }

  /** Only the first call reports. */
  private void end(Events.Outcome outcome, String message) {
    synchronized (this) {
      if (isOver) {
        return;
      }
      isOver = true;
      notifyAll();
      final Events.State state =
          outcome == Events.Outcome.KILLED ? Events.State.KILLED : Events.State.FAILED;
      for (Attempt attempt : running) {
        sender.send(Events.attemptChanged(updateOf(attempt, state)));
      }
    }
    synchronized (RUNNING) {
      RUNNING.remove(id);
    }
    sender.send(Events.jobClosed(outcome, message, System.currentTimeMillis()));
    Link.close(id.toString(), finalWaitNanos);
    try {
      ShutdownHookManager.get().removeShutdownHook(onShutdown);
    } catch (IllegalStateException shutsDown) {
      // The shutdown of the process ends this thread.
    }
  }

  private static AttemptUpdate updateOf(Attempt attempt, Events.State state) {
    final AttemptUpdate update = new AttemptUpdate(attempt, state);
    update.atMillis = System.currentTimeMillis();
    update.executor = THIS_PROCESS;
    if (state == Events.State.FAILED) {
      update.failure = "see the log of the job's client";
    }
    return update;
  }
}
