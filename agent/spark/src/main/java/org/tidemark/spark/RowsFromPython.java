package org.tidemark.spark;

import java.util.Map;

/**
 * How many rows come back from Python for each record that is read, of each stage, by the tasks of
 * this process that have finished: where what had come back also told how much of their time had
 * passed. It does not where it comes back in a few large batches. Thread-safe.
 */
final class RowsFromPython {
  /** What came back may be so far from the time that had passed, on average, as parts of the whole. */
  private static final double ERROR_MAX = 0.15;

  private static final class Counted {
    long records;
    long rows;
    double errors;
    int judged;
  }

  private final Map<Integer, Counted> stages = new Latest<>();

  /**
   * A task of the stage has finished. {@code error}: how far what had come back was from the time that
   * had passed, 0..1; NaN: nobody looked.
   */
  synchronized void came(int stage, long records, long rows, double error) {
    if (!Double.isNaN(error)) {
      final Counted counted = stages.computeIfAbsent(stage, unseen -> new Counted());
      counted.records += records;
      counted.rows += rows;
      counted.errors += error;
      ++counted.judged;
    }
  }

  /** 0: not known, or it would mislead. */
  synchronized double perRecord(int stage) {
    final Counted counted = stages.get(stage);
    return counted == null || counted.records <= 0 || counted.errors > ERROR_MAX * counted.judged
        ? 0
        : (double) counted.rows / counted.records;
  }
}
