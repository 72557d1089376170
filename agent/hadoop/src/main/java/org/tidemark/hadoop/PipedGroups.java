package org.tidemark.hadoop;

import java.util.ArrayDeque;
import java.util.function.LongSupplier;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.mapred.JobConf;
import org.tidemark.jvm.profile.ReduceMeter;

/**
 * Times the key groups of Streaming and Pipes, whose reduce function runs in a child process. The
 * task only writes the records into buffers, so a key group ends later than its last record.
 *
 * <p>A function usually writes one record per key group. If it writes more, the largest
 * observed ratio of its records to the key groups in its input is assumed. A key group ends when
 * the child process has written its records, or when the task has written more input after it than
 * the buffers hold. All groups that end at once share the time since the last end.
 *
 * <p>Thread-safe. Keeps groups with at most twice {@link #BUFFERED_BYTES_MAX} bytes of input, and
 * one more group.
 */
final class PipedGroups extends GroupTimer {
  /**
   * Streaming buffers 128 KiB, Java 8 KiB, a pipe of Linux 64 KiB, and the child process a few KiB.
   * Pipes uses buffers of the same sizes.
   */
  static final long BUFFERED_BYTES_MAX = 1 << 18;

  private static final class Group {
    final long name;
    long bytes;
    long records;

    Group(long name) {
      this.name = name;
    }
  }

  private final LongSupplier answered;

  // Guarded by this.
  private final ArrayDeque<Group> unfinished = new ArrayDeque<>();
  private long unfinishedBytes;
  private long finishedGroups;
  private long writtenGroups;
  private boolean inGroup;
  /** The assumed number of output records of a key group. */
  private double answersPerGroup = 1;
  /** The group in progress at the meter, or null. The next fields contain its reported part. */
  private Group metered;

  private long meteredBytes;
  private long meteredRecords;

  /** {@code answered} returns the number of records that the child process has written so far. */
  PipedGroups(
      ReduceMeter meter, KeyGrouping grouping, LongSupplier emitted, LongSupplier answered) {
    super(meter, grouping, emitted);
    this.answered = answered;
  }

  /** Returns true if the reduce function of the job runs in a child process. */
  static boolean areOf(JobConf job) {
    if (job.getUseNewReducer()) {
      return false;
    }
    final String reducer = job.get("mapred.reducer.class", "");
    return reducer.startsWith("org.apache.hadoop.streaming.Pipe")
        || reducer.startsWith("org.apache.hadoop.mapred.pipes.Pipes");
  }

  @Override
  synchronized void begin(DataInputBuffer key) {
    unfinished.add(new Group(grouping.name(key)));
    ++writtenGroups;
    inGroup = true;
  }

  @Override
  synchronized void read(DataInputBuffer key, long recordBytes) {
    final Group last = unfinished.peekLast();
    if (last == null) {
      return;
    }
    last.bytes += recordBytes;
    ++last.records;
    unfinishedBytes += recordBytes;
    // Twice the bound, so that many groups end at once if the child process writes few records.
    if (unfinished.size() > 1
        && unfinishedBytes - unfinished.peekFirst().bytes > 2 * BUFFERED_BYTES_MAX) {
      settle(false);
    }
  }

  @Override
  synchronized void end() {
    inGroup = false;
  }

  /** Reports no group, since the child process may still be working. */
  @Override
  void endAll() {
    end();
  }

  @Override
  synchronized void endLast() {
    inGroup = false;
    settle(true);
    meter.finish(System.nanoTime());
  }

  /** Reports to the meter the groups that have ended since the last call. */
  @Override
  synchronized void settle() {
    settle(false);
  }

  private void settle(boolean haveAllEnded) {
    final long answers = answered.getAsLong();
    if (writtenGroups > 0) {
      answersPerGroup = Math.max(answersPerGroup, (double) answers / writtenGroups);
    }
    // The addend corrects rounding.
    final long answeredGroups = (long) (answers / answersPerGroup + 1e-6);
    final int ended = haveAllEnded ? complete() : countEnded(answeredGroups);
    final long emittedBytes = ended > 0 ? emittedSinceLast() : 0;
    for (int i = 0; i < ended; ++i) {
      final Group first = unfinished.peekFirst();
      meterFirst(first);
      meter.end(emittedBytes / ended + (i < emittedBytes % ended ? 1 : 0));
      unfinished.removeFirst();
      metered = null;
      unfinishedBytes -= first.bytes;
      ++finishedGroups;
    }
    if (ended > 0) {
      meter.closeUnit(System.nanoTime());
    }
    if (!unfinished.isEmpty()) {
      meterFirst(unfinished.peekFirst());
    }
  }

  /** Returns the number of unfinished groups whose records have all been written. */
  private int complete() {
    return unfinished.size() - (inGroup ? 1 : 0);
  }

  /** Returns the number of unfinished groups that the child process has ended. */
  private int countEnded(long answeredGroups) {
    int ended = 0;
    long laterBytes = unfinishedBytes;
    for (final Group group : unfinished) {
      laterBytes -= group.bytes;
      if (finishedGroups + ended >= answeredGroups && laterBytes <= BUFFERED_BYTES_MAX) {
        break;
      }
      ++ended;
    }
    return Math.min(ended, complete());
  }

  /** Makes the first unfinished group the meter's group in progress, with all records so far. */
  private void meterFirst(Group first) {
    if (metered != first) {
      meter.begin(first.name, emitted());
      metered = first;
      meteredBytes = 0;
      meteredRecords = 0;
    }
    meter.readAll(first.bytes - meteredBytes, first.records - meteredRecords);
    meteredBytes = first.bytes;
    meteredRecords = first.records;
  }
}
