package org.tidemark.jvm.profile;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.Random;
import org.junit.Test;

/** Tests cases beyond the shared vectors of {@link SharedVectorsTest}. */
public class HeaviestKeysTest {
  /** The prefix is too short to distinguish the keys. */
  @Test
  public void keyGroupsOfOneNameAndSizeAreAllReported() {
    final Random random = new Random(1);
    final HeaviestKeys heaviest = new HeaviestKeys(1, 2_000);
    for (int i = 0; i < 2_000; ++i) {
      heaviest.offer(0, random.nextInt(4), random.nextInt(4), 1);
    }
    final PartitionKeys keys = heaviest.keysOf(0);
    assertEquals(2_000, keys.explicitHashes.length);
    for (int i = 1; i < 2_000; ++i) {
      assertTrue(
          keys.explicitBytes[i - 1] > keys.explicitBytes[i]
              || keys.explicitBytes[i - 1] == keys.explicitBytes[i]
                  && keys.explicitHashes[i - 1] <= keys.explicitHashes[i]);
    }
  }

  @Test
  public void totalsRemainWithoutNames() {
    final HeaviestKeys heaviest = new HeaviestKeys(2, 4);
    heaviest.offer(1, 7, 100, 3);
    heaviest.offer(1, 8, 50, 1);
    heaviest.clearNames();
    final PartitionKeys keys = heaviest.keysOf(1);
    assertEquals(0, keys.explicitHashes.length);
    assertEquals(2, keys.implicitKeyCount);
    assertEquals(150, keys.implicitBytes);
    assertEquals(150, keys.totalBytes);
  }
}
