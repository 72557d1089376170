package org.tidemark.jvm.transport;

import java.util.Random;

/**
 * The pauses between attempts to connect, from 100 ms to 30 s. Each pause is twice as long as the
 * previous one, then randomly shortened by up to a half so that the tasks of a cluster do not
 * reconnect at the same time.
 */
final class Backoff {
  private static final long FIRST_NANOS = 100_000_000L;
  private static final long MAX_NANOS = 30_000_000_000L;

  private final Random random;
  private long nextNanos = FIRST_NANOS;

  Backoff(long seed) {
    random = new Random(seed);
  }

  long next() {
    final long full = nextNanos;
    nextNanos = Math.min(2 * nextNanos, MAX_NANOS);
    return full / 2 + (long) (random.nextDouble() * (full / 2));
  }

  void reset() {
    nextNanos = FIRST_NANOS;
  }
}
