package org.tidemark.hadoop;

import java.util.function.LongSupplier;
import org.apache.hadoop.io.DataInputBuffer;
import org.tidemark.jvm.profile.ReduceMeter;

/**
 * Reports to the meter where key groups begin and end. Belongs to the task's thread, unless a
 * subclass is thread-safe.
 */
class GroupTimer {
  final ReduceMeter meter;
  final KeyGrouping grouping;
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

  /** Begins a call of the reduce function with this key. */
  void begin(DataInputBuffer key) {
    if (meter.asksForNames()) {
      meter.begin(grouping.name(key), emittedBefore);
    } else {
      meter.beginUnnamed(emittedBefore);
    }
    inGroup = true;
  }

  /** Adds a record of the current key group that the reduce function has read or will read. */
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

  /** Ends the call of the reduce function. Does nothing if no call is in progress. */
  void end() {
    if (!inGroup) {
      return;
    }
    inGroup = false;
    if (meter.end(emittedSinceLast())) {
      meter.closeUnit(System.nanoTime());
    }
  }

  /** Ends the last call. Called before the task closes its output. */
  void endAll() {
    end();
    meter.closeUnit(System.nanoTime());
  }

  /**
   * Ends the last call, unless it has already ended. Called after the task has closed its output.
   */
  void endLast() {
    if (inGroup) {
      inGroup = false;
      meter.endLast(emitted.getAsLong() - emittedBefore, System.nanoTime());
    }
    meter.finish(System.nanoTime());
  }

  /** Called before each report, on the sender's thread. */
  void settle() {}

  long emitted() {
    return emitted.getAsLong();
  }

  /** Returns the bytes that the task has written since the last call. */
  long emittedSinceLast() {
    final long before = emittedBefore;
    emittedBefore = emitted.getAsLong();
    return emittedBefore - before;
  }

  static int length(DataInputBuffer buffer) {
    return buffer.getLength() - buffer.getPosition();
  }
}
