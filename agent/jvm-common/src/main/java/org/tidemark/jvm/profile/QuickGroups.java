package org.tidemark.jvm.profile;

/**
 * Decides which key groups are timed in bursts because a clock reading per group would cost too
 * much. If sixteen groups in a row take less than 10 us each when timed alone, groups of up to
 * twice their size join bursts. The first burst that takes longer per group resets this limit.
 * agent/reduce_recorder.h implements the same rules; tests/vectors/reduce_units.json checks that
 * both form the same units.
 *
 * <p>Not thread-safe. O(1).
 */
final class QuickGroups {
  private static final long QUICK_NANOS = 10_000;
  private static final int IN_A_ROW = 16;

  /** For larger groups, the cost of a clock reading is negligible. */
  private static final long SIZE_BYTES_MAX = 2048;

  private long belowBytes;
  private int inARow;

  /**
   * Returns the smallest size of key groups that are timed alone, given the burst threshold. With a
   * threshold of 0, all groups are timed alone.
   */
  long timedAloneFrom(long thresholdBytes) {
    return thresholdBytes == 0 ? 0 : Math.max(thresholdBytes, belowBytes);
  }

  /** Returns true if some key groups below {@link #timedAloneFrom} finish quickly. */
  boolean areAny() {
    return belowBytes > 0;
  }

  void onTimedAlone(long sizeBytes, long nanos) {
    inARow = nanos < QUICK_NANOS ? inARow + 1 : 0;
    if (inARow >= IN_A_ROW) {
      belowBytes = Math.max(belowBytes, 2 * Math.min(sizeBytes, SIZE_BYTES_MAX));
    }
  }

  void onTimedTogether(int groups, long nanos) {
    inARow = 0;
    if (nanos >= QUICK_NANOS * groups) {
      belowBytes = 0;
    }
  }
}
