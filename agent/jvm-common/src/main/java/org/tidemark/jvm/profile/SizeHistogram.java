package org.tidemark.jvm.profile;

/**
 * Key groups by logarithm of size, with six bins per octave, and the moments of their times. The
 * bins equal the bins of streaming/size_histogram.h and ReduceProfile.bin_indexes.
 * tests/vectors/size_bins.json has golden values for both.
 *
 * <p>{@link #add} takes O(1) time. Not thread-safe.
 */
public final class SizeHistogram {
  public static final int BINS = 384;

  private static final int BINS_PER_OCTAVE = 6;
  // The smallest size of each bin that a long can represent, so that adding needs no logarithm.
  private static final long[] BIN_STARTS = binStarts();

  public final long[] counts = new long[BINS];
  public final long[] sizeBytes = new long[BINS];
  public final double[] seconds = new double[BINS];
  public final double[] secondsSquared = new double[BINS];
  public final long[] emittedBytes = new long[BINS];

  /** Returns the bin of a size; 0 for 0 and 1 bytes. */
  public static int bin(long sizeBytes) {
    if (sizeBytes <= 1) {
      return 0;
    }
    int bin = (63 - Long.numberOfLeadingZeros(sizeBytes)) * BINS_PER_OCTAVE;
    while (bin + 1 < BIN_STARTS.length && sizeBytes >= BIN_STARTS[bin + 1]) {
      ++bin;
    }
    return bin;
  }

  /** Adds {@code count} key groups of equal size. Each gets the mean time. */
  public void add(long size, long count, double nanos, long emitted) {
    if (count == 0) {
      return;
    }
    final int bin = bin(size);
    final double time = Math.max(nanos, 0) / 1e9;
    counts[bin] += count;
    sizeBytes[bin] += size * count;
    seconds[bin] += time;
    secondsSquared[bin] += time * time / count;
    emittedBytes[bin] += emitted;
  }

  private static long[] binStarts() {
    final long[] starts = new long[63 * BINS_PER_OCTAVE];
    for (int bin = 0; bin < starts.length; ++bin) {
      long start = (long) Math.ceil(Math.pow(2, (double) bin / BINS_PER_OCTAVE));
      // A power of two must start its octave regardless of the rounding of pow().
      if (bin % BINS_PER_OCTAVE == 0) {
        start = 1L << (bin / BINS_PER_OCTAVE);
      }
      starts[bin] = start;
    }
    return starts;
  }
}
