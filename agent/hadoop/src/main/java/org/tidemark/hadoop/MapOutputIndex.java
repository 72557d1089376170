package org.tidemark.hadoop;

import java.io.DataInputStream;
import java.io.IOException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;

/**
 * Where the partitions of a map task's final output are, from the file that Hadoop leaves beside it.
 * Hadoop's own reader of it loads all settings of the cluster once more, which took longer than the rest
 * of a small task's profile. Immutable.
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
   * The checksum at the end is not looked at: partitions that are scanned have to add up to what it says, and
   * of others its sizes are taken as they are.
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

  /** How many there are. */
  int partitions() {
    return numbers.length / NUMBERS_OF_PARTITION;
  }

  /** Where a partition begins in the file of the output. */
  long startOffset(int partition) {
    return number(partition, START_OFFSET);
  }

  /** Its records with their lengths, its end mark and what encryption adds, all before compression. */
  long recordBytes(int partition) {
    return number(partition, RECORD_BYTES);
  }

  /** What it takes up in the file. */
  long partBytes(int partition) {
    return number(partition, PART_BYTES);
  }

  private long number(int partition, int which) {
    return numbers[NUMBERS_OF_PARTITION * partition + which];
  }
}
