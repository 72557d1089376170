package org.tidemark.spark;

import org.tidemark.jvm.profile.MeterSettings;
import org.tidemark.jvm.profile.ProcessorWatch;
import org.tidemark.jvm.profile.ReduceMeter;
import org.tidemark.jvm.transport.Sender;
import org.tidemark.jvm.wire.Event;
import org.tidemark.jvm.wire.Events;

/**
 * The sizes and times of the key groups of one task, told at every flush. A key group is as large as
 * its share of the records that the task fetched. It begins when it is handed out, with all its
 * values, and ends when the next is asked for; how many values were read of the one in progress is
 * not known, and told as none.
 */
final class GroupTimes implements Sender.Reporter {
  private final TaskWatch watch;
  private final MeterSettings settings;
  private final ReduceMeter meter;
  private final ProcessorWatch processor = ProcessorWatch.ofThisThread(System.nanoTime());
  private final double bytesPerRecord;
  // Of the group in progress; they belong to the task's thread.
  private boolean inGroup;
  private long values;
  private long bytes;
  private long emittedBefore;
  /** Whether all keys so far have names that mean the same in every task. */
  private volatile boolean isNamed = true;

  /** Made on the task's thread when it has all its input. */
  GroupTimes(TaskWatch watch, MeterSettings settings) {
    this.watch = watch;
    this.settings = settings;
    meter = new ReduceMeter(settings);
    bytesPerRecord = watch.bytesPerRecord();
    emittedBefore = watch.emitted();
    meter.start(System.nanoTime());
  }

  /** A key's values are handed out. */
  void begin(Object key, Object group) {
    values = group instanceof scala.collection.Iterable ? sizeOf(group) : 1;
    bytes = Math.round(values * bytesPerRecord);
    isNamed &= KeyNames.has(key);
    if (isNamed && (meter.asksForNames() || meter.turnsLarge(bytes))) {
      meter.begin(KeyNames.of(key), emittedBefore);
    } else {
      meter.beginUnnamed(emittedBefore);
    }
    if (meter.turnsLarge(bytes)) {
      if (isNamed && !meter.isNamed()) {
        meter.name(KeyNames.of(key));
      }
      meter.turnLarge(System.nanoTime());
    }
    inGroup = true;
  }

  /** The next is asked for, if there was one. */
  void end() {
    if (inGroup && close()) {
      meter.closeUnit(System.nanoTime());
    }
  }

  /** The task is over. */
  void endLast() {
    end();
    meter.finish(System.nanoTime());
  }

  private boolean close() {
    inGroup = false;
    meter.readAll(bytes, values);
    final long emittedNow = watch.emitted();
    final boolean closesUnit = meter.end(emittedNow - emittedBefore);
    emittedBefore = emittedNow;
    return closesUnit;
  }

  private static long sizeOf(Object group) {
    return ((scala.collection.Iterable<?>) group).size();
  }

  @Override
  public Event report() {
    meter.askForBurst();
    final boolean withDetails = !settings.paused();
    final ReduceMeter.Taken taken = meter.take(withDetails);
    final ReduceMeter.Running running = withDetails ? meter.running(watch.emitted()) : null;
    final long now = System.nanoTime();
    final long sinceEndMillis = (now - taken.lastEndNanos) / 1_000_000L;
    return Events.reduceProfile(
        watch.attempt,
        taken,
        System.currentTimeMillis() - sinceEndMillis,
        running,
        isNamed,
        processor.read(now),
        null); // TaskWatch tells them
  }
}
