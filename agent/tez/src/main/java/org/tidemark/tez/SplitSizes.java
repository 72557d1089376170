package org.tidemark.tez;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.lang.reflect.Constructor;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.io.Writable;
import org.apache.tez.runtime.api.events.InputDataInformationEvent;
import org.apache.tez.runtime.api.impl.TezEvent;
import org.tidemark.jvm.wire.ProtoReader;

/** Reads the sizes of splits from the events with which Tez hands them to the tasks of a vertex. */
final class SplitSizes {
  // Fields of Tez's MRSplitProto (MRRuntimeProtos.proto).
  private static final int CLASS = 1;
  private static final int BYTES = 2;

  private static final int TASKS_MAX = 100_000;

  private SplitSizes() {}

  /** Returns the events that contain a split. Cheap. {@code events} may be null. */
  static List<InputDataInformationEvent> among(List<TezEvent> events) {
    final List<InputDataInformationEvent> splits = new ArrayList<>();
    if (events != null) {
      for (TezEvent event : events) {
        if (event.getEvent() instanceof InputDataInformationEvent) {
          splits.add((InputDataInformationEvent) event.getEvent());
        }
      }
    }
    return splits;
  }

  /**
   * Returns the bytes of each task, or null if the size of a split is unknown. Creates and reads
   * each split, which may take seconds. {@code loader} finds the classes of splits.
   */
  static long[] of(List<InputDataInformationEvent> splits, int tasks, ClassLoader loader)
      throws Exception {
    if (splits.isEmpty() || tasks <= 0 || tasks > TASKS_MAX) {
      return null;
    }
    final long[] bytes = new long[tasks];
    for (InputDataInformationEvent split : splits) {
      final int task = split.getTargetIndex();
      final Object created = split.getDeserializedUserPayload();
      final long length =
          created == null && split.getUserPayload() != null
              ? lengthOf(read(split.getUserPayload(), loader))
              : lengthOf(created);
      if (length < 0 || task < 0 || task >= tasks) {
        return null;
      }
      bytes[task] += length;
    }
    return bytes;
  }

  /** Returns null if the kind of the split is unknown. */
  private static Object read(ByteBuffer payload, ClassLoader loader) throws Exception {
    final byte[] message = new byte[payload.remaining()];
    payload.duplicate().get(message);
    String name = "";
    byte[] content = null;
    for (ProtoReader reader = new ProtoReader(message); reader.next(); ) {
      if (reader.field() == CLASS) {
        name = new String(reader.content(), StandardCharsets.UTF_8);
      } else if (reader.field() == BYTES) {
        content = reader.content();
      }
    }
    final Class<?> type = content == null ? Object.class : Class.forName(name, true, loader);
    if (!Writable.class.isAssignableFrom(type)) {
      return null;
    }
    final Constructor<?> constructor = type.getDeclaredConstructor();
    constructor.setAccessible(true);
    final Object split = constructor.newInstance();
    ((Writable) split).readFields(new DataInputStream(new ByteArrayInputStream(content)));
    return split;
  }

  /** Returns a negative number if the length is unknown. */
  private static long lengthOf(Object split) throws Exception {
    if (split instanceof org.apache.hadoop.mapreduce.InputSplit) {
      return ((org.apache.hadoop.mapreduce.InputSplit) split).getLength();
    }
    return split instanceof org.apache.hadoop.mapred.InputSplit
        ? ((org.apache.hadoop.mapred.InputSplit) split).getLength()
        : -1;
  }
}
