package org.tidemark.jvm.profile;

/**
 * Stable 64-bit hash of a serialized intermediate key: XXH64 with seed 0, as in
 * streaming/key_sample.h. tests/vectors/key_hash.json has golden values for both.
 */
public final class KeyHash {
  private static final long PRIME_1 = 0x9E3779B185EBCA87L;
  private static final long PRIME_2 = 0xC2B2AE3D27D4EB4FL;
  private static final long PRIME_3 = 0x165667B19E3779F9L;
  private static final long PRIME_4 = 0x85EBCA77C2B2AE63L;
  private static final long PRIME_5 = 0x27D4EB2F165667C5L;

  private KeyHash() {}

  /** Returns the hash of {@code length} bytes from {@code offset}. Allocates nothing. */
  public static long of(byte[] bytes, int offset, int length) {
    final int end = offset + length;
    int at = offset;
    long hash = PRIME_5;
    if (length >= 32) {
      long lane1 = PRIME_1 + PRIME_2;
      long lane2 = PRIME_2;
      long lane3 = 0;
      long lane4 = -PRIME_1;
      for (; at <= end - 32; at += 32) {
        lane1 = round(lane1, long64(bytes, at));
        lane2 = round(lane2, long64(bytes, at + 8));
        lane3 = round(lane3, long64(bytes, at + 16));
        lane4 = round(lane4, long64(bytes, at + 24));
      }
      hash =
          Long.rotateLeft(lane1, 1)
              + Long.rotateLeft(lane2, 7)
              + Long.rotateLeft(lane3, 12)
              + Long.rotateLeft(lane4, 18);
      hash = merge(hash, lane1);
      hash = merge(hash, lane2);
      hash = merge(hash, lane3);
      hash = merge(hash, lane4);
    }
    hash += length;
    for (; at <= end - 8; at += 8) {
      hash = Long.rotateLeft(hash ^ round(0, long64(bytes, at)), 27) * PRIME_1 + PRIME_4;
    }
    if (at <= end - 4) {
      final long four = int32(bytes, at) & 0xFFFFFFFFL;
      hash = Long.rotateLeft(hash ^ (four * PRIME_1), 23) * PRIME_2 + PRIME_3;
      at += 4;
    }
    for (; at < end; ++at) {
      hash = Long.rotateLeft(hash ^ ((bytes[at] & 0xFF) * PRIME_5), 11) * PRIME_1;
    }
    return avalanche(hash);
  }

  private static long round(long lane, long input) {
    return Long.rotateLeft(lane + input * PRIME_2, 31) * PRIME_1;
  }

  private static long merge(long hash, long lane) {
    return (hash ^ round(0, lane)) * PRIME_1 + PRIME_4;
  }

  private static long avalanche(long hash) {
    long mixed = (hash ^ (hash >>> 33)) * PRIME_2;
    mixed = (mixed ^ (mixed >>> 29)) * PRIME_3;
    return mixed ^ (mixed >>> 32);
  }

  // The methods are small because the JVM's first compiler inlines only methods of up to 35 bytes
  // of code. Many tasks end before another compiler runs.
  private static int int16(byte[] bytes, int at) {
    return (bytes[at] & 0xFF) | (bytes[at + 1] & 0xFF) << 8;
  }

  private static int int32(byte[] bytes, int at) {
    return int16(bytes, at) | int16(bytes, at + 2) << 16;
  }

  private static long long64(byte[] bytes, int at) {
    return (int32(bytes, at) & 0xFFFFFFFFL) | (long) int32(bytes, at + 4) << 32;
  }
}
