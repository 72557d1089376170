package org.tidemark.spark;

import java.util.Map;
import org.tidemark.jvm.report.Latest;

/**
 * The number of records per byte of each shuffle, computed from the map tasks that wrote it.
 * Thread-safe.
 */
final class ShuffleRecords {
  private static final class Written {
    long records;
    long bytes;
  }

  private final Map<Integer, Integer> shuffleOfStage = new Latest<>();
  private final Map<Integer, Written> shuffles = new Latest<>();

  synchronized void writes(int stage, int shuffle) {
    shuffleOfStage.put(stage, shuffle);
  }

  /** Records a finished task of the stage. */
  synchronized void wrote(int stage, long records, long bytes) {
    final Integer shuffle = shuffleOfStage.get(stage);
    if (shuffle == null) {
      return;
    }
    final Written written = shuffles.computeIfAbsent(shuffle, missing -> new Written());
    written.records += records;
    written.bytes += bytes;
  }

  /** Returns 0 if the number is unknown. */
  synchronized double perByte(int shuffle) {
    final Written written = shuffles.get(shuffle);
    return written == null || written.bytes <= 0 ? 0 : (double) written.records / written.bytes;
  }
}
