package org.tidemark.jvm.profile;

/** {@code count} key groups of {@code sizeBytes} each that took {@code nanos} in total. */
public final class GroupPoint {
  public final long sizeBytes;
  private long count;
  private double nanos;

  GroupPoint(long sizeBytes, long count, double nanos) {
    this.sizeBytes = sizeBytes;
    this.count = count;
    this.nanos = nanos;
  }

  public long count() {
    return count;
  }

  public double nanos() {
    return nanos;
  }

  /** Adds key groups of this size. */
  void add(long moreGroups, double moreNanos) {
    count += moreGroups;
    nanos += moreNanos;
  }

  double meanNanos() {
    return count == 0 ? 0 : nanos / count;
  }
}
