package org.tidemark.hadoop;

import java.io.IOException;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.util.Progress;
import org.tidemark.jvm.guard.Guard;

/**
 * The sorted records of a task with a reducer of org.apache.hadoop.mapred.
 *
 * <p>The task requests the progress exactly once before the first call of the reduce function and
 * once after each call. These requests separate the key groups. At each request, the task has
 * already read ahead the first record of the next group. A record is counted when the next record
 * is requested, whether or not its value was requested.
 */
final class OldApiRecords implements RawKeyValueIterator {
  private final RawKeyValueIterator records;
  private final GroupTimer timer;
  private final Guard guard;
  /** The key of the record that was read ahead and has not been counted yet, or null. */
  private DataInputBuffer keyAhead;

  private long bytesAhead;

  OldApiRecords(RawKeyValueIterator records, GroupTimer timer, Guard guard) {
    this.records = records;
    this.timer = timer;
    this.guard = guard;
  }

  @Override
  public boolean next() throws IOException {
    try {
      if (!guard.isOff()) {
        count();
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
    final boolean hasNext = records.next();
    if (hasNext && !guard.isOff()) {
      keyAhead = records.getKey();
      bytesAhead = GroupTimer.length(keyAhead) + (long) GroupTimer.length(records.getValue());
    }
    return hasNext;
  }

  private void count() {
    if (keyAhead != null) {
      timer.read(keyAhead, bytesAhead);
      keyAhead = null;
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
    if (keyAhead == null) {
      timer.endAll();
      return;
    }
    timer.end();
    timer.begin(keyAhead);
    count();
  }
}
