package org.tidemark.jvm.wire;

import java.util.List;
import java.util.Map;
import org.tidemark.jvm.profile.GroupPoint;
import org.tidemark.jvm.profile.PartitionKeys;
import org.tidemark.jvm.profile.ProcessorWatch;
import org.tidemark.jvm.profile.ReduceMeter;
import org.tidemark.jvm.profile.SizeHistogram;

/**
 * Encodes the events of proto/tidemark/v1/event.proto. Only this class contains their field
 * numbers; tests/vectors/events.json checks them against the master's generated code.
 */
public final class Events {
  // Fields of Event.
  private static final int JOB_OPENED = 1;
  private static final int JOB_CLOSED = 2;
  private static final int STAGE_OPENED = 3;
  private static final int EXECUTOR_OPENED = 4;
  private static final int ATTEMPT_CHANGED = 5;
  private static final int TASK_HEARTBEAT = 6;
  private static final int MAP_PROFILE = 7;
  private static final int REDUCE_PROFILE = 8;
  private static final int STAGE_CLOSED = 9;
  private static final int GROUP_OPENED = 10;
  private static final int GROUP_CLOSED = 11;
  private static final int EXECUTOR_CLOSED = 12;

  static final long NANOS_PER_MILLI = 1_000_000L;

  /** AttemptState of event.proto. */
  public enum State {
    UNSPECIFIED,
    QUEUED,
    STARTED,
    SHUFFLED,
    FINISHED,
    FAILED,
    KILLED,
    OBSOLETE
  }

  /** JobOutcome of event.proto. */
  public enum Outcome {
    UNSPECIFIED,
    SUCCEEDED,
    FAILED,
    KILLED,
    UNKNOWN
  }

  private Events() {}

  public static Event jobOpened(JobDescription job) {
    final ProtoWriter body =
        new ProtoWriter()
            .text(1, job.name)
            .text(2, job.engine)
            .text(3, job.applicationId)
            .text(4, job.user)
            .text(5, job.queue);
    addInstant(body, 6, job.submittedMillis);
    body.uint(7, job.masterAttempt);
    for (StageDescription stage : job.stages) {
      body.message(8, stage.encoded());
    }
    addInstant(body, 9, job.deadlineMillis);
    for (Map.Entry<String, String> parameter : job.parameters.entrySet()) {
      body.message(10, new ProtoWriter().text(1, parameter.getKey()).text(2, parameter.getValue()));
    }
    if (job.workflow != null) {
      body.message(11, job.workflow.encoded());
    }
    return new Event(Event.Importance.JOB, JOB_OPENED, body, null);
  }

  public static Event stageOpened(StageDescription stage) {
    return new Event(Event.Importance.JOB, STAGE_OPENED, stage.encoded(), null);
  }

  /** {@code message} is the reason why the attempt at the stage failed, or null. */
  public static Event stageClosed(
      int stage, int attempt, Outcome outcome, String message, long atMillis) {
    final ProtoWriter body =
        new ProtoWriter()
            .uint(1, stage)
            .uint(2, attempt)
            .uint(3, outcome.ordinal())
            .text(4, message);
    addInstant(body, 5, atMillis);
    return new Event(Event.Importance.JOB, STAGE_CLOSED, body, null);
  }

  /**
   * See {@link StageDescription#group} for {@code group}. {@code name} is the display name. {@code
   * plannedTaskCounts} contains the task count of each planned stage in order, or 0 if unknown.
   */
  public static Event groupOpened(
      String group, String name, long atMillis, long... plannedTaskCounts) {
    final ProtoWriter body = new ProtoWriter().text(1, group).text(2, name);
    addInstant(body, 3, atMillis);
    body.packedUints(4, plannedTaskCounts);
    return new Event(Event.Importance.JOB, GROUP_OPENED, body, null);
  }

  public static Event groupClosed(String group, Outcome outcome, String message, long atMillis) {
    final ProtoWriter body =
        new ProtoWriter().text(1, group).uint(2, outcome.ordinal()).text(3, message);
    addInstant(body, 4, atMillis);
    return new Event(Event.Importance.JOB, GROUP_CLOSED, body, null);
  }

