package org.tidemark.jvm.profile;

/**
 * Key groups that are over so soon that a look at the clock for each would be a good part of what
 * they cost: sixteen in a row that took less than 10 us each, alone, put those of up to twice their
 * size into bursts, and a burst that took longer a key group ends that. The rules are those of
 * agent/quick_groups.h; tests/vectors/reduce_units.json holds the two to the same units.
 *
 * <p>Not thread-safe. O(1).
 */
final class QuickGroups {
  private static final long QUICK_NANOS = 10_000;
  private static final int IN_A_ROW = 16;

  /** Beside a larger one, a look at the clock is nothing. */
  private static final long SIZE_BYTES_MAX = 2048;

  private long belowBytes;
  private int inARow;

  /**
   * From which size on a key group is timed alone, given the burst threshold; a threshold of 0 asks
   * for all of them.
   */
  long timedAloneFrom(long thresholdBytes) {
    return thresholdBytes == 0 ? 0 : Math.max(thresholdBytes, belowBytes);
  }

  /** Whether there are any: key groups below {@link #timedAloneFrom} that are over in no time. */
  boolean areAny() {
    return belowBytes > 0;
  }

  void tookAlone(long sizeBytes, long nanos) {
    inARow = nanos < QUICK_NANOS ? inARow + 1 : 0;
    if (inARow >= IN_A_ROW) {
      belowBytes = Math.max(belowBytes, 2 * Math.min(sizeBytes, SIZE_BYTES_MAX));
    }
  }

  void tookTogether(int groups, long nanos) {
    inARow = 0;
    if (nanos >= QUICK_NANOS * groups) {
      belowBytes = 0;
    }
  }
}
