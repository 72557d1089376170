package org.tidemark.hadoop.wire;

import java.util.List;
import org.tidemark.hadoop.profile.GroupPoint;
import org.tidemark.hadoop.profile.PartitionKeys;
import org.tidemark.hadoop.profile.ProcessorWatch;
import org.tidemark.hadoop.profile.ReduceMeter;
import org.tidemark.hadoop.profile.SizeHistogram;

/**
 * Encodes events as proto/tidemark/v1/event.proto says. Field numbers stand here and nowhere else;
 * tests/vectors/envelopes.json holds them to what the master's generated code reads.
 */
public final class Events {
  // Fields of Envelope.
  private static final int JOB_OPENED = 10;
  private static final int JOB_CLOSED = 11;
  private static final int ATTEMPT_CHANGED = 12;
  private static final int TASK_HEARTBEAT = 13;
  private static final int MAP_PROFILE = 14;
  private static final int REDUCE_PROFILE = 15;

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
    KILLED
  }

  private Events() {}

  public static Event jobOpened(JobShape job) {
    final ProtoWriter body =
        new ProtoWriter()
            .text(1, job.name)
            .text(2, "hadoop")
            .text(3, job.applicationId)
            .text(4, job.user)
            .text(5, job.queue);
    if (job.submittedMillis > 0) {
      body.message(7, Times.timestamp(job.submittedMillis));
    }
    if (job.mapTasks >= 0) {
      body.uintAlways(9, job.mapTasks);
    }
    if (job.reduceTasks >= 0) {
      body.uintAlways(10, job.reduceTasks);
    }
    if (job.slowStart >= 0) {
      body.doubleAlways(14, job.slowStart);
    }
    body.bool(15, job.hasCombiner);
    final ProtoWriter grouping = new ProtoWriter();
    switch (job.grouping) {
      case WHOLE_KEY:
        grouping.uintAlways(1, 1);
        break;
      case PREFIX:
        grouping.uintAlways(2, job.prefixBytes);
        break;
      default:
        grouping.uintAlways(3, 1);
    }
    body.message(16, grouping).uint(17, job.masterAttempt);
    return new Event(Event.Importance.JOB, JOB_OPENED, body, null);
  }

  public static Event jobClosed(Outcome outcome, String message, long atMillis) {
    final ProtoWriter body =
        new ProtoWriter()
            .uint(1, outcome.ordinal())
            .text(2, message)
            .message(3, Times.timestamp(atMillis));
    return new Event(Event.Importance.JOB, JOB_CLOSED, body, null);
  }

  public static Event attemptChanged(AttemptNews news) {
    final ProtoWriter body =
        new ProtoWriter().message(1, news.attempt.encoded()).uint(2, news.state.ordinal());
    if (news.atMillis > 0) {
      body.message(3, Times.timestamp(news.atMillis));
    }
    body.text(4, news.host)
        .text(5, news.container)
        .text(6, news.rack)
        .bool(7, news.speculative);
    if (news.inputBytes >= 0) {
      body.uintAlways(8, news.inputBytes);
    }
    body.text(10, news.failure);
    return new Event(Event.Importance.ATTEMPT, ATTEMPT_CHANGED, body, null);
  }

  /** All counters are totals since the start of the attempt. */
  public static Event heartbeat(
      Attempt attempt, long bytesDone, long recordsDone, long bytesEmitted) {
    final ProtoWriter body =
        new ProtoWriter()
            .message(1, attempt.encoded())
            .uint(2, bytesDone)
            .uint(3, recordsDone)
            .uint(4, bytesEmitted);
    return new Event(Event.Importance.PROFILE, TASK_HEARTBEAT, body, null);
  }

  /** {@code sampledBelow}: every key of a lesser rank is explicit or sampled; 0: no sample. */
  public static Event mapProfile(
      Attempt attempt, List<PartitionKeys> partitions, int lambda, long sampledBelow) {
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
    body.uint(3, lambda).uint(4, sampledBelow);
    return new Event(Event.Importance.PROFILE, MAP_PROFILE, body, null);
  }

  /**
   * {@code lastEndMillis} is the wall clock's counterpart of {@link ReduceMeter.Taken#lastEndNanos}.
   * {@code running} may be null. {@code named}: key hashes mean the same in every task. {@code use}:
   * null when it is not known.
   */
  public static Event reduceProfile(
      Attempt attempt,
      ReduceMeter.Taken taken,
      long lastEndMillis,
      ReduceMeter.Running running,
      boolean named,
      ProcessorWatch.Use use) {
    final ProtoWriter body = new ProtoWriter().message(1, attempt.encoded());
    if (taken.groupsDone > 0) {
      body.message(2, Times.timestamp(lastEndMillis));
    }
    body.uint(3, taken.groupsDone)
        .uint(4, taken.bytesDone)
        .message(5, Times.duration(taken.reduceNanos));
    if (taken.points != null) {
      addPoints(body, taken.points);
      addBins(body, taken.bins);
      if (named) {
        body.bool(14, true)
            .uint(15, taken.namedBytesMin)
            .packedFixed64(16, taken.namedHashes)
            .packedUints(17, taken.namedSizes)
            .packedUints(21, taken.namedNanos)
            .packedUints(22, taken.namedEmitted);
      }
    }
    body.uint(19, taken.droppedPoints);
    if (use != null) {
      body.message(23, processorUse(use));
    }
    return new Event(
        Event.Importance.PROFILE,
        REDUCE_PROFILE,
        body,
        running == null ? null : new RunningGroup(running, named));
  }

  private static ProtoWriter processorUse(ProcessorWatch.Use use) {
    return new ProtoWriter()
        .message(1, Times.duration(use.watchedNanos))
        .message(2, Times.duration(use.waitedNanos))
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
    body.packedUints(6, sizes).packedUints(7, counts).packedUints(8, nanos);
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
    body.packedUints(9, index)
        .packedUints(10, columns[0])
        .packedUints(11, columns[1])
        .packedFixed64(12, columns[2])
        .packedFixed64(13, columns[3])
        .packedUints(20, columns[4]);
  }
}
