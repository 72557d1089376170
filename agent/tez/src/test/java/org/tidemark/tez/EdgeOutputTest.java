package org.tidemark.tez;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.util.Collections;
import java.util.List;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import org.apache.tez.runtime.library.common.shuffle.ShuffleUtils;
import org.junit.Test;
import org.tidemark.jvm.wire.ProtoWriter;

public class EdgeOutputTest {
  private static final long MB = 1 << 20;

  private final EdgeOutput output = new EdgeOutput();

  /** Returns the payload of Tez's default statistics, which Tez's own code computes. */
  private static byte[] ranges(long bytes, long... partitions) throws Exception {
    final ByteArrayOutputStream compressed = new ByteArrayOutputStream();
    try (DataOutputStream out =
        new DataOutputStream(
            new DeflaterOutputStream(compressed, new Deflater(Deflater.BEST_SPEED, true)))) {
      ShuffleUtils.getPartitionStatsForPhysicalOutput(partitions).serialize(out);
    }
    return new ProtoWriter()
        .uint(1, bytes)
        .message(2, new ProtoWriter().append(compressed.toByteArray()))
        .toByteArray();
  }

  @Test
  public void rangesOfTezAreRead() throws Exception {
    // The ranges begin at 1, 100 and 10 MB: of 111 MB, the partitions have these shares.
    output.add(0, List.of(ranges(111_000, 5 * MB, 300 * MB, 20 * MB)));
    assertArrayEquals(new long[] {1_000, 100_000, 10_000}, output.byConsumer(3, 0));
    assertFalse(output.isPrecise());
  }

  @Test
  public void partsOfAnOutputAreAddedAndRepetitionsAreNot() throws Exception {
    final byte[] part =
        new ProtoWriter()
            .uint(1, 50)
            .message(3, new ProtoWriter().uintAlways(1, 0).uintAlways(1, 7))
            .toByteArray();
    output.add(4, List.of(part, part));
    output.add(4, List.of(part));
    assertTrue(output.isOf(1));
    assertTrue(output.isPrecise());
    assertArrayEquals(new long[] {0, 100}, output.byConsumer(2, 0));
  }

  @Test
  public void withoutStatisticsEachReaderGetsTheSameShare() throws Exception {
    output.add(0, List.of(new ProtoWriter().uint(1, 90).toByteArray()));
    assertArrayEquals(new long[] {30, 30, 30}, output.byConsumer(3, 0));
    assertArrayEquals(new long[] {}, output.byConsumer(0, 0));
  }

  @Test
  public void anUnknownDivisionOfPartitionsIsNotGuessed() throws Exception {
    output.add(0, List.of(ranges(90, 5 * MB, 300 * MB, 20 * MB)));
    assertArrayEquals(new long[] {45, 45}, output.byConsumer(2, 0));
    assertArrayEquals(new long[] {81, 8}, output.byConsumer(2, 2));
  }

  @Test
  public void emptyAndTruncatedMessagesAreHarmless() throws Exception {
    output.add(0, Collections.emptyList());
    output.add(1, List.of(new byte[] {8, (byte) 0x80}));
    assertArrayEquals(new long[] {0, 0}, output.byConsumer(2, 1));
  }
}
