package org.tidemark.hadoop.profile;

/** {@code count} key groups of {@code sizeBytes} each that took {@code nanos} together. */
public final class GroupPoint {
  public final long sizeBytes;
  public final long count;
  public final double nanos;

  public GroupPoint(long sizeBytes, long count, double nanos) {
    this.sizeBytes = sizeBytes;
    this.count = count;
    this.nanos = nanos;
  }

  double meanNanos() {
    return count == 0 ? 0 : nanos / count;
  }
}
