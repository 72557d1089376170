package org.tidemark.hadoop;

import java.util.function.LongSupplier;
import org.apache.hadoop.mapred.Counters;

/**
 * What one of Hadoop's counters says. A class and not a lambda wherever one is read: each of those would
 * take a task's process longer to link than this one to load.
 */
final class CounterValue implements LongSupplier {
  private final Counters.Counter counter;

  /** {@code counter} may be null: nobody counts, and it stays at zero. */
  CounterValue(Counters.Counter counter) {
    this.counter = counter;
  }

  @Override
  public long getAsLong() {
    return counter == null ? 0 : counter.getValue();
  }
}
