package org.tidemark.hadoop;

import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskType;
import org.tidemark.jvm.profile.MeterSettings;
import org.tidemark.jvm.transport.Sender;
import org.tidemark.jvm.wire.Attempt;
import org.tidemark.jvm.wire.Event;
import org.tidemark.jvm.wire.Events;
import org.tidemark.jvm.wire.HeartbeatNews;
import org.tidemark.jvm.wire.TimeUse;

/** What the plug-ins within a task share: who they are and whom they tell. */
final class TaskLink {
  /** What a task may wait at its end for its last words to arrive. */
  private static final long LAST_WORDS_NANOS = 200_000_000L;
  /** On a busy machine an answer takes longer, and the sizes of a map task's keys are lost without. */
  private static final long LAST_WORDS_TO_ANSWERING_NANOS = 800_000_000L;

  final Attempt attempt;
  final KeyGrouping grouping;
  private final AttemptTimes times;
  private final Sender sender;
  private final LocalJob localJob;

  private TaskLink(Sender sender, JobConf job, TaskAttemptID id) {
    this.sender = sender;
    attempt =
        Attempt.of(id.getTaskType() == TaskType.MAP, id.getTaskID().getId(), id.getId());
    grouping = KeyGrouping.of(job);
    times = new AttemptTimes(Link.isOfOneAttempt(job));
    localJob = Link.isLocal(job) ? LocalJob.of(id.getJobID(), job, sender) : null;
    sender.send(Events.jobOpened(shape(job).news()));
    if (localJob != null) {
      localJob.started(attempt);
    }
  }

  /** Null when no master is set, or when that cannot be found out. */
  static TaskLink open(JobConf job, TaskAttemptID id) {
    try {
      final Sender sender = Link.of(job, job.getCredentials(), id.getJobID().toString());
      return sender == null ? null : new TaskLink(sender, job, id);
    } catch (Exception withoutProgress) {
      TaskLog.warnOf(withoutProgress);
      return null;
    }
  }

  MeterSettings settings() {
    return sender.settings();
  }

  /** How far the attempt is, with what it took and waited for: totals since its start. */
  Event heartbeat(long bytesDone, long recordsDone, long bytesEmitted) {
    final HeartbeatNews news = new HeartbeatNews(attempt);
    news.bytesDone = bytesDone;
    news.recordsDone = recordsDone;
    news.bytesEmitted = bytesEmitted;
    news.time = times.read();
    return Events.heartbeat(news);
  }

  TimeUse times() {
    return times.read();
  }

  void send(Event event) {
    sender.send(event);
  }

  /** The keys of the job turned out to have no names: {@link KeyGrouping}. */
  void tellContradiction(JobConf job) {
    TaskLog.warn("key groups are not known by their keys: " + grouping.contradiction());
    sender.send(Events.jobOpened(shape(job).news()));
  }

  void startReports(Sender.Reporter reporter) {
    sender.startReports(reporter);
  }

  void endReports(Sender.Reporter reporter) {
    sender.endReports(reporter);
  }

  /** The task has done its work, or failed: waits a moment for what it said to arrive. */
  void finish(boolean wentWell) {
    if (localJob != null) {
      localJob.ended(attempt, wentWell);
    } else {
      sender.flush(LAST_WORDS_NANOS, LAST_WORDS_TO_ANSWERING_NANOS);
    }
  }

  private JobShape shape(JobConf job) {
    final JobShape shape = new JobShape();
    shape.name = job.getJobName();
    shape.user = job.getUser();
    shape.mapTasks = job.getInt(MRJobConfig.NUM_MAPS, -1);
    shape.reduceTasks = job.getNumReduceTasks();
    shape.hasCombiner = Combiners.has(job);
    shape.grouping = grouping.kind();
    return shape;
  }
}
