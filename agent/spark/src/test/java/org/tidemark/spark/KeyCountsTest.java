package org.tidemark.spark;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.List;
import java.util.stream.LongStream;
import org.apache.spark.Partitioner;
import org.junit.Test;
import org.tidemark.jvm.support.Fields;
import org.tidemark.jvm.wire.Attempt;
import org.tidemark.jvm.wire.Event;

public class KeyCountsTest {
  private static final int MAP_PROFILE = 7;

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

  private List<Fields> profile(int keysMax, long... bytes) {
    final Event event = counts.profile(new Attempt(0, 0, 0, 0), bytes, keysMax);
    return new Fields(event.encoded(0).toByteArray()).message(MAP_PROFILE).messages(2);
  }

  @Test
  public void keysShareTheBytesOfTheirPartitionByTheirRecords() {
    for (int i = 0; i < 100; ++i) {
      counts.add(i % 7);
    }
    final List<Fields> partitions = profile(2_000, 1_001, 333);
    assertEquals(2, partitions.size());
    long records = 0;
    for (Fields partition : partitions) {
      assertFalse("all looked at", partition.has(7));
      assertEquals("they add up", partition.value(2), LongStream.of(partition.varints(4)).sum());
      records += LongStream.of(partition.varints(10)).sum();
    }
    assertEquals(100, records);
  }

  @Test
  public void eachOfManyKeysIsCounted() {
    final int keys = 20_000;
    for (int i = 0; i < 3 * keys; ++i) {
      counts.add(i % keys);
    }
    long named = 0;
    for (Fields partition : profile(keys, 1 << 30, 1 << 30)) {
      named += partition.fixed64s(3).length + partition.value(5);
      assertEquals(0, LongStream.of(partition.varints(10)).sum() % 3);
    }
    assertEquals(keys, named);
  }

  private static void assertNothingScanned(Fields partition) {
    assertTrue(partition.has(7));
    assertEquals(0, partition.value(7));
  }

  @Test
  public void sizesOfPartitionsRemainWithoutKeyNames() {
    counts.add(1);
    counts.add(new Object());
    final List<Fields> partitions = profile(2_000, 10, 0);
    assertEquals(1, partitions.size());
    assertEquals(10, partitions.get(0).value(2));
    assertNothingScanned(partitions.get(0));
  }

  @Test
  public void tooManyKeysRemoveKeyNames() {
    for (int i = 0; i <= 200_000; ++i) {
      counts.add(i);
    }
    assertNothingScanned(profile(2_000, 10, 10).get(1));
  }
}
