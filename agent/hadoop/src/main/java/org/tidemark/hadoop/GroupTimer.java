package org.tidemark.hadoop;

import java.util.function.LongSupplier;
import org.apache.hadoop.io.DataInputBuffer;
import org.tidemark.jvm.profile.ReduceMeter;

/** Reports to the meter where key groups begin and end. Belongs to the task's thread. */
final class GroupTimer {
  private final ReduceMeter meter;
  private final KeyGrouping grouping;
  private final LongSupplier emitted;
  private boolean inGroup;
  private long emittedBefore;

  /** {@code emitted} returns the number of bytes that the task has written so far. */
  GroupTimer(ReduceMeter meter, KeyGrouping grouping, LongSupplier emitted) {
    this.meter = meter;
    this.grouping = grouping;
    this.emitted = emitted;
    emittedBefore = emitted.getAsLong();
    meter.start(System.nanoTime());
  }

  /** The reduce function is called with this key. */
  void begin(DataInputBuffer key) {
    if (meter.asksForNames()) {
      meter.begin(grouping.name(key), emittedBefore);
    } else {
      meter.beginUnnamed(emittedBefore);
    }
    inGroup = true;
  }

  /** The reduce function reads, or will read, a record of its key group. */
  void read(DataInputBuffer key, long recordBytes) {
    final boolean turnsLarge = meter.turnsLarge(recordBytes);
    meter.read(recordBytes);
    if (turnsLarge) {
      if (!meter.isNamed()) {
        meter.name(grouping.name(key));
      }
      meter.turnLarge(System.nanoTime());
    }
  }

  /** The reduce function has returned, if it was called. */
  void end() {
    if (!inGroup) {
      return;
    }
    inGroup = false;
    final long emittedNow = emitted.getAsLong();
    final boolean closesUnit = meter.end(emittedNow - emittedBefore);
    emittedBefore = emittedNow;
    if (closesUnit) {
      meter.closeUnit(System.nanoTime());
    }
  }

  /** The last call has returned, and the task closes its output. */
  void endAll() {
    end();
    meter.closeUnit(System.nanoTime());
  }

  /** The task has closed its output. The last call returned before that, if it was not recorded. */
  void endLast() {
    if (inGroup) {
      inGroup = false;
      meter.endLast(emitted.getAsLong() - emittedBefore, System.nanoTime());
    }
    meter.finish(System.nanoTime());
  }

  static int length(DataInputBuffer buffer) {
    return buffer.getLength() - buffer.getPosition();
  }
}
