package org.tidemark.jvm.transport;

import java.nio.charset.StandardCharsets;

/**
 * Reads the status from the headers that end a call (RFC 7541). With a table of 0 bytes, all
 * relevant names are literals. Huffman-coded values, which gRPC's own servers do not use, are not
 * read.
 */
final class Trailers {
  private static final String[] CODES = {
    "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
    "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED",
    "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"
  };

  private final byte[] block;
  private int at;
  private final int end;
  private String status = "";
  private String message = "";

  private Trailers(byte[] block, int from, int end) {
    this.block = block;
    this.at = from;
    this.end = end;
  }

  /** Returns the status in a HEADERS frame, such as "UNAUTHENTICATED: a token is needed". */
  static String statusIn(Http2.Frame frame) {
    try {
      int from = 0;
      int end = frame.payload.length;
      if (frame.has(Http2.PADDED)) {
        end -= frame.payload[from++] & 0xFF;
      }
      if (frame.has(Http2.PRIORITY)) {
        from += 5;
      }
      final Trailers trailers = new Trailers(frame.payload, from, end);
      trailers.read();
      return trailers.describe();
    } catch (RuntimeException malformed) {
      return "its status is unreadable";
    }
  }

  /** Returns the name of a google.rpc.Code. */
  static String codeName(long code) {
    return code >= 0 && code < CODES.length ? CODES[(int) code] : "code " + code;
  }

  private String describe() {
    if (status.isEmpty()) {
      return "its status is unreadable";
    }
    final String code = codeName(Long.parseLong(status));
    return message.isEmpty() ? code : code + ": " + message;
  }

  private void read() {
    while (at < end) {
      final int first = block[at] & 0xFF;
      if (first >= 0x80) {
        integer(7);  // A field of the static table, which contains none of gRPC's fields.
      } else if (first >= 0x20 && first < 0x40) {
        integer(5);  // a change of the table size
      } else {
        readLiteral(first >= 0x40 ? 6 : 4);
      }
    }
  }

  private void readLiteral(int prefixBits) {
    final String name = integer(prefixBits) == 0 ? string() : "";
    final String value = string();
    if (name.equals("grpc-status")) {
      status = value;
    } else if (name.equals("grpc-message")) {
      message = percentDecoded(value);
    }
  }

  private int integer(int prefixBits) {
    final int mask = (1 << prefixBits) - 1;
    int value = block[at++] & mask;
    if (value < mask) {
      return value;
    }
    for (int shift = 0; shift <= 21; shift += 7) {
      final int more = block[at++];
      value += (more & 0x7F) << shift;
      if (more >= 0) {
        return value;
      }
    }
    throw new IllegalArgumentException("the number is too large");
  }

  private String string() {
    final boolean isHuffman = block[at] < 0;
    final int length = integer(7);
    final String text =
        isHuffman ? "" : new String(block, at, length, StandardCharsets.US_ASCII);
    at += length;
    return text;
  }

  private static String percentDecoded(String text) {
    final byte[] bytes = new byte[text.length()];
    int size = 0;
    for (int i = 0; i < text.length(); ++i) {
      if (text.charAt(i) == '%' && i + 2 < text.length()) {
        bytes[size++] = (byte) Integer.parseInt(text.substring(i + 1, i + 3), 16);
        i += 2;
      } else {
        bytes[size++] = (byte) text.charAt(i);
      }
    }
    return new String(bytes, 0, size, StandardCharsets.UTF_8);
  }
}
