package org.tidemark.hadoop;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.WritableUtils;
import org.apache.hadoop.io.compress.CodecPool;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.Decompressor;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputFile;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.apache.hadoop.mapreduce.security.IntermediateEncryptedStream;
import org.apache.hadoop.util.LimitInputStream;
import org.apache.hadoop.util.ReflectionUtils;
import org.tidemark.jvm.profile.HeaviestKeys;
import org.tidemark.jvm.profile.KeySampler;
import org.tidemark.jvm.profile.NameBudget;
import org.tidemark.jvm.profile.PartitionKeys;

/**
 * Rereads the final output of a map task to get the exact sizes of its key groups after combining
 * and merging. The index contains every partition's size. Further details are read partition by
 * partition, in a random order, until the time is up. The keys of a partition are therefore known
 * completely or not at all, and no partition is preferred over many map tasks.
 *
 * <p>Takes O(records read) time, and memory for the named keys ({@link NameBudget}). Not
 * thread-safe.
 */
final class MapOutputScan {
  /** An IFile ends with two negative lengths of one byte each and a checksum of the whole file. */
  private static final long END_MARK_BYTES = 2;

  private static final long CHECKSUM_BYTES = 4;

  private final JobConf job;
  private final KeyGrouping grouping;
  private final MapOutputIndex index;
  private final Path output;
  private final int padding;
  private final int lambda;
  private final CompressionCodec codec;
  private final HeaviestKeys heaviest;
  private final KeySampler sampler;
  private final long[] pairBytes;
  private final boolean[] scanned;

  MapOutputScan(JobConf job, MapOutputFile files, KeyGrouping grouping, int lambda)
      throws IOException {
    this.job = job;
    this.grouping = grouping;
    index = MapOutputIndex.read(job, files.getOutputIndexFile());
    output = files.getOutputFile();
    padding = CryptoUtils.cryptoPadding(job);
    codec =
        job.getCompressMapOutput()
            ? ReflectionUtils.newInstance(
                job.getMapOutputCompressorClass(DefaultCodec.class), job)
            : null;
    final NameBudget names = new NameBudget(outputBytes(), lambda);
    this.lambda = names.explicitKeys;
    heaviest = new HeaviestKeys(index.partitions(), lambda());
    sampler = new KeySampler(grouping.namesKeys() ? names.sampledKeys : 0);
    pairBytes = new long[index.partitions()];
    scanned = new boolean[index.partitions()];
  }

  /** Reads partitions until all are read or the budget is spent. */
  void run(long seed, ScanBudget budget) throws IOException {
    final List<Integer> order = new ArrayList<>();
    for (int partition = 0; partition < index.partitions(); ++partition) {
      order.add(partition);
    }
    Collections.shuffle(order, new Random(seed));
    for (int partition : order) {
      if (budget.isSpent()) {
        return;
      }
      if (recordBytes(partition) == 0) {
        scanned[partition] = true;
      } else if (scan(partition, budget)) {
        scanned[partition] = true;
      } else {
        heaviest.clear(partition);
        pairBytes[partition] = 0;
      }
    }
  }

  /** Returns the map profile: one entry for each partition with data. */
  List<PartitionKeys> profile() {
    if (!grouping.namesKeys()) {
      heaviest.clearNames();
    }
    final double pairsInRecords = pairsInRecords();
    final boolean isSampled = sampledBelow() != 0;
    final List<PartitionKeys> partitions = new ArrayList<>();
    for (int partition = 0; partition < index.partitions(); ++partition) {
      if (recordBytes(partition) == 0) {
        continue;
      }
      final PartitionKeys keys = heaviest.keysOf(partition);
      if (isSampled) {
        sampler.addTo(keys);
      }
      if (scanned[partition]) {
        keys.scannedBytes = keys.totalBytes;
      } else {
        keys.totalBytes = (long) (recordBytes(partition) * pairsInRecords);
      }
      partitions.add(keys);
    }
    return partitions;
  }

  int lambda() {
    return grouping.namesKeys() ? lambda : 0;
  }

  /**
   * Returns the rank below which the profile names every key. Returns 0 if keys have no names or if
   * some partition was not scanned in time.
   */
  long sampledBelow() {
    if (!grouping.namesKeys()) {
      return 0;
    }
    for (int partition = 0; partition < index.partitions(); ++partition) {
      if (!scanned[partition]) {
        return 0;
      }
    }
    return sampler.below();
  }

  /** Returns the size of the task's output in the shuffle. */
  private long outputBytes() {
    long bytes = 0;
    for (int partition = 0; partition < index.partitions(); ++partition) {
      bytes += index.partBytes(partition);
    }
    return bytes;
  }

  /** Returns the size of a partition's keys, values and their lengths from the index, in bytes. */
  private long recordBytes(int partition) {
    return index.recordBytes(partition) - END_MARK_BYTES - padding;
  }

  /**
   * Returns the share of keys and values in the bytes of the scanned records, or 1 if none were
   * scanned.
   */
  private double pairsInRecords() {
    long pairs = 0;
    long records = 0;
    for (int partition = 0; partition < index.partitions(); ++partition) {
      if (scanned[partition]) {
        pairs += pairBytes[partition];
        records += recordBytes(partition);
      }
    }
    return records == 0 ? 1 : (double) pairs / records;
  }

  /** Returns false if the time is up, or if the records do not match the index. */
  private boolean scan(int partition, ScanBudget budget) throws IOException {
    final Decompressor decompressor = codec == null ? null : CodecPool.getDecompressor(codec);
    try (MapOutputRecords reader = open(partition, decompressor, budget)) {
      long records = 0;
      long lengthBytes = 0;
      long groupBytes = 0;
      long groupValues = 0;
      long hash = 0;
      grouping.reset();
      while (reader.next()) {
        final int keyLength = reader.keyLength();
        final int valueLength = reader.valueLength();
        if (grouping.startsGroup(reader.buffer(), reader.keyOffset(), keyLength)) {
          if (records > 0) {
            offer(partition, hash, groupBytes, groupValues);
          }
          hash = grouping.name();
          groupBytes = 0;
          groupValues = 0;
        }
        groupBytes += keyLength + valueLength;
        ++groupValues;
        pairBytes[partition] += keyLength + valueLength;
        lengthBytes +=
            WritableUtils.getVIntSize(keyLength) + WritableUtils.getVIntSize(valueLength);
        ++records;
      }
      if (records > 0) {
        offer(partition, hash, groupBytes, groupValues);
      }
      return pairBytes[partition] + lengthBytes == recordBytes(partition);
    } finally {
      CodecPool.returnDecompressor(decompressor);
    }
  }

  private void offer(int partition, long hash, long bytes, long values) {
    heaviest.offer(partition, hash, bytes, values);
    sampler.offer(partition, hash, bytes, values);
  }

  private MapOutputRecords open(int partition, Decompressor decompressor, ScanBudget budget)
      throws IOException {
    final FSDataInputStream raw = FileSystem.getLocal(job).getRaw().open(output);
    try {
      raw.seek(index.startOffset(partition));
      final InputStream in =
          new LimitInputStream(
              IntermediateEncryptedStream.wrapIfNecessary(job, raw, output),
              index.partBytes(partition) - padding - CHECKSUM_BYTES);
      return new MapOutputRecords(
          codec == null ? in : codec.createInputStream(in, decompressor), budget::isSpent);
    } catch (IOException | RuntimeException cannotOpen) {
      raw.close();
      throw cannotOpen;
    }
  }
}
