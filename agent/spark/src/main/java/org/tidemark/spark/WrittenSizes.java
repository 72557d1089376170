package org.tidemark.spark;

import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The bytes written to each partition, as reported by executors ({@link MapOutputs}), for shuffles
 * of which Spark keeps only averages. Thread-safe.
 */
final class WrittenSizes {
  /** Bounds memory. With more map tasks, Spark's averages are used. */
  private static final long TASKS_MAX = 10_000_000;

  /** Only the newest shuffles are kept, since a stage needs its shuffles when it is submitted. */
  private static final int SHUFFLES_MAX = 20;

  /**
   * How long to wait for missing reports. The last report of an executor may still be in flight
   * when the next stage is submitted.
   */
  static final long PATIENCE_NANOS = 200_000_000L;

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

  private final long patienceNanos;

  /** True after a wait in which no report arrived, since possibly no executor reports. */
  private boolean isSilent;

  WrittenSizes(long patienceNanos) {
    this.patienceNanos = patienceNanos;
  }

  /**
   * {@code output} contains the shuffle, the number of a task, and the bytes for each partition.
   */
  synchronized void add(long[] output) {
    final int partitions = output.length - 2;
    if (partitions < 0 || partitions > MapOutputs.PARTITIONS_MAX) {
      return;
    }
    if (output[1] < 0 || output[1] > TASKS_MAX) {
      return;
    }
    final Shuffle shuffle =
        shuffles.computeIfAbsent((int) output[0], missing -> new Shuffle(partitions));
    final int task = (int) output[1];
    if (shuffle.bytes.length == partitions && !shuffle.tasks.get(task)) {
      isSilent = false;
      shuffle.tasks.set(task);
      for (int p = 0; p < partitions; ++p) {
        shuffle.bytes[p] += output[2 + p];
      }
      notifyAll();
    }
  }

  /**
   * Returns the total of these tasks by partition, or null if it is unknown or if a task's output
   * was lost or written twice.
   */
  synchronized long[] of(int shuffle, long[] tasks) throws InterruptedException {
    final long deadline = System.nanoTime() + (isSilent ? 0 : patienceNanos);
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
