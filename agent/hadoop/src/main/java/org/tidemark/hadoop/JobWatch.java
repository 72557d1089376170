package org.tidemark.hadoop;

import java.security.PrivilegedAction;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.TypeConverter;
import org.apache.hadoop.mapreduce.v2.api.records.JobState;
import org.apache.hadoop.mapreduce.v2.app.AppContext;
import org.apache.hadoop.mapreduce.v2.app.job.Job;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.security.UserGroupInformation;
import org.tidemark.jvm.guard.Reasons;
import org.tidemark.jvm.transport.Sender;
import org.tidemark.jvm.wire.Attempt;
import org.tidemark.jvm.wire.AttemptUpdate;
import org.tidemark.jvm.wire.Deadline;
import org.tidemark.jvm.wire.Events;

/**
 * Polls the application master's job every second on a daemon thread and reports changes. Changes
 * are the opening of the job, its attempts ({@link AttemptWatch}), and its end. If the outbox is
 * too full for all changes, the next poll follows soon. A poll takes O(attempts) time.
 */
final class JobWatch {
  private static final long POLL_NANOS = 1_000_000_000L;
  /**
   * Shorter than the usual interval, since the check for the end is cheap and users wait for it.
   */
  private static final long END_POLL_MILLIS = 100;
  /**
   * The time limit for reporting the last states, and also for delivering them. An application
   * master exits five seconds after the end of its job.
   */
  private static final long FINAL_WAIT_NANOS = 2_000_000_000L;

  /**
   * Sends an empty report at every flush, so that the master does not abandon a job that waits for
   * containers or whose tasks have no plug-in.
   */
  private static final Sender.Reporter KEEP_ALIVE =
      () ->
          Events.attemptChanged(
              new AttemptUpdate(Attempt.map(0, 0), Events.State.QUEUED));

  private final JobConf conf;
  private final AppContext context;
  /** The user's rights are needed to read the job's files, and the thread does not inherit them. */
  private final UserGroupInformation user;
  private Sender sender;
  /** Null until the job is opened. */
  private AttemptWatch attempts;
  /** False if the outbox was too full for all changes of the last poll. */
  private boolean isUpToDate;
  private long lastPollNanos;
  /** The time to stop reporting states, or 0 until the job has ended. */
  private long deadlineNanos;

  private JobWatch(Configuration conf, AppContext context, UserGroupInformation user) {
    this.conf = new JobConf(conf);
    // The class loader of mapreduce.job.classloader loads the job's keys and comparators. An
    // application master's configuration lacks this loader until all services have started, but it
    // also loaded this class.
    this.conf.setClassLoader(JobWatch.class.getClassLoader());
    this.context = context;
    this.user = user;
  }

  static void start(Configuration conf, AppContext context) {
    try {
      final JobWatch watch =
          new JobWatch(conf, context, UserGroupInformation.getCurrentUser());
      Connector.GUARD.thread("tidemark-job-watch", watch::run).start();
    } catch (Exception withoutProgress) {
      TaskLog.warnOf(withoutProgress);
    }
  }

  private void run() throws InterruptedException {
    boolean over = false;
    while (!over && !Connector.GUARD.isOff()) {
      try {
        if (isDue()) {
          lastPollNanos = System.nanoTime();
          over = poll();
        }
      } catch (RuntimeException thisTime) {
        isUpToDate = true;  // no need to poll soon
        TaskLog.warn("cannot read the job: " + Reasons.of(thisTime) + "; retrying");
      }
      if (!over) {
        Thread.sleep(END_POLL_MILLIS);
      }
    }
  }

  private boolean isDue() {
    return !isUpToDate || System.nanoTime() - lastPollNanos >= POLL_NANOS || hasEnded();
  }

  private boolean hasEnded() {
    return context.getAllJobs().values().stream()
        .anyMatch(job -> outcome(job.getState()) != Events.Outcome.UNSPECIFIED);
  }

  /** Returns true if there is nothing left to report. */
  private boolean poll() {
    for (Job job : context.getAllJobs().values()) {
      final JobState state = job.getState();
      if (state == JobState.NEW) {
        return false;  // the job has no tasks yet
      }
      if (attempts == null && !open(job)) {
        return true;
      }
      isUpToDate = attempts.poll(job.getTasks().values());
      final Events.Outcome outcome = outcome(state);
      if (outcome != Events.Outcome.UNSPECIFIED && (isUpToDate || isTooLate())) {
        close(job, outcome);
        return true;
      }
    }
    return false;
  }

  /** Returns true if the job ended so long ago that unreported states are dropped. */
  private boolean isTooLate() {
    final long now = System.nanoTime();
    if (deadlineNanos == 0) {
      deadlineNanos = now + FINAL_WAIT_NANOS;
    }
    return now - deadlineNanos >= 0;
  }

  /** Opens the job. Returns false if no master is set. */
  private boolean open(Job job) {
    final JobID id = TypeConverter.fromYarn(job.getID());
    try {
      sender = Link.of(conf, user.getCredentials(), id.toString());
    } catch (IllegalArgumentException misconfigured) {
      TaskLog.warnOf(misconfigured);
    }
    if (sender == null) {
      return false;
    }
    sender.send(Events.jobOpened(shape(job).describe()));
    final long[] splitBytes =
        user.doAs((PrivilegedAction<long[]>) () -> LocalJob.splitBytes(id, conf));
    if (job.getTotalMaps() > 0) {
      sender.startReports(KEEP_ALIVE);
    }
    attempts = new AttemptWatch(sender, splitBytes, job.getTotalReduces() > 0);
    return true;
  }

  private JobShape shape(Job job) {
    final JobShape shape = new JobShape();
    shape.name = job.getName();
    shape.applicationId = context.getApplicationID().toString();
    shape.user = job.getUserName();
    shape.queue = job.getQueueName();
    shape.submittedMillis = job.getReport().getSubmitTime();
    try {
      shape.deadlineMillis = Deadline.millis(Keys.DEADLINE, conf.getTrimmed(Keys.DEADLINE, ""));
    } catch (IllegalArgumentException misconfigured) {
      TaskLog.warnOf(misconfigured);
    }
    shape.workflow = Workflows.of(conf, job.getName(), System::getenv);
    shape.mapTasks = job.getTotalMaps();
    shape.reduceTasks = job.getTotalReduces();
    shape.hasCombiner = Combiners.has(conf);
    shape.grouping = KeyGrouping.of(conf).kind();
    shape.masterAttempt = context.getApplicationAttemptId().getAttemptId();
    return shape;
  }

  private void close(Job job, Events.Outcome outcome) {
    final String message =
        outcome == Events.Outcome.SUCCEEDED || job.getDiagnostics().isEmpty()
            ? ""
            : job.getDiagnostics().get(0);
    sender.endReports(KEEP_ALIVE);
    sender.send(Events.jobClosed(outcome, message, System.currentTimeMillis()));
    sender.flush(FINAL_WAIT_NANOS);
  }

  private static Events.Outcome outcome(JobState state) {
    switch (state) {
      case SUCCEEDED:
        return Events.Outcome.SUCCEEDED;
      case FAILED:
      case ERROR:
        return Events.Outcome.FAILED;
      case KILLED:
        return Events.Outcome.KILLED;
      default:
        return Events.Outcome.UNSPECIFIED;
    }
  }
}
