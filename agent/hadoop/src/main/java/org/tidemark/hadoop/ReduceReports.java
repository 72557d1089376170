package org.tidemark.hadoop;

import java.util.function.LongSupplier;
import org.tidemark.jvm.profile.ProcessorWatch;
import org.tidemark.jvm.profile.ReduceMeter;
import org.tidemark.jvm.transport.Sender;
import org.tidemark.jvm.wire.Event;
import org.tidemark.jvm.wire.Events;

/** The reports of a reduce task at every flush: first the fetched input, then the key groups. */
final class ReduceReports implements Sender.Reporter {
  private final TaskLink link;
  private final ReduceMeter meter;
  private final LongSupplier fetched;
  private final LongSupplier emitted;
  /** Is null if the reduce function runs in another process, since its waits are unknown. */
  private ProcessorWatch processor;
  /** Null before the reduce function. Set last, so that a reader also sees the watch. */
  private volatile GroupTimer timer;

  ReduceReports(TaskLink link, ReduceMeter meter, LongSupplier fetched, LongSupplier emitted) {
    this.link = link;
    this.meter = meter;
    this.fetched = fetched;
    this.emitted = emitted;
  }

  LongSupplier emitted() {
    return emitted;
  }

  /**
   * Reports the complete input and switches to profiles. Called on the task's thread. No other
   * report is created during the call, so totals do not decrease.
   */
  synchronized void beginProfiles(GroupTimer groups) {
    link.send(link.heartbeat(fetched.getAsLong(), 0, 0));
    processor =
        groups instanceof PipedGroups ? null : ProcessorWatch.ofThisThread(System.nanoTime());
    timer = groups;
  }

  @Override
  public Event report() {
    if (timer == null) {
      return link.heartbeat(fetched.getAsLong(), 0, 0);
    }
    timer.settle();
    meter.askForBurst();
    final boolean withDetails = !link.settings().paused();
    final ReduceMeter.Taken taken = meter.take(withDetails);
    final ReduceMeter.Running running =
        withDetails ? meter.running(emitted.getAsLong()) : null;
    final long now = System.nanoTime();
    final long sinceEndMillis = (now - taken.lastEndNanos) / 1_000_000L;
    return Events.reduceProfile(
        link.attempt,
        taken,
        System.currentTimeMillis() - sinceEndMillis,
        running,
        link.grouping.namesKeys(),
        processor == null ? null : processor.read(now),
        link.times());
  }
}
