package org.tidemark.jvm.profile;

import java.util.Arrays;

/**
 * The finished key groups whose keys a reduce profile names: all groups of at least a certain size,
 * and groups that the master sampled. If there are more than {@code keysMax} large groups, or more
 * than a profile may name, the smaller groups lose their names. The size threshold then rises until
 * the next {@link #clear}. Sampled groups beyond {@code keysMax} are dropped
 * (agent/reduce_recorder.h). Not thread-safe.
 */
public final class NamedKeys {
  private final int keysMax;
  private final Columns large = new Columns();
  private final Columns sampled = new Columns();
  private long bytesMin;

  public NamedKeys(int keysMax) {
    this.keysMax = keysMax;
  }

  /**
   * {@code timeNanos} is 0 for a key group that was timed together with others; {@code
   * sampledBelow} is an unsigned rank.
   */
  public void add(
      long hash,
      long sizeBytes,
      long timeNanos,
      long emittedBytes,
      long askedBytesMin,
      long sampledBelow) {
    bytesMin = Math.max(bytesMin, askedBytesMin);
    if (Long.compareUnsigned(KeySampler.rank(hash), sampledBelow) < 0) {
      if (sampled.count < keysMax) {
        sampled.add(hash, sizeBytes, timeNanos, emittedBytes);
      }
    } else if (sizeBytes >= bytesMin) {
      large.add(hash, sizeBytes, timeNanos, emittedBytes);
      if (large.count >= 2 * keysMax) {
        retainLargest(keysMax);
      }
    }
  }

  /** Records that a key group of this size finished but has no name. */
  public void leaveOut(long sizeBytes) {
    bytesMin = Math.max(bytesMin, sizeBytes + 1);
  }

  /** Selects the names of the next profile, with at most {@code largeMax} large keys. */
  public void settle(long askedBytesMin, int largeMax) {
    bytesMin = Math.max(bytesMin, askedBytesMin);
    retainLargest(Math.min(largeMax, keysMax));
    large.retainFrom(bytesMin);
  }

  public int count() {
    return sampled.count + large.count;
  }

  public long bytesMin() {
    return bytesMin;
  }

  /** Returns the key hashes. This array and the arrays below begin with the sampled keys. */
  public long[] hashes() {
    return joined(sampled.hashes, large.hashes);
  }

  public long[] sizes() {
    return joined(sampled.sizes, large.sizes);
  }

  public long[] nanos() {
    return joined(sampled.nanos, large.nanos);
  }

  public long[] emitted() {
    return joined(sampled.emitted, large.emitted);
  }

  public void clear() {
    sampled.count = 0;
    large.count = 0;
    bytesMin = 0;
  }

  private long[] joined(long[] first, long[] second) {
    final long[] all = Arrays.copyOf(first, count());
    System.arraycopy(second, 0, all, sampled.count, large.count);
    return all;
  }

  /**
   * Groups of equal size lose their names together, since a profile names all groups of at least a
   * certain size.
   */
  private void retainLargest(int count) {
    if (large.count <= count) {
      return;
    }
    final long[] sorted = Arrays.copyOf(large.sizes, large.count);
    Arrays.sort(sorted);
    bytesMin = sorted[large.count - 1 - count] + 1;
    large.retainFrom(bytesMin);
  }

  /** Key groups, with one array per property. */
  private static final class Columns {
    int count;
    long[] hashes = new long[64];
    long[] sizes = new long[64];
    long[] nanos = new long[64];
    long[] emitted = new long[64];

    void add(long hash, long sizeBytes, long timeNanos, long emittedBytes) {
      if (count == hashes.length) {
        grow();
      }
      hashes[count] = hash;
      sizes[count] = sizeBytes;
      nanos[count] = timeNanos;
      emitted[count++] = emittedBytes;
    }

    void retainFrom(long sizeBytesMin) {
      int kept = 0;
      for (int i = 0; i < count; ++i) {
        if (sizes[i] >= sizeBytesMin) {
          hashes[kept] = hashes[i];
          sizes[kept] = sizes[i];
          nanos[kept] = nanos[i];
          emitted[kept++] = emitted[i];
        }
      }
      count = kept;
    }

    private void grow() {
      final int room = hashes.length * 2;
      hashes = Arrays.copyOf(hashes, room);
      sizes = Arrays.copyOf(sizes, room);
      nanos = Arrays.copyOf(nanos, room);
      emitted = Arrays.copyOf(emitted, room);
    }
  }
}
