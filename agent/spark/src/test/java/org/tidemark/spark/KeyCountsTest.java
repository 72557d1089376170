package org.tidemark.spark;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.Partitioner;
import org.junit.Test;
import org.tidemark.jvm.wire.Attempt;
import org.tidemark.jvm.wire.Event;
import org.tidemark.jvm.wire.ProtoReader;

public class KeyCountsTest {
  private static final Partitioner HALVES =
      new Partitioner() {
        @Override
        public int numPartitions() {
          return 2;
        }

        @Override
        public int getPartition(Object key) {
          return key instanceof Integer ? (Integer) key % 2 : 0;
        }
      };

  private final KeyCounts counts = new KeyCounts(HALVES);

  /** Returns for each partition its bytes, its scanned bytes, and the sum of the explicit keys. */
  private List<long[]> profile(long... bytes) {
    final Event event = counts.profile(new Attempt(0, 0, 0, 0), bytes, 2_000);
    final ProtoReader fields = new ProtoReader(event.encoded(0).toByteArray());
    assertTrue(fields.next());
    final ProtoReader profile = new ProtoReader(fields.content());
    final List<long[]> partitions = new ArrayList<>();
    while (profile.next()) {
      if (profile.field() == 2) {
        final ProtoReader partition = new ProtoReader(profile.content());
        final long[] sums = {0, -1, 0, 0};
        while (partition.next()) {
          if (partition.field() == 2) {
            sums[0] = partition.value();
          } else if (partition.field() == 7) {
            sums[1] = partition.value();
          } else if (partition.field() == 4) {
            sums[2] = sum(partition.content());
          } else if (partition.field() == 10) {
            sums[3] = sum(partition.content());
          }
        }
        partitions.add(sums);
      }
    }
    return partitions;
  }

  private static long sum(byte[] varints) {
    long sum = 0;
    int shift = 0;
    for (byte part : varints) {
      sum += (long) (part & 0x7F) << shift;
      shift = part < 0 ? shift + 7 : 0;
    }
    return sum;
  }

  @Test
  public void keysShareTheBytesOfTheirPartitionByTheirRecords() {
    for (int i = 0; i < 100; ++i) {
      counts.add(i % 7);
    }
    final List<long[]> partitions = profile(1_001, 333);
    assertEquals(2, partitions.size());
    for (int p = 0; p < 2; ++p) {
      assertEquals("all looked at", -1, partitions.get(p)[1]);
      assertEquals("they add up", partitions.get(p)[0], partitions.get(p)[2]);
    }
    assertEquals(100, partitions.get(0)[3] + partitions.get(1)[3]);
  }

  @Test
  public void eachOfManyKeysIsCounted() {
    final int keys = 20_000;
    for (int i = 0; i < 3 * keys; ++i) {
      counts.add(i % keys);
    }
    final Event event = counts.profile(new Attempt(0, 0, 0, 0), new long[] {1 << 30, 1 << 30}, keys);
    final ProtoReader fields = new ProtoReader(event.encoded(0).toByteArray());
    assertTrue(fields.next());
    final ProtoReader profile = new ProtoReader(fields.content());
    long named = 0;
    while (profile.next()) {
      if (profile.field() == 2) {
        final ProtoReader partition = new ProtoReader(profile.content());
        while (partition.next()) {
          if (partition.field() == 3) {
            named += partition.content().length / Long.BYTES;
          } else if (partition.field() == 5) {
            named += partition.value();
          } else if (partition.field() == 10) {
            assertEquals(0, sum(partition.content()) % 3);
          }
        }
      }
    }
    assertEquals(keys, named);
  }

  @Test
  public void sizesOfPartitionsRemainWithoutKeyNames() {
    counts.add(1);
    counts.add(new Object());
    final List<long[]> partitions = profile(10, 0);
    assertEquals(1, partitions.size());
    assertEquals(10, partitions.get(0)[0]);
    assertEquals("nothing looked at", 0, partitions.get(0)[1]);
  }

  @Test
  public void tooManyKeysRemoveKeyNames() {
    for (int i = 0; i <= 200_000; ++i) {
      counts.add(i);
    }
    assertEquals(0, profile(10, 10).get(1)[1]);
  }
}
