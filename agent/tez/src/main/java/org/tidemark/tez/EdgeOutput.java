package org.tidemark.tez;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.BitSet;
import java.util.zip.Inflater;
import java.util.zip.InflaterInputStream;
import org.roaringbitmap.RoaringBitmap;
import org.tidemark.jvm.wire.ProtoReader;

/**
 * The output of a vertex for one of its consumers, by partition. Tasks report it to Tez's vertex
 * managers. By default, they report the size of each partition as a power of ten; with {@code
 * tez.runtime.report.partition.stats=precise}, in megabytes. Not thread-safe.
 */
final class EdgeOutput {
  // Fields of Tez's VertexManagerEventPayloadProto (ShufflePayloads.proto).
  private static final int OUTPUT_SIZE = 1;
  private static final int PARTITION_STATS = 2;
  private static final int DETAILED_PARTITION_STATS = 3;

  /** Tez's DATA_RANGE_IN_MB: the lower bound of each range in megabytes. */
  private static final int[] RANGES = {1_000, 100, 10, 1, 0};

  private static final int PARTITIONS_MAX = 100_000;

  private final BitSet tasks = new BitSet();
  private long bytes;
  /** Relative sizes by partition, or empty if they are unknown. */
  private long[] megabytes = {};
  private boolean isPrecise = true;

  /**
   * Adds the output of a task, once for each task. {@code payloads} are the task's messages to the
   * vertex manager, several if it sent its output in parts.
   */
  void add(int task, Iterable<byte[]> payloads) throws IOException {
    if (tasks.get(task)) {
      return;
    }
    tasks.set(task);
    for (byte[] payload : payloads) {
      for (ProtoReader reader = new ProtoReader(payload); reader.next(); ) {
        if (reader.field() == OUTPUT_SIZE) {
          bytes += Math.max(reader.value(), 0);
        } else if (reader.field() == PARTITION_STATS) {
          addRanges(reader.content());
        } else if (reader.field() == DETAILED_PARTITION_STATS) {
          addDetailed(reader.content());
        }
      }
    }
  }

  /** Returns true if the output of {@code count} tasks is known. */
  boolean isOf(int count) {
    return tasks.cardinality() == count;
  }

  long bytes() {
    return bytes;
  }

  /** Returns true if partitions are measured in megabytes. */
  boolean isPrecise() {
    return isPrecise && megabytes.length > 0;
  }

  /**
   * Returns the input of each of {@code consumers} tasks, which read {@code range} consecutive
   * partitions each. 0 means that the range is unknown. If the sizes of partitions are unknown, all
   * tasks get the same share.
   */
  long[] byConsumer(int consumers, int range) {
    final long[] shares = new long[consumers];
    final int partitions = megabytes.length;
    final int step = range > 0 ? range : partitions == consumers ? 1 : 0;
    final long total = Arrays.stream(megabytes).sum();
    if (total == 0 || step == 0 || (partitions + step - 1) / step != consumers) {
      Arrays.fill(shares, consumers == 0 ? 0 : bytes / consumers);
      return shares;
    }
    for (int p = 0; p < partitions; ++p) {
      shares[p / step] += (long) (bytes * ((double) megabytes[p] / total));
    }
    return shares;
  }

  /** The elements of the set contain the partition and the range of its size. */
  private void addRanges(byte[] compressed) throws IOException {
    isPrecise = false;
    final Inflater inflater = new Inflater(true);
    try {
      final RoaringBitmap ranges = new RoaringBitmap();
      ranges.deserialize(
          new DataInputStream(
              new InflaterInputStream(new ByteArrayInputStream(compressed), inflater)));
      for (int element : ranges.toArray()) {
        add(element / RANGES.length, RANGES[element % RANGES.length]);
      }
    } finally {
      inflater.end();
    }
  }

  private void addDetailed(byte[] message) {
    int partition = 0;
    for (ProtoReader reader = new ProtoReader(message); reader.next(); ++partition) {
      add(partition, reader.value());
    }
  }

  private void add(int partition, long size) {
    if (partition < 0 || partition >= PARTITIONS_MAX) {
      return;
    }
    if (partition >= megabytes.length) {
      megabytes = Arrays.copyOf(megabytes, partition + 1);
    }
    megabytes[partition] += Math.max(size, 0);
  }
}
