package org.tidemark.jvm.profile;

/** The output of one map task for one partition (PartitionProfile in event.proto). */
public final class PartitionKeys {
  private static final long[] NONE = {};

  public final int partition;
  public long totalBytes;
  public final long[] explicitHashes;
  public final long[] explicitBytes;
  /** The number of records of each explicit key. */
  public final long[] explicitValues;
  public long implicitKeyCount;
  public long implicitBytes;
  /** The part of {@link #totalBytes} that was scanned. */
  public long scannedBytes;
  /** The implicit keys in the sample ({@link KeySampler}). */
  public long[] sampledHashes = NONE;
  public long[] sampledBytes = NONE;
  public long[] sampledValues = NONE;

  public PartitionKeys(int partition, int explicitCount) {
    this.partition = partition;
    explicitHashes = new long[explicitCount];
    explicitBytes = new long[explicitCount];
    explicitValues = new long[explicitCount];
  }

  /** Returns true if a key group of this hash and size is explicit. O(log explicit keys). */
  boolean isExplicit(long hash, long sizeBytes) {
    int low = 0;
    int high = explicitHashes.length;
    while (low < high) {
      final int middle = (low + high) >>> 1;
      if (HeaviestKeys.heavier(explicitBytes[middle], explicitHashes[middle], sizeBytes, hash)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low < explicitHashes.length
        && explicitHashes[low] == hash
        && explicitBytes[low] == sizeBytes;
  }
}
