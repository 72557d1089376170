package org.tidemark.tez;

import java.util.EnumMap;
import java.util.Map;
import org.apache.tez.common.counters.CounterGroup;
import org.apache.tez.common.counters.TaskCounter;
import org.apache.tez.common.counters.TezCounter;
import org.apache.tez.common.counters.TezCounters;

/**
 * The values of a task's counters. Only iterates over Tez's object, since a search for an absent
 * counter would add it.
 */
final class CounterValues {
  private static final String TASK_GROUP = TaskCounter.class.getName();

  private final Map<TaskCounter, Long> values = new EnumMap<>(TaskCounter.class);

  /** {@code counters} may be null. */
  CounterValues(TezCounters counters) {
    if (counters == null) {
      return;
    }
    for (CounterGroup group : counters) {
      if (TASK_GROUP.equals(group.getName())) {
        for (TezCounter counter : group) {
          add(counter);
        }
      }
    }
  }

  private void add(TezCounter counter) {
    try {
      values.put(TaskCounter.valueOf(counter.getName()), counter.getValue());
    } catch (IllegalArgumentException ofAnotherVersion) {
      // The counter is from another version of Tez, so no code here reads it.
    }
  }

  /** Returns a negative number if the counter is unknown. */
  long of(TaskCounter counter) {
    return values.getOrDefault(counter, -1L);
  }

  /** Returns the input in bytes, or a negative number if it is unknown. */
  long inputBytes() {
    return sum(TaskCounter.SHUFFLE_BYTES_DECOMPRESSED, TaskCounter.INPUT_SPLIT_LENGTH_BYTES);
  }

  /** Returns the records that were read, or a negative number if they are unknown. */
  long inputRecords() {
    return sum(TaskCounter.INPUT_RECORDS_PROCESSED, TaskCounter.REDUCE_INPUT_RECORDS);
  }

  private long sum(TaskCounter one, TaskCounter other) {
    return of(one) < 0 && of(other) < 0 ? -1 : Math.max(of(one), 0) + Math.max(of(other), 0);
  }
}
