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
import org.tidemark.jvm.wire.AttemptNews;
import org.tidemark.jvm.wire.Deadline;
import org.tidemark.jvm.wire.Events;

/**
 * Looks at the application master's job every second, on a daemon thread, and tells what changed:
 * that the job exists, where its attempts are ({@link AttemptWatch}), how it ended. When there was
 * no room to tell all, it looks again soon. One look is O(attempts).
 */
final class JobWatch {
  private static final long LOOK_NANOS = 1_000_000_000L;
  /** That the job has ended is cheap to see, and people wait for it. */
  private static final long LOOK_FOR_THE_END_MILLIS = 100;
  /**
   * At most so long for telling the last states, and again for these to arrive: an application
   * master waits five seconds between the end of its job and its own.
   */
  private static final long LAST_WORDS_NANOS = 2_000_000_000L;

  /**
   * Tells nothing new, at every flush: a job that waits for containers, or whose tasks have nothing
   * of ours in them, is not one that died without a word.
   */
  private static final Sender.Reporter SIGN_OF_LIFE =
      () ->
          Events.attemptChanged(
              new AttemptNews(Attempt.map(0, 0), Events.State.QUEUED));

  private final JobConf conf;
  private final AppContext context;
  /** In whose name our thread, which inherits nothing, reads the job's files. */
  private final UserGroupInformation user;
  private Sender sender;
  /** Null: the job is not opened yet. */
  private AttemptWatch attempts;
  /** False: there was no room for all that the last look saw. */
  private boolean toldAll;
  private long lastLookNanos;
  /** When to give up telling states; 0: the job has not ended. */
  private long lastTellNanos;

  private JobWatch(Configuration conf, AppContext context, UserGroupInformation user) {
    this.conf = new JobConf(conf);
    // Until all of its services have started, an application master's configuration lacks the class
    // loader of mapreduce.job.classloader, which knows the job's keys and comparators; we have it.
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
          lastLookNanos = System.nanoTime();
          over = look();
        }
      } catch (RuntimeException thisTime) {
        toldAll = true; // no hurry
        TaskLog.warn("cannot see the job: " + Reasons.of(thisTime) + "; another look follows");
      }
      if (!over) {
        Thread.sleep(LOOK_FOR_THE_END_MILLIS);
      }
    }
  }

  private boolean isDue() {
    return !toldAll || System.nanoTime() - lastLookNanos >= LOOK_NANOS || hasEnded();
  }

  private boolean hasEnded() {
    return context.getAllJobs().values().stream()
        .anyMatch(job -> outcome(job.getState()) != Events.Outcome.UNSPECIFIED);
  }

  /** True: there is nothing more to see. */
  private boolean look() {
    for (Job job : context.getAllJobs().values()) {
      final JobState state = job.getState();
      if (state == JobState.NEW) {
        return false; // it does not know its tasks yet
      }
      if (attempts == null && !open(job)) {
        return true;
      }
      toldAll = attempts.look(job.getTasks().values());
      final Events.Outcome outcome = outcome(state);
      if (outcome != Events.Outcome.UNSPECIFIED && (toldAll || isTooLate())) {
        close(job, outcome);
        return true;
      }
    }
    return false;
  }

  /** Whether the job ended so long ago that what is still untold stays so. */
  private boolean isTooLate() {
    final long now = System.nanoTime();
    if (lastTellNanos == 0) {
      lastTellNanos = now + LAST_WORDS_NANOS;
    }
    return now - lastTellNanos >= 0;
  }

  /** False: no master is set. */
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
    sender.send(Events.jobOpened(shape(job).news()));
    final long[] splitBytes =
        user.doAs((PrivilegedAction<long[]>) () -> LocalJob.splitBytes(id, conf));
    if (job.getTotalMaps() > 0) {
      sender.startReports(SIGN_OF_LIFE);
    }
    attempts = new AttemptWatch(sender, splitBytes);
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
    sender.endReports(SIGN_OF_LIFE);
    sender.send(Events.jobClosed(outcome, message, System.currentTimeMillis()));
    sender.flush(LAST_WORDS_NANOS);
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
