package org.tidemark.spark;

import java.util.Map;
import org.tidemark.jvm.report.Latest;

/**
 * The number of rows that return from Python per input record, by stage, from finished tasks of
 * this process. A task counts only if its share of returned rows stays close to its share of
 * elapsed time, so tasks whose rows return in a few large batches do not count. Thread-safe.
 */
final class RowsFromPython {
  /**
   * The maximum mean difference between the share of returned rows and the share of elapsed time.
   */
  private static final double ERROR_MAX = 0.15;

  private static final class Counted {
    long records;
    long rows;
    double errors;
    int judged;
  }

  private final Map<Integer, Counted> stages = new Latest<>();

  /**
   * Records a finished task of the stage. {@code error} is the mean difference between the shares
   * of returned rows and of elapsed time, 0..1, or NaN if there are no samples.
   */
  synchronized void came(int stage, long records, long rows, double error) {
    if (!Double.isNaN(error)) {
      final Counted counted = stages.computeIfAbsent(stage, missing -> new Counted());
      counted.records += records;
      counted.rows += rows;
      counted.errors += error;
      ++counted.judged;
    }
  }

  /** Returns 0 if the number is unknown or misleading. */
  synchronized double perRecord(int stage) {
    final Counted counted = stages.get(stage);
    return counted == null || counted.records <= 0 || counted.errors > ERROR_MAX * counted.judged
        ? 0
        : (double) counted.rows / counted.records;
  }
}
