package org.tidemark.tez;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.apache.hadoop.mapreduce.lib.input.TextInputFormat;
import org.apache.hadoop.mapreduce.split.TezGroupedSplit;
import org.apache.tez.mapreduce.hadoop.MRInputHelpers;
import org.apache.tez.runtime.api.events.InputDataInformationEvent;
import org.junit.Test;
import org.tidemark.jvm.wire.ProtoWriter;

public class SplitSizesTest {
  private static final ClassLoader LOADER = SplitSizesTest.class.getClassLoader();

  private static InputSplit file(long bytes) {
    return new FileSplit(new Path("/words"), 0, bytes, new String[] {"node-1"});
  }

  private static InputDataInformationEvent event(int task, ByteBuffer payload) {
    final InputDataInformationEvent event =
        InputDataInformationEvent.createWithSerializedPayload(task, payload);
    event.setTargetIndex(task);
    return event;
  }

  private static InputDataInformationEvent event(int task, InputSplit split) throws Exception {
    return event(
        task,
        MRInputHelpers.createSplitProto(
                split,
                new org.apache.hadoop.io.serializer.SerializationFactory(
                    new org.apache.hadoop.conf.Configuration()))
            .toByteString()
            .asReadOnlyByteBuffer());
  }

  @Test
  public void filesAndGroupsOfFilesHaveTheirLengths() throws Exception {
    final TezGroupedSplit group =
        new TezGroupedSplit(2, TextInputFormat.class.getName(), new String[] {}, null);
    group.addSplit(file(30));
    group.addSplit(file(12));
    assertArrayEquals(
        new long[] {42, 7},
        SplitSizes.of(List.of(event(1, file(7)), event(0, group)), 2, LOADER));
  }

  @Test
  public void aSplitOfAnUnknownKindMakesAllSizesUnknown() throws Exception {
    final byte[] odd =
        new ProtoWriter()
            .text(1, "java.lang.String")
            .message(2, new ProtoWriter().uint(1, 1))
            .toByteArray();
    assertNull(
        SplitSizes.of(List.of(event(0, file(7)), event(1, ByteBuffer.wrap(odd))), 2, LOADER));
    assertNull(SplitSizes.of(List.of(event(0, ByteBuffer.allocate(0))), 1, LOADER));
    assertNull("an index beyond the tasks", SplitSizes.of(List.of(event(3, file(7))), 2, LOADER));
  }

  @Test
  public void aMissingClassIsAnErrorOfTheCaller() {
    final byte[] missing =
        new ProtoWriter()
            .text(1, "no.such.Split")
            .message(2, new ProtoWriter().uint(1, 1))
            .toByteArray();
    assertThrows(
        ClassNotFoundException.class,
        () -> SplitSizes.of(List.of(event(0, ByteBuffer.wrap(missing))), 1, LOADER));
  }

  @Test
  public void aVertexWithoutSplitsHasNoSizes() throws Exception {
    assertTrue(SplitSizes.among(null).isEmpty());
    assertNull(SplitSizes.of(new ArrayList<>(), 3, LOADER));
  }
}
