package org.tidemark.spark;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.Partitioner;
import org.tidemark.jvm.profile.HeaviestKeys;
import org.tidemark.jvm.profile.KeySampler;
import org.tidemark.jvm.profile.NameBudget;
import org.tidemark.jvm.profile.PartitionKeys;
import org.tidemark.jvm.wire.Attempt;
import org.tidemark.jvm.wire.Event;
import org.tidemark.jvm.wire.Events;

/**
 * How many records of each key a map task writes. Of too many keys, or keys without names, only the
 * sizes of partitions are told. Belongs to the task's thread.
 */
final class KeyCounts {
  /** About 20 MB. */
  private static final int KEYS_MAX = 200_000;

  private static final class Count {
    long records;
  }

  private final Partitioner partitioner;
  /** Null: given up. */
  private Map<Object, Count> counts = new HashMap<>();

  KeyCounts(Partitioner partitioner) {
    this.partitioner = partitioner;
  }

  void add(Object key) {
    if (counts == null) {
      return;
    }
    final Count known = counts.get(key);
    if (known != null) {
      ++known.records;
    } else if (counts.size() < KEYS_MAX && KeyNames.has(key)) {
      final Count first = new Count();
      first.records = 1;
      counts.put(key, first);
    } else {
      counts = null;
    }
  }

  /**
   * {@code bytes}: what was written for each partition, of which a key group has the share of its
   * records. {@code lambda}: how many keys the master wants.
   */
  Event profile(Attempt attempt, long[] bytes, int lambda) {
    long total = 0;
    for (long some : bytes) {
      total += some;
    }
    final NameBudget budget = new NameBudget(total, lambda);
    final HeaviestKeys heaviest = new HeaviestKeys(bytes.length, budget.explicitKeys);
    final KeySampler sampler = new KeySampler(counts == null ? 0 : budget.sampledKeys);
    if (counts != null) {
      offer(bytes, heaviest, sampler);
    }
    final List<PartitionKeys> partitions = new ArrayList<>();
    for (int p = 0; p < bytes.length; ++p) {
      if (bytes[p] > 0) {
        final PartitionKeys keys = heaviest.keysOf(p);
        keys.totalBytes = bytes[p];
        keys.scannedBytes = counts == null ? 0 : bytes[p];
        sampler.addTo(keys);
        partitions.add(keys);
      }
    }
    return Events.mapProfile(attempt, partitions, sampler.below());
  }

  private void offer(long[] bytes, HeaviestKeys heaviest, KeySampler sampler) {
    final long[] records = new long[bytes.length];
    counts.forEach((key, count) -> records[partitioner.getPartition(key)] += count.records);
    final long[] offered = new long[bytes.length];
    counts.forEach(
        (key, count) -> {
          final int p = partitioner.getPartition(key);
          // Rounded so that they add up.
          final long before = share(offered[p], bytes[p], records[p]);
          offered[p] += count.records;
          final long size = share(offered[p], bytes[p], records[p]) - before;
          final long name = KeyNames.of(key);
          heaviest.offer(p, name, size, count.records);
          sampler.offer(p, name, size, count.records);
        });
  }

  private static long share(long records, long bytes, long all) {
    return (long) ((double) records / all * bytes);
  }
}
