package org.tidemark.hadoop;

/**
 * How fast map output is read again, learned while it is read, so that no time goes into a partition of
 * which there would not be time for all: what is read of it would be lost. The first pieces of a partition
 * do not count, as code that is not compiled yet reads them. Not thread-safe.
 */
final class ScanPace {
  /** Shares of what is left when a partition is begun: what warms up, and after what to judge. */
  private static final double WARM_UP = 0.1;

  private static final double TRIAL = 0.2;

  /** Pieces differ: what may just fit is tried. */
  private static final double DOUBT = 1.5;

  // Of the partition in progress.
  private long warmBytes;
  private long warmNanos;

  // Of those before it, once they were warm.
  private long bytes;
  private long nanos;

  /** Whether to begin with a partition of so many bytes. */
  boolean isWorthBeginning(long partitionBytes, long leftNanos) {
    return bytes == 0 || (double) nanos * partitionBytes / bytes <= DOUBT * leftNanos;
  }

  void begin() {
    warmBytes = 0;
    warmNanos = 0;
  }

  /** Whether to go on with it, {@code doneBytes} of it done in {@code spentNanos} of what was left. */
  boolean isWorthGoingOn(long partitionBytes, long doneBytes, long spentNanos, long leftNanos) {
    if (spentNanos < WARM_UP * leftNanos) {
      warmBytes = doneBytes;
      warmNanos = spentNanos;
    }
    if (spentNanos < TRIAL * leftNanos) {
      return true;
    }
    final double nanosPerByte = (double) (spentNanos - warmNanos) / (doneBytes - warmBytes);
    return spentNanos + (partitionBytes - doneBytes) * nanosPerByte <= DOUBT * leftNanos;
  }

  /** It is done, or given up. */
  void end(long doneBytes, long spentNanos) {
    bytes += doneBytes - warmBytes;
    nanos += spentNanos - warmNanos;
  }
}
