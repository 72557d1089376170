package org.tidemark.spark;

import org.tidemark.jvm.profile.MeterSettings;
import org.tidemark.jvm.profile.ProcessorWatch;
import org.tidemark.jvm.profile.ReduceMeter;
import org.tidemark.jvm.transport.Sender;
import org.tidemark.jvm.wire.Event;
import org.tidemark.jvm.wire.Events;

/**
 * The sizes and times of the key groups of one task, reported at every flush. The size of a key
 * group is its share of the records that the task fetched. A group begins when Spark returns it
 * with all its values, and ends when the next group is requested. The number of values read of the
 * running group is unknown and reported as zero.
 */
final class GroupTimes implements Sender.Reporter {
  private final TaskWatch watch;
  private final MeterSettings settings;
  private final ReduceMeter meter;
  private final ProcessorWatch processor = ProcessorWatch.ofThisThread(System.nanoTime());
  private final double bytesPerRecord;
  // These members describe the group in progress and belong to the task's thread.
  private boolean inGroup;
  private long values;
  private long bytes;
  private long emittedBefore;
  /** True while names identify the same keys in every task. */
  private volatile boolean isNamed = true;

  /** Must be created on the task's thread when the task has all its input. */
  GroupTimes(TaskWatch watch, MeterSettings settings) {
    this.watch = watch;
    this.settings = settings;
    meter = new ReduceMeter(settings);
    bytesPerRecord = watch.bytesPerRecord();
    emittedBefore = watch.emitted();
    meter.start(System.nanoTime());
  }

  /** Called when a key and its values are passed to the task. */
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

  /** Called when the next group is requested. */
  void end() {
    if (inGroup && close()) {
      meter.closeUnit(System.nanoTime());
    }
  }

  /** Called when the task is over. */
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
        null);  // TaskWatch reports them
  }
}