  public static Event jobClosed(Outcome outcome, String message, long atMillis) {
    final ProtoWriter body =
        new ProtoWriter()
            .uint(1, outcome.ordinal())
            .text(2, message)
            .fixed64Always(3, atMillis * NANOS_PER_MILLI);
    return new Event(Event.Importance.JOB, JOB_CLOSED, body, null);
  }

  /**
   * Must precede the attempts that run in the executor. The caller chooses {@code number}. {@code
   * slots} is the number of concurrent tasks, or 0 if unknown.
   */
  public static Event executorOpened(
      int number, String host, String rack, String container, int slots) {
    final ProtoWriter body =
        new ProtoWriter()
            .uint(1, number)
            .text(2, host)
            .text(3, rack)
            .text(4, container)
            .uint(5, slots);
    return new Event(Event.Importance.ATTEMPT, EXECUTOR_OPENED, body, null);
  }

  /** {@code number} is the number of an executor that {@link #executorOpened} reported. */
  public static Event executorClosed(int number) {
    return new Event(
        Event.Importance.ATTEMPT, EXECUTOR_CLOSED, new ProtoWriter().uint(1, number), null);
  }

  public static Event attemptChanged(AttemptUpdate update) {
    final ProtoWriter body =
        new ProtoWriter().message(1, update.attempt.encoded()).uint(2, update.state.ordinal());
    addInstant(body, 3, update.atMillis);
    if (update.executor >= 0) {
      body.uintAlways(4, update.executor);
    }
    body.bool(5, update.speculative);
    if (update.inputBytes >= 0) {
      body.uintAlways(6, update.inputBytes);
    }
    if (update.inputRecords >= 0) {
      body.uintAlways(7, update.inputRecords);
    }
    body.text(8, update.failure);
    body.bool(10, update.taskFailed);
    return new Event(Event.Importance.ATTEMPT, ATTEMPT_CHANGED, body, null);
  }

  /** All counters are totals since the start of the attempt. */
  public static Event heartbeat(
      Attempt attempt, long bytesDone, long recordsDone, long bytesEmitted) {
    final HeartbeatUpdate update = new HeartbeatUpdate(attempt);
    update.bytesDone = bytesDone;
    update.recordsDone = recordsDone;
    update.bytesEmitted = bytesEmitted;
    return heartbeat(update);
  }

  public static Event heartbeat(HeartbeatUpdate update) {
    final ProtoWriter body =
        new ProtoWriter()
            .message(1, update.attempt.encoded())
            .uint(2, update.bytesDone)
            .uint(3, update.recordsDone)
            .uint(4, update.bytesEmitted);
    update.time.addTo(body);
    body.bool(11, update.isInputReadFirst);
    return new Event(Event.Importance.PROFILE, TASK_HEARTBEAT, body, null);
  }

  /**
   * Every key of a rank below {@code sampledBelow} is explicit or sampled. It is 0 if there is no
   * sample.
   */
  public static Event mapProfile(
      Attempt attempt, List<PartitionKeys> partitions, long sampledBelow) {
    final ProtoWriter body = new ProtoWriter().message(1, attempt.encoded());
    for (PartitionKeys keys : partitions) {
      final ProtoWriter partition =
          new ProtoWriter()
              .uint(1, keys.partition)
              .uint(2, keys.totalBytes)
              .packedFixed64(3, keys.explicitHashes)
              .packedUints(4, keys.explicitBytes)
              .uint(5, keys.implicitKeyCount)
              .uint(6, keys.implicitBytes);
      if (keys.scannedBytes < keys.totalBytes) {
        partition.uintAlways(7, keys.scannedBytes);
      }
      partition
          .packedFixed64(8, keys.sampledHashes)
          .packedUints(9, keys.sampledBytes)
          .packedUints(10, keys.explicitValues)
          .packedUints(11, keys.sampledValues);
      body.message(2, partition);
    }
    body.uint(3, sampledBelow);
    return new Event(Event.Importance.PROFILE, MAP_PROFILE, body, null);
  }

