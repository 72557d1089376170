package org.tidemark.hadoop.wire;

/** google.protobuf.Duration and Timestamp. */
final class Times {
  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  private Times() {}

  static ProtoWriter duration(long nanos) {
    return new ProtoWriter()
        .uint(1, nanos / NANOS_PER_SECOND)
        .uint(2, nanos % NANOS_PER_SECOND);
  }

  static ProtoWriter timestamp(long epochMillis) {
    return new ProtoWriter()
        .uint(1, Math.floorDiv(epochMillis, 1000L))
        .uint(2, Math.floorMod(epochMillis, 1000L) * 1_000_000L);
  }
}
