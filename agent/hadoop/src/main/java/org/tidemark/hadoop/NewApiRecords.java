package org.tidemark.hadoop;

import java.io.IOException;
import java.util.function.LongSupplier;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.util.Progress;
import org.tidemark.jvm.guard.Guard;

/**
 * The sorted records of a task with a reducer of org.apache.hadoop.mapreduce.
 *
 * <p>Its context requests the value of each record exactly once, when the record is read, and looks
 * ahead only with next() and getKey(). The value of a group's first record is therefore requested
 * when the call for that group begins and the previous call has returned. The time of a group
 * therefore includes the work after the loop over the values, and the values that the function did
 * not read.
 *
 * <p>The context determines the key groups, and counts each group just before reading its first
 * value. If a reducer bypasses the context's groups, its whole input is one group.
 */
final class NewApiRecords implements RawKeyValueIterator {
  private final RawKeyValueIterator records;
  private final GroupTimer timer;
  private final LongSupplier groups;
  private final Guard guard;
  private long groupsBefore = -1;
  private boolean isRead;

  /** {@code groups} returns the number of groups that the task has begun. */
  NewApiRecords(RawKeyValueIterator records, GroupTimer timer, LongSupplier groups, Guard guard) {
    this.records = records;
    this.timer = timer;
    this.groups = groups;
    this.guard = guard;
  }

  @Override
  public boolean next() throws IOException {
    isRead = false;
    return records.next();
  }

  @Override
  public DataInputBuffer getKey() throws IOException {
    return records.getKey();
  }

  @Override
  public DataInputBuffer getValue() throws IOException {
    final DataInputBuffer value = records.getValue();
    if (!isRead) {
      isRead = true;
      watch(records.getKey(), value);
    }
    return value;
  }

  private void watch(DataInputBuffer key, DataInputBuffer value) {
    try {
      if (guard.isOff()) {
        return;
      }
      final long groupsNow = groups.getAsLong();
      if (groupsNow != groupsBefore) {
        groupsBefore = groupsNow;
        timer.end();
        timer.begin(key);
      }
      timer.read(key, GroupTimer.length(key) + (long) GroupTimer.length(value));
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  @Override
  public void close() throws IOException {
    records.close();
  }

  @Override
  public Progress getProgress() {
    return records.getProgress();
  }
}
