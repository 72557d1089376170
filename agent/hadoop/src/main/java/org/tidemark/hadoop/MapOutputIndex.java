package org.tidemark.hadoop;

import java.io.DataInputStream;
import java.io.IOException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;

/**
 * The positions of partitions in a map task's final output, from Hadoop's index file. Hadoop's own
 * reader reloads all settings of the cluster, which takes longer than the rest of a small task's
 * profile. Immutable.
 */
final class MapOutputIndex {
  private static final int NUMBERS_OF_PARTITION = 3;
  private static final int START_OFFSET = 0;
  private static final int RECORD_BYTES = 1;
  private static final int PART_BYTES = 2;

  private final long[] numbers;

  private MapOutputIndex(long[] numbers) {
    this.numbers = numbers;
  }

  /**
   * Ignores the checksum at the end. The records of scanned partitions are compared with the index;
   * the sizes of other partitions are not verified.
   */
  static MapOutputIndex read(JobConf job, Path file) throws IOException {
    final FileSystem files = FileSystem.getLocal(job).getRaw();
    final long partitions =
        files.getFileStatus(file).getLen() / (NUMBERS_OF_PARTITION * Long.BYTES);
    final long[] numbers = new long[NUMBERS_OF_PARTITION * (int) partitions];
    try (DataInputStream in = files.open(file, numbers.length * Long.BYTES + Long.BYTES)) {
      for (int i = 0; i < numbers.length; ++i) {
        numbers[i] = in.readLong();
      }
    }
    return new MapOutputIndex(numbers);
  }

  /** Returns the number of partitions. */
  int partitions() {
    return numbers.length / NUMBERS_OF_PARTITION;
  }

  /** Returns the start of a partition in the output file. */
  long startOffset(int partition) {
    return number(partition, START_OFFSET);
  }

  /**
   * Returns the uncompressed size of a partition's records, including their lengths, the end mark
   * and the encryption.
   */
  long recordBytes(int partition) {
    return number(partition, RECORD_BYTES);
  }

  /** Returns the size of a partition in the output file. */
  long partBytes(int partition) {
    return number(partition, PART_BYTES);
  }

  private long number(int partition, int which) {
    return numbers[NUMBERS_OF_PARTITION * partition + which];
  }
}
