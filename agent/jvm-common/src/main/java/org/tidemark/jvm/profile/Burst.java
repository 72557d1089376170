package org.tidemark.jvm.profile;

/**
 * Splits the time of a burst of small key groups in proportion to their sizes. Empty groups count
 * as one byte. streaming/bursting.h implements the same rule; tests/vectors/bursting.json contains
 * golden values for both.
 */
public final class Burst {
  private Burst() {}

  /**
   * Returns the time of each of the first {@code count} sizes. The times add up to {@code
   * elapsedNanos}. A negative time counts as zero.
   */
  public static double[] split(long[] sizesBytes, int count, long elapsedNanos) {
    double weightTotal = 0;
    for (int i = 0; i < count; ++i) {
      weightTotal += Math.max(sizesBytes[i], 1);
    }
    final double[] nanos = new double[count];
    for (int i = 0; i < count; ++i) {
      nanos[i] = Math.max(elapsedNanos, 0) * (Math.max(sizesBytes[i], 1) / weightTotal);
    }
    return nanos;
  }
}
