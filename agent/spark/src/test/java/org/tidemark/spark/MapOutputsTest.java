package org.tidemark.spark;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import org.junit.Test;

public class MapOutputsTest {
  @Test
  public void reportTheBytesBetweenTheOffsetsOfTheirIndex() {
    final ByteBuffer index = ByteBuffer.allocate(4 * Long.BYTES);
    for (long offset : new long[] {0, 5, 5, 1L << 40}) {
      index.putLong(offset);
    }
    assertArrayEquals(
        new long[] {3, 17, 5, 0, (1L << 40) - 5}, MapOutputs.readSizes(3, 17, index.array()));
  }

  @Test
  public void areReportedForFewPartitionsIfSparkKeepsAverages() {
    assertFalse(MapOutputs.areAveraged(2_000));
    assertFalse(MapOutputs.areReported(2_000));
    assertTrue(MapOutputs.areAveraged(2_001));
    assertTrue(MapOutputs.areReported(2_001));
    assertTrue(MapOutputs.areReported(10_000));
    assertTrue(MapOutputs.areAveraged(10_001));
    assertFalse(MapOutputs.areReported(10_001));
  }
}
