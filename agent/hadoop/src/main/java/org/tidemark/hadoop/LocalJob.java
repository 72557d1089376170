package org.tidemark.hadoop;

import java.io.File;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.split.SplitMetaInfoReader;
import org.apache.hadoop.util.ShutdownHookManager;
import org.tidemark.jvm.transport.Sender;
import org.tidemark.jvm.wire.Attempt;
import org.tidemark.jvm.wire.AttemptNews;
import org.tidemark.jvm.wire.Events;

/**
 * A job of the LocalJobRunner, which has no application master: its tasks tell of their own start
 * and end, and the last reduce task of the end of the job.
 *
 * <p>Nobody is told when a reduce task or the job fails. But the runner removes the job's directory
 * when the job is over, and the job ends with this process at the latest: if the runner still waits
 * for its tasks then, it was killed, else it has failed. Thread-safe.
 */
final class LocalJob {
  private static final long LOOK_FOR_THE_END_MILLIS = 100;
  /** What the end of the job, or of its process, may wait for the last words to arrive. */
  private static final long LAST_WORDS_NANOS = 200_000_000L;
  /** Longer than those last words take, even on a busy machine. */
  private static final long WATCHER_LEAVES_MILLIS = 1_000;
  /** Before Hadoop's own, which may remove the jar that we are in. */
  private static final int SHUTDOWN_PRIORITY = FileSystem.SHUTDOWN_HOOK_PRIORITY + 1;

  /** All tasks run in one process. */
  private static final int THIS_PROCESS = 0;

  private static final String ENDED_EARLY =
      "it ended before all of its tasks had; the log of its client says why";

  private static final Map<JobID, LocalJob> RUNNING = new HashMap<>();

  private final JobID id;
  private final Sender sender;
  private final int reduceTasks;
  private final long[] splitBytes;
  private final File directory;
  private final Runnable onShutdown = this::endWithProcess;
  /** Null: the job's end cannot be seen. */
  private Thread watcher;

  // Guarded by this.
  private final Set<Attempt> running = new HashSet<>();
  private int reducesDone;
  private boolean isOver;
  private boolean isExecutorTold;

  private LocalJob(JobID id, JobConf job, Sender sender) {
    this.id = id;
    this.sender = sender;
    reduceTasks = job.getNumReduceTasks();
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

  /** The length of each split by map task; empty when it cannot be read. bytes */
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
    if (!isExecutorTold) {
      isExecutorTold = true;
      sender.send(Events.executorOpened(THIS_PROCESS, "localhost", "", "", 0));
    }
    running.add(attempt);
    final AttemptNews news = news(attempt, Events.State.STARTED);
    if (attempt.isMap() && attempt.index < splitBytes.length) {
      news.inputBytes = splitBytes[attempt.index];
    }
    sender.send(Events.attemptChanged(news));
  }

  void ended(Attempt attempt, boolean wentWell) {
    synchronized (this) {
      if (isOver) {
        return;
      }
      running.remove(attempt);
      sender.send(
          Events.attemptChanged(
              news(attempt, wentWell ? Events.State.FINISHED : Events.State.FAILED)));
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
      wait(LOOK_FOR_THE_END_MILLIS);
    }
    return isOver;
  }

  void endWithProcess() {
    try {
      if (Connector.GUARD.isOff()) {
        return;
      }
      if (directory.exists() && isRunnerWaitingForTasks()) {
        end(Events.Outcome.KILLED, "its process ended before the job did");
      } else {
        end(Events.Outcome.FAILED, ENDED_EARLY);
      }
      // If the watcher was first to see the end, its last words may still be on their way.
      watcher.join(WATCHER_LEAVES_MILLIS);
    } catch (Throwable ours) {
      Connector.GUARD.turnOff(ours);
    }
  }

  /**
   * A client learns that its job has failed, and may exit, before the runner removes the directory.
   * With two jobs in one process, either counts.
   */
  private static boolean isRunnerWaitingForTasks() {
    return Thread.getAllStackTraces().values().stream()
        .flatMap(Arrays::stream)
        .anyMatch(
            frame ->
                frame.getClassName().equals("org.apache.hadoop.mapred.LocalJobRunner$Job")
                    && frame.getMethodName().equals("runTasks"));
  }

  /** Only the first call says something. */
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
        sender.send(Events.attemptChanged(news(attempt, state)));
      }
    }
    synchronized (RUNNING) {
      RUNNING.remove(id);
    }
    sender.send(Events.jobClosed(outcome, message, System.currentTimeMillis()));
    Link.close(id.toString(), LAST_WORDS_NANOS);
    try {
      ShutdownHookManager.get().removeShutdownHook(onShutdown);
    } catch (IllegalStateException shutsDown) {
      // It goes with the process.
    }
  }

  private static AttemptNews news(Attempt attempt, Events.State state) {
    final AttemptNews news = new AttemptNews(attempt, state);
    news.atMillis = System.currentTimeMillis();
    news.executor = THIS_PROCESS;
    if (state == Events.State.FAILED) {
      news.failure = "the log of the job's client says why";
    }
    return news;
  }
}
