package org.tidemark.jvm.profile;

/**
 * Splits the time of a burst of small key groups over them in proportion to their sizes, those of
 * no size counting as one byte: the rule of streaming/bursting.h. Golden values for both:
 * tests/vectors/bursting.json.
 */
public final class Burst {
  private Burst() {}

  /**
   * The time of each of the first {@code count} sizes; a negative {@code elapsedNanos} counts as
   * zero. They add up to it.
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
