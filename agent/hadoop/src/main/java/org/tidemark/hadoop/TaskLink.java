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
import org.tidemark.jvm.wire.HeartbeatUpdate;
import org.tidemark.jvm.wire.TimeUse;

/** The state that the plug-ins of a task share: the identity of the task, and its sender. */
final class TaskLink {
  /** Longest wait for the delivery of the last events at the end of a task. */
  private static final long FINAL_WAIT_NANOS = 200_000_000L;
  /**
   * Longest wait if the master has responded. It is longer because responses take longer on a busy
   * machine, and a lost event loses the key sizes of a map task.
   */
  private static final long FINAL_WAIT_IF_RESPONDING_NANOS = 800_000_000L;

  final Attempt attempt;
  final KeyGrouping grouping;
  private final AttemptTimes times;
  private final Sender sender;
  private final LocalJob localJob;
  private final long finalWaitNanos;
  private final long finalWaitIfRespondingNanos;

  private TaskLink(Sender sender, JobConf job, TaskAttemptID id) {
    this.sender = sender;
    attempt =
        Attempt.of(id.getTaskType() == TaskType.MAP, id.getTaskID().getId(), id.getId());
    grouping = KeyGrouping.of(job);
    times = new AttemptTimes(Link.isOfOneAttempt(job));
    finalWaitNanos = Link.finalWaitNanos(job, FINAL_WAIT_NANOS);
    finalWaitIfRespondingNanos = Link.finalWaitNanos(job, FINAL_WAIT_IF_RESPONDING_NANOS);
    localJob = Link.isLocal(job) ? LocalJob.of(id.getJobID(), job, sender) : null;
    sender.send(Events.jobOpened(shape(job).describe()));
    if (localJob != null) {
      localJob.started(attempt);
    }
  }

  /** Returns null if no master is set, or if the settings cannot be read. */
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

  /**
   * Returns a heartbeat of the attempt, with processor time and waits as totals since its start.
   */
  Event heartbeat(long bytesDone, long recordsDone, long bytesEmitted) {
    final HeartbeatUpdate update = new HeartbeatUpdate(attempt);
    update.bytesDone = bytesDone;
    update.recordsDone = recordsDone;
    update.bytesEmitted = bytesEmitted;
    update.time = times.read();
    return Events.heartbeat(update);
  }

  TimeUse times() {
    return times.read();
  }

  void send(Event event) {
    sender.send(event);
  }

  /** Reports that the keys of the job have no names ({@link KeyGrouping}). */
  void reportContradiction(JobConf job) {
    TaskLog.warn("key groups have no names: " + grouping.contradiction());
    sender.send(Events.jobOpened(shape(job).describe()));
  }

  /** Reports at once, which gives the processor time of the attempt's start, and at every flush. */
  void startReports(Sender.Reporter reporter) {
    send(reporter.report());
    sender.startReports(reporter);
  }

  void endReports(Sender.Reporter reporter) {
    sender.endReports(reporter);
  }

  /** Ends the task. Waits briefly for the delivery of its last events. */
  void finish(boolean wentWell) {
    if (localJob != null) {
      localJob.ended(attempt, wentWell);
    } else {
      sender.flush(finalWaitNanos, finalWaitIfRespondingNanos);
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
    // On a cluster, the application master reports the workflow.
    if (localJob != null) {
      shape.workflow = Workflows.of(job, job.getJobName(), System::getenv);
    }
    return shape;
  }
}
