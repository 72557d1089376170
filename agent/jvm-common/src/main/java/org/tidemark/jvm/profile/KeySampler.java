package org.tidemark.jvm.profile;

import java.util.Arrays;

/**
 * The keys of one map task in the common sample of all map tasks. Contains the keys of lowest rank,
 * and the rank from which keys may be missing. streaming/key_sample.h implements the same rules;
 * tests/vectors/sample_rank.json and key_sample.json check both.
 *
 * <p>A binary heap in flat arrays, with the greatest rank at its root. A key that enters the heap
 * takes O(log capacity) time, any other key O(1). Not thread-safe.
 */
public final class KeySampler {
  /** A bound above all ranks except 2^64 - 1. Ranks are unsigned. */
  public static final long EVERY_RANK = -1;

  private final int capacity;
  private int kept;
  private final long[] ranks;
  private final long[] hashes;
  private final long[] sizes;
  private final long[] values;
  private final int[] partitions;
  private long below = EVERY_RANK;

  /** A {@code capacity} of 0 disables the sample. */
  public KeySampler(int capacity) {
    this.capacity = capacity;
    ranks = new long[capacity + 1];
    hashes = new long[capacity + 1];
    sizes = new long[capacity + 1];
    values = new long[capacity + 1];
    partitions = new int[capacity + 1];
  }

  /** Returns the rank of a key: fmix64, the finalizer of MurmurHash3, of its hash. */
  public static long rank(long hash) {
    long rank = (hash ^ (hash >>> 33)) * 0xff51afd7ed558ccdL;
    rank = (rank ^ (rank >>> 33)) * 0xc4ceb9fe1a85ec53L;
    return rank ^ (rank >>> 33);
  }

  /** Adds one key group of one partition. A key that occurs twice takes two entries. */
  public void offer(int partition, long hash, long sizeBytes, long valueCount) {
    final long rank = rank(hash);
    if (capacity == 0 || Long.compareUnsigned(rank, below) >= 0) {
      return;
    }
    put(kept, rank, hash, sizeBytes, valueCount, partition);
    siftUp(kept++);
    if (kept <= capacity) {
      return;
    }
    below = ranks[0];
    // Keys of equal rank are kept or dropped together, since their sample would otherwise be
    // incomplete.
    while (kept > 0 && ranks[0] == below) {
      swap(0, --kept);
      siftDown();
    }
  }

  /** Returns the rank below which no key is missing, or 0 if the sample is disabled. */
  public long below() {
    return capacity == 0 ? 0 : below;
  }

  /** Adds the partition's sampled keys that are not explicit, ordered by rank. */
  public void addTo(PartitionKeys keys) {
    final Integer[] own = new Integer[kept];
    int count = 0;
    for (int i = 0; i < kept; ++i) {
      if (partitions[i] == keys.partition && !keys.isExplicit(hashes[i], sizes[i])) {
        own[count++] = i;
      }
    }
    Arrays.sort(own, 0, count, (a, b) -> Long.compareUnsigned(ranks[a], ranks[b]));
    keys.sampledHashes = new long[count];
    keys.sampledBytes = new long[count];
    keys.sampledValues = new long[count];
    for (int i = 0; i < count; ++i) {
      keys.sampledHashes[i] = hashes[own[i]];
      keys.sampledBytes[i] = sizes[own[i]];
      keys.sampledValues[i] = values[own[i]];
    }
  }

  private void put(int at, long rank, long hash, long size, long valueCount, int partition) {
    ranks[at] = rank;
    hashes[at] = hash;
    sizes[at] = size;
    values[at] = valueCount;
    partitions[at] = partition;
  }

  private void swap(int a, int b) {
    final long rank = ranks[a];
    final long hash = hashes[a];
    final long size = sizes[a];
    final long valueCount = values[a];
    final int partition = partitions[a];
    put(a, ranks[b], hashes[b], sizes[b], values[b], partitions[b]);
    put(b, rank, hash, size, valueCount, partition);
  }

  private boolean greater(int a, int b) {
    return Long.compareUnsigned(ranks[a], ranks[b]) > 0;
  }

  private void siftUp(int from) {
    for (int at = from; at > 0 && greater(at, (at - 1) / 2); at = (at - 1) / 2) {
      swap(at, (at - 1) / 2);
    }
  }

  private void siftDown() {
    int at = 0;
    while (2 * at + 1 < kept) {
      int child = 2 * at + 1;
      if (child + 1 < kept && greater(child + 1, child)) {
        ++child;
      }
      if (!greater(child, at)) {
        return;
      }
      swap(at, child);
      at = child;
    }
  }
}
