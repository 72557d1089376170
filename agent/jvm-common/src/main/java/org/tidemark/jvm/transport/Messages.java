package org.tidemark.jvm.transport;

import java.io.IOException;

/**
 * Assembles gRPC messages from the pieces in frames. Each message is preceded by a compression byte
 * and a four-byte length. Holds one message at a time, and none above the limit. Not thread-safe.
 */
final class Messages {
  interface Taker {
    void take(byte[] message);
  }

  private static final int HEAD_BYTES = 5;
  /** A master names at most a hundred rejected events per response, each with a sentence. */
  static final int BYTES_MAX = 1 << 17;

  private final Taker taker;
  private final byte[] head = new byte[HEAD_BYTES];
  private int have;
  /** Null until the message's length is known. */
  private byte[] message;

  Messages(Taker taker) {
    this.taker = taker;
  }

  /**
   * Adds the next piece. Throws IOException if a message is too long, or if it is compressed, since
   * compression is not negotiated.
   */
  void add(byte[] piece, int from, int length) throws IOException {
    final int end = from + length;
    for (int at = from; at < end;) {
      final byte[] target = message == null ? head : message;
      final int taken = Math.min(target.length - have, end - at);
      System.arraycopy(piece, at, target, have, taken);
      have += taken;
      at += taken;
      if (have == target.length) {
        have = 0;
        take(target);
      }
    }
  }

  private void take(byte[] whole) throws IOException {
    if (whole == head) {
      final long length = new Http2.Frame(0, 0, 0, head).uint32(1);
      if (head[0] != 0 || length > BYTES_MAX) {
        throw new IOException("not a response of IngestService");
      }
      message = new byte[(int) length];
      if (length > 0) {
        return;
      }
    }
    final byte[] taken = message;
    message = null;
    taker.take(taken);
  }
}