  /**
   * {@code lastEndMillis} is the wall-clock time of {@link ReduceMeter.Taken#lastEndNanos}. {@code
   * named} is true if key hashes identify the same keys in every task. {@code time} contains totals
   * since the start of the attempt. {@code running}, {@code use} and {@code time} may be null.
   */
  public static Event reduceProfile(
      Attempt attempt,
      ReduceMeter.Taken taken,
      long lastEndMillis,
      ReduceMeter.Running running,
      boolean named,
      ProcessorWatch.Use use,
      TimeUse time) {
    final ProtoWriter body = new ProtoWriter().message(1, attempt.encoded());
    if (taken.groupsDone > 0) {
      body.fixed64Always(2, lastEndMillis * NANOS_PER_MILLI);
    }
    body.uint(3, taken.groupsDone)
        .uint(4, taken.bytesDone)
        .uint(5, taken.reduceNanos);
    if (taken.bins != null) {
      addBins(body, taken.bins);
      if (named) {
        body.bool(12, true)
            .uint(13, taken.namedBytesMin)
            .packedFixed64(14, taken.namedHashes)
            .packedUints(15, taken.namedSizes)
            .packedUints(16, taken.namedNanos)
            .packedUints(17, taken.namedEmitted);
      }
    }
    body.uint(19, taken.droppedPoints);
    if (use != null) {
      body.message(20, processorUse(use));
    }
    if (taken.points != null) {
      addPoints(body, taken.points);
    }
    if (time != null) {
      final ProtoWriter times = new ProtoWriter();
      time.addTo(times);
      body.message(24, times);
    }
    return new Event(
        Event.Importance.PROFILE,
        REDUCE_PROFILE,
        body,
        running == null ? null : new RunningGroup(running, named));
  }

  /** Adds a time in milliseconds. 0 means that the time is unknown. */
  private static void addInstant(ProtoWriter body, int field, long atMillis) {
    if (atMillis > 0) {
      body.fixed64Always(field, atMillis * NANOS_PER_MILLI);
    }
  }

  private static ProtoWriter processorUse(ProcessorWatch.Use use) {
    return new ProtoWriter()
        .uint(1, use.watchedNanos)
        .uint(2, use.waitedNanos)
        .uint(3, use.processors);
  }

  private static void addPoints(ProtoWriter body, List<GroupPoint> points) {
    final long[] sizes = new long[points.size()];
    final long[] counts = new long[points.size()];
    final long[] nanos = new long[points.size()];
    for (int i = 0; i < points.size(); ++i) {
      sizes[i] = points.get(i).sizeBytes;
      counts[i] = points.get(i).count();
      nanos[i] = (long) points.get(i).nanos();
    }
    body.packedUints(21, sizes).packedUints(22, counts).packedUints(23, nanos);
  }

  private static void addBins(ProtoWriter body, SizeHistogram bins) {
    int used = 0;
    final long[] indexes = new long[SizeHistogram.BINS];
    for (int bin = 0; bin < SizeHistogram.BINS; ++bin) {
      if (bins.counts[bin] > 0) {
        indexes[used++] = bin;
      }
    }
    final long[] index = new long[used];
    final long[][] columns = new long[5][used];
    for (int i = 0; i < used; ++i) {
      final int bin = (int) indexes[i];
      index[i] = bin;
      columns[0][i] = bins.counts[bin];
      columns[1][i] = bins.sizeBytes[bin];
      columns[2][i] = Double.doubleToRawLongBits(bins.seconds[bin]);
      columns[3][i] = Double.doubleToRawLongBits(bins.secondsSquared[bin]);
      columns[4][i] = bins.emittedBytes[bin];
    }
    body.packedUints(6, index)
        .packedUints(7, columns[0])
        .packedUints(8, columns[1])
        .packedFixed64(9, columns[2])
        .packedFixed64(10, columns[3])
        .packedUints(11, columns[4]);
  }
}
