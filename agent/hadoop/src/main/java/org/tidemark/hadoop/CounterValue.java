package org.tidemark.hadoop;

import java.util.function.LongSupplier;
import org.apache.hadoop.mapred.Counters;

/**
 * Reads one of Hadoop's counters. This is a class because a task's process takes longer to link a
 * lambda than to load a class.
 */
final class CounterValue implements LongSupplier {
  private final Counters.Counter counter;

  /** {@code counter} may be null; its value is then zero. */
  CounterValue(Counters.Counter counter) {
    this.counter = counter;
  }

  @Override
  public long getAsLong() {
    return counter == null ? 0 : counter.getValue();
  }
}
