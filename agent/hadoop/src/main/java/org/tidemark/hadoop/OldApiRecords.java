package org.tidemark.hadoop;

import java.io.IOException;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.util.Progress;
import org.tidemark.hadoop.guard.Guard;

/**
 * The sorted records of a task with a reducer of org.apache.hadoop.mapred.
 *
 * <p>The task asks for progress once before the first call of the reduce function and once after
 * each, and nowhere else. Records are looked ahead by one, and skipped ones are never asked for
 * their values, so a record counts for its group when it comes.
 */
final class OldApiRecords implements RawKeyValueIterator {
  private final RawKeyValueIterator records;
  private final GroupTimer timer;
  private final Guard guard;
  /** The size of a record that begins the next group; below zero: there is none. */
  private long pendingBytes = -1;

  OldApiRecords(RawKeyValueIterator records, GroupTimer timer, Guard guard) {
    this.records = records;
    this.timer = timer;
    this.guard = guard;
  }

  @Override
  public boolean next() throws IOException {
    if (!records.next()) {
      return false;
    }
    watch(records.getKey(), records.getValue());
    return true;
  }

  private void watch(DataInputBuffer key, DataInputBuffer value) {
    try {
      if (guard.isOff()) {
        return;
      }
      final long bytes = GroupTimer.length(key) + (long) GroupTimer.length(value);
      if (timer.startsGroup(key)) {
        pendingBytes = bytes;
      } else {
        timer.read(bytes);
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  @Override
  public DataInputBuffer getKey() throws IOException {
    return records.getKey();
  }

  @Override
  public DataInputBuffer getValue() throws IOException {
    return records.getValue();
  }

  @Override
  public void close() throws IOException {
    records.close();
  }

  @Override
  public Progress getProgress() {
    try {
      if (!guard.isOff()) {
        turn();
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
    return records.getProgress();
  }

  private void turn() {
    timer.end();
    if (pendingBytes >= 0) {
      timer.begin();
      timer.read(pendingBytes);
      pendingBytes = -1;
    }
  }
}
