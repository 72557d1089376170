package org.tidemark.jvm.profile;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The lambda heaviest keys of one map task, and the totals of all others per partition. The rules,
 * including ties, come from streaming/space_saving.h; tests/vectors/heaviest_keys.json checks both.
 *
 * <p>A binary heap in flat arrays, with the lightest key at its root. A key that enters takes O(log
 * lambda), any other key O(1). Not thread-safe.
 */
public final class HeaviestKeys {
  private final int lambda;
  private int kept;
  private long[] hashes;
  private long[] sizes;
  private long[] values;
  private int[] partitions;
  private final long[] keyCounts;
  private final long[] bytes;

  public HeaviestKeys(int partitionCount, int lambda) {
    this.lambda = Math.max(lambda, 0);
    keyCounts = new long[partitionCount];
    bytes = new long[partitionCount];
    final int room = Math.min(this.lambda, 256);
    hashes = new long[room];
    sizes = new long[room];
    values = new long[room];
    partitions = new int[room];
  }

  /**
   * Adds one key group of one partition with its number of records. A key that is added twice
   * counts as two key groups.
   */
  public void offer(int partition, long hash, long sizeBytes, long valueCount) {
    ++keyCounts[partition];
    bytes[partition] += sizeBytes;
    if (kept < lambda) {
      if (kept == hashes.length) {
        grow();
      }
      put(kept, hash, sizeBytes, valueCount, partition);
      siftUp(kept++);
    } else if (lambda > 0 && heavier(sizeBytes, hash, sizes[0], hashes[0])) {
      put(0, hash, sizeBytes, valueCount, partition);
      siftDown();
    }
  }

  /** Removes all keys of a partition whose scan was not completed. */
  public void clear(int partition) {
    final int before = kept;
    kept = 0;
    for (int i = 0; i < before; ++i) {
      if (partitions[i] != partition) {
        put(kept, hashes[i], sizes[i], values[i], partitions[i]);
        siftUp(kept++);
      }
    }
    keyCounts[partition] = 0;
    bytes[partition] = 0;
  }

  /** Removes all keys, but keeps the totals of the partitions. */
  public void clearNames() {
    kept = 0;
  }

  /** Returns one partition's map profile, with explicit keys by descending size, then by hash. */
  public PartitionKeys keysOf(int partition) {
    final List<Integer> own = new ArrayList<>();
    for (int i = 0; i < kept; ++i) {
      if (partitions[i] == partition) {
        own.add(i);
      }
    }
    own.sort((a, b) -> order(sizes[a], hashes[a], sizes[b], hashes[b]));
    final PartitionKeys keys = new PartitionKeys(partition, own.size());
    keys.implicitKeyCount = keyCounts[partition] - own.size();
    keys.implicitBytes = bytes[partition];
    keys.totalBytes = bytes[partition];
    for (int i = 0; i < own.size(); ++i) {
      keys.explicitHashes[i] = hashes[own.get(i)];
      keys.explicitBytes[i] = sizes[own.get(i)];
      keys.explicitValues[i] = values[own.get(i)];
      keys.implicitBytes -= keys.explicitBytes[i];
    }
    return keys;
  }

  static boolean heavier(long size, long hash, long otherSize, long otherHash) {
    return order(size, hash, otherSize, otherHash) < 0;
  }

  // Orders keys by descending size, then by ascending unsigned hash. The last key in this order is
  // removed first.
  private static int order(long size, long hash, long otherSize, long otherHash) {
    final int bySize = Long.compare(otherSize, size);
    return bySize != 0 ? bySize : Long.compareUnsigned(hash, otherHash);
  }

  private void put(int at, long hash, long size, long valueCount, int partition) {
    hashes[at] = hash;
    sizes[at] = size;
    values[at] = valueCount;
    partitions[at] = partition;
  }

  private void grow() {
    final int room = Math.min(lambda, hashes.length * 2);
    hashes = Arrays.copyOf(hashes, room);
    sizes = Arrays.copyOf(sizes, room);
    values = Arrays.copyOf(values, room);
    partitions = Arrays.copyOf(partitions, room);
  }

  private boolean lighter(int a, int b) {
    return heavier(sizes[b], hashes[b], sizes[a], hashes[a]);
  }

  private void swap(int a, int b) {
    final long hash = hashes[a];
    final long size = sizes[a];
    final long valueCount = values[a];
    final int partition = partitions[a];
    put(a, hashes[b], sizes[b], values[b], partitions[b]);
    put(b, hash, size, valueCount, partition);
  }

  private void siftUp(int from) {
    for (int at = from; at > 0 && lighter(at, (at - 1) / 2); at = (at - 1) / 2) {
      swap(at, (at - 1) / 2);
    }
  }

  private void siftDown() {
    int at = 0;
    while (2 * at + 1 < kept) {
      int child = 2 * at + 1;
      if (child + 1 < kept && lighter(child + 1, child)) {
        ++child;
      }
      if (!lighter(child, at)) {
        return;
      }
      swap(at, child);
      at = child;
    }
  }
}
