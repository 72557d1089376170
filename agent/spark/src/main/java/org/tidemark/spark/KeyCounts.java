package org.tidemark.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.Partitioner;
import org.tidemark.jvm.profile.HeaviestKeys;
import org.tidemark.jvm.profile.KeySampler;
import org.tidemark.jvm.profile.NameBudget;
import org.tidemark.jvm.profile.PartitionKeys;
import org.tidemark.jvm.wire.Attempt;
import org.tidemark.jvm.wire.Event;
import org.tidemark.jvm.wire.Events;

/**
 * Counts the records of each key that a map task writes. If there are too many keys, or keys
 * without names, only the sizes of partitions are reported. Belongs to the task's thread.
 *
 * <p>Keys are counted by name in flat arrays. A map of keys would fetch each key from memory to
 * compare it, which takes longer than computing its name.
 */
final class KeyCounts {
  /** About 10 MB. */
  private static final int KEYS_MAX = 200_000;

  private static final int SLOTS_AT_FIRST = 1 << 11;

  private final Partitioner partitioner;
  private int used;
  /**
   * Indexed by slot. More than half of the slots are free, so that searches are short. Null after
   * too many keys were added.
   */
  private long[] names = new long[SLOTS_AT_FIRST];
  /** 0 for a free slot. */
  private long[] records = new long[SLOTS_AT_FIRST];
  private int[] partitions = new int[SLOTS_AT_FIRST];

  KeyCounts(Partitioner partitioner) {
    this.partitioner = partitioner;
  }

  void add(Object key) {
    if (names == null) {
      return;
    }
    if (!KeyNames.has(key)) {
      names = null;
      return;
    }
    final long name = KeyNames.of(key);
    final int slot = slotOf(name);
    if (records[slot]++ > 0) {
      return;
    }
    names[slot] = name;
    partitions[slot] = partitioner.getPartition(key);
    if (++used > KEYS_MAX) {
      names = null;
    } else if (2 * used > names.length) {
      grow();
    }
  }

  private int slotOf(long name) {
    int slot = (int) name & names.length - 1;
    while (records[slot] != 0 && names[slot] != name) {
      slot = slot + 1 & names.length - 1;
    }
    return slot;
  }

  private void grow() {
    final long[] oldNames = names;
    final long[] oldRecords = records;
    final int[] oldPartitions = partitions;
    names = new long[2 * oldNames.length];
    records = new long[names.length];
    partitions = new int[names.length];
    for (int old = 0; old < oldNames.length; ++old) {
      if (oldRecords[old] != 0) {
        final int slot = slotOf(oldNames[old]);
        names[slot] = oldNames[old];
        records[slot] = oldRecords[old];
        partitions[slot] = oldPartitions[old];
      }
    }
  }

  /**
   * {@code bytes} contains the bytes written to each partition. A key group gets the same share of
   * the bytes as of the records. {@code lambda} is the number of keys that the master requests.
   */
  Event profile(Attempt attempt, long[] bytes, int lambda) {
    long total = 0;
    for (long some : bytes) {
      total += some;
    }
    final NameBudget budget = new NameBudget(total, lambda);
    final HeaviestKeys heaviest = new HeaviestKeys(bytes.length, budget.explicitKeys);
    final KeySampler sampler = new KeySampler(names == null ? 0 : budget.sampledKeys);
    if (names != null) {
      offer(bytes, heaviest, sampler);
    }
    final List<PartitionKeys> partitions = new ArrayList<>();
    for (int p = 0; p < bytes.length; ++p) {
      if (bytes[p] > 0) {
        final PartitionKeys keys = heaviest.keysOf(p);
        keys.totalBytes = bytes[p];
        keys.scannedBytes = names == null ? 0 : bytes[p];
        sampler.addTo(keys);
        partitions.add(keys);
      }
    }
    return Events.mapProfile(attempt, partitions, sampler.below());
  }

  private void offer(long[] bytes, HeaviestKeys heaviest, KeySampler sampler) {
    final long[] all = new long[bytes.length];
    for (int slot = 0; slot < names.length; ++slot) {
      all[partitions[slot]] += records[slot];
    }
    final long[] offered = new long[bytes.length];
    for (int slot = 0; slot < names.length; ++slot) {
      if (records[slot] != 0) {
        final int p = partitions[slot];
        // Rounded so that the sum is exact.
        final long before = share(offered[p], bytes[p], all[p]);
        offered[p] += records[slot];
        final long size = share(offered[p], bytes[p], all[p]) - before;
        heaviest.offer(p, names[slot], size, records[slot]);
        sampler.offer(p, names[slot], size, records[slot]);
      }
    }
  }

  private static long share(long records, long bytes, long all) {
    return (long) ((double) records / all * bytes);
  }
}
