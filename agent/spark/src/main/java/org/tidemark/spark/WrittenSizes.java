package org.tidemark.spark;

import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What was written for each partition of the shuffles of which Spark knows averages only, as
 * executors tell it ({@link MapOutputs}). Thread-safe.
 */
final class WrittenSizes {
  /** Limits memory: of applications with more tasks before it, a shuffle keeps Spark's averages. */
  private static final long TASKS_MAX = 10_000_000;

  /** The newest: those of a stage are asked for when it is submitted. */
  private static final int SHUFFLES_MAX = 20;

  /** What the last executor told may still be under way when the next stage is submitted. */
  private static final long PATIENCE_NANOS = 200_000_000L;

  private static final long NANOS_PER_MILLI = 1_000_000L;

  private static final class Shuffle {
    final long[] bytes;
    final BitSet tasks = new BitSet();

    Shuffle(int partitions) {
      bytes = new long[partitions];
    }
  }

  private final Map<Integer, Shuffle> shuffles =
      new LinkedHashMap<Integer, Shuffle>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, Shuffle> eldest) {
          return size() > SHUFFLES_MAX;
        }
      };

  /** Nobody has told anything when it was waited for: there may be nobody who does. */
  private boolean isSilent;

  /** {@code told}: the shuffle, the number of a task, and what it wrote for each partition. */
  synchronized void add(long[] told) {
    final int partitions = told.length - 2;
    if (partitions < 0 || partitions > MapOutputs.PARTITIONS_MAX) {
      return;
    }
    if (told[1] < 0 || told[1] > TASKS_MAX) {
      return;
    }
    final Shuffle shuffle =
        shuffles.computeIfAbsent((int) told[0], unseen -> new Shuffle(partitions));
    final int task = (int) told[1];
    if (shuffle.bytes.length == partitions && !shuffle.tasks.get(task)) {
      isSilent = false;
      shuffle.tasks.set(task);
      for (int p = 0; p < partitions; ++p) {
        shuffle.bytes[p] += told[2 + p];
      }
      notifyAll();
    }
  }

  /**
   * By partition, what these tasks wrote together; null: not known, also where some wrote what has
   * been lost since, or twice.
   */
  synchronized long[] of(int shuffle, long[] tasks) throws InterruptedException {
    final long deadline = System.nanoTime() + (isSilent ? 0 : PATIENCE_NANOS);
    while (countOf(shuffle) < tasks.length) {
      final long left = deadline - System.nanoTime();
      if (left <= 0) {
        isSilent = shuffles.isEmpty();
        return null;
      }
      wait(Math.max(1, left / NANOS_PER_MILLI));
    }
    final Shuffle written = shuffles.get(shuffle);
    if (written == null || written.tasks.cardinality() != tasks.length) {
      return null;
    }
    for (long task : tasks) {
      if (task < 0 || task > Integer.MAX_VALUE || !written.tasks.get((int) task)) {
        return null;
      }
    }
    return Arrays.copyOf(written.bytes, written.bytes.length);
  }

  private int countOf(int shuffle) {
    final Shuffle written = shuffles.get(shuffle);
    return written == null ? 0 : written.tasks.cardinality();
  }
}
