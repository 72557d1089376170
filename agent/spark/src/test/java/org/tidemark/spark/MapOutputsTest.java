package org.tidemark.spark;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import org.junit.Test;

public class MapOutputsTest {
  @Test
  public void tellWhatLiesBetweenTheOffsetsOfTheirIndex() {
    final ByteBuffer index = ByteBuffer.allocate(4 * Long.BYTES);
    for (long offset : new long[] {0, 5, 5, 1L << 40}) {
      index.putLong(offset);
    }
    assertArrayEquals(
        new long[] {3, 17, 5, 0, (1L << 40) - 5}, MapOutputs.told(3, 17, index.array()));
  }

  @Test
  public void areToldWhereSparkKeepsAveragesAndTheyAreNotMany() {
    assertFalse(MapOutputs.areAveraged(2_000));
    assertFalse(MapOutputs.areTold(2_000));
    assertTrue(MapOutputs.areAveraged(2_001));
    assertTrue(MapOutputs.areTold(2_001));
    assertTrue(MapOutputs.areTold(10_000));
    assertTrue(MapOutputs.areAveraged(10_001));
    assertFalse(MapOutputs.areTold(10_001));
  }
}
