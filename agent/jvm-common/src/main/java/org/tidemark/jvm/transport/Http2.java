package org.tidemark.jvm.transport;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * The HTTP/2 frames (RFC 9113) that one gRPC call needs. Headers are written as literals without
 * compression. {@link Trailers} reads the headers that contain the status of a call.
 */
final class Http2 {
  static final int DATA = 0;
  static final int HEADERS = 1;
  static final int RST_STREAM = 3;
  static final int SETTINGS = 4;
  static final int PING = 6;
  static final int GOAWAY = 7;
  static final int WINDOW_UPDATE = 8;

  static final int ACK = 1;
  static final int END_STREAM = 1;
  static final int END_HEADERS = 4;
  static final int PADDED = 8;
  static final int PRIORITY = 32;

  static final int SETTINGS_INITIAL_WINDOW_SIZE = 4;

  static final int PING_BYTES = 8;

  /** The initial flow-control window of both sides. */
  static final int WINDOW_BYTES = 65_535;

  /** The largest frame size. The connector never negotiates another size. */
  static final int FRAME_BYTES_MAX = 16_384;

  private static final byte[] PREFACE =
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
  /**
   * A header table of 0 bytes, so that the master's headers cannot refer to earlier headers (RFC
   * 7541, 4.2).
   */
  private static final byte[] SETTINGS_HEADER_TABLE_SIZE_ZERO = {0, 1, 0, 0, 0, 0};

  /** A received frame. */
  static final class Frame {
    final int type;
    final int flags;
    final int stream;
    final byte[] payload;

    Frame(int type, int flags, int stream, byte[] payload) {
      this.type = type;
      this.flags = flags;
      this.stream = stream;
      this.payload = payload;
    }

    boolean has(int flag) {
      return (flags & flag) != 0;
    }

    /**
     * Returns the 4-byte number at {@code at} in the payload, or -1 if the payload is too short.
     */
    long uint32(int at) {
      if (payload.length < at + 4) {
        return -1;
      }
      return (payload[at] & 0xFFL) << 24
          | (payload[at + 1] & 0xFFL) << 16
          | (payload[at + 2] & 0xFFL) << 8
          | payload[at + 3] & 0xFFL;
    }
  }

  /** Belongs to one thread. */
  static final class FrameReader {
    private static final int HEADER_BYTES = 9;

    private final DataInputStream in;
    private final byte[] header = new byte[HEADER_BYTES];

    FrameReader(InputStream in) {
      this.in = new DataInputStream(in);
    }

    /** Throws IOException at the end of the stream, and for a frame that exceeds the limit. */
    Frame read() throws IOException {
      in.readFully(header);
      final int length = uint8(0) << 16 | uint8(1) << 8 | uint8(2);
      if (length > FRAME_BYTES_MAX) {
        throw new IOException("a frame of " + length + " bytes: not HTTP/2");
      }
      final byte[] payload = new byte[length];
      in.readFully(payload);
      final int stream = (uint8(5) & 0x7F) << 24 | uint8(6) << 16 | uint8(7) << 8 | uint8(8);
      return new Frame(uint8(3), uint8(4), stream, payload);
    }

    private int uint8(int at) {
      return header[at] & 0xFF;
    }
  }

  private Http2() {}

  static void write(
      OutputStream out, int type, int flags, int stream, byte[] payload, int from, int length)
      throws IOException {
    out.write(length >>> 16);
    out.write(length >>> 8);
    out.write(length);
    out.write(type);
    out.write(flags);
    writeInt(out, stream);
    out.write(payload, from, length);
  }

  static void write(OutputStream out, int type, int flags, int stream, byte[] payload)
      throws IOException {
    write(out, type, flags, stream, payload, 0, payload.length);
  }

  static byte[] int32(long value) {
    return new byte[] {
      (byte) (value >>> 24), (byte) (value >>> 16), (byte) (value >>> 8), (byte) value
    };
  }

  /** Opens the connection, and calls a method for a job on stream 1. An empty token is not sent. */
  static void writeCall(OutputStream out, Endpoint master, String method, String jobId)
      throws IOException {
    out.write(PREFACE);
    write(out, SETTINGS, 0, 0, SETTINGS_HEADER_TABLE_SIZE_ZERO);
    final ByteArrayOutputStream block = new ByteArrayOutputStream();
    literal(block, ":method", "POST");
    literal(block, ":scheme", master.scheme());
    literal(block, ":path", method);
    literal(block, ":authority", master.authority());
    literal(block, "te", "trailers");
    literal(block, "content-type", "application/grpc");
    literal(block, "user-agent", "tidemark-jvm");
    literal(block, "tidemark-job", visible(jobId));
    if (!master.token.isEmpty()) {
      literal(block, "authorization", "Bearer " + master.token);
    }
    write(out, HEADERS, END_HEADERS, 1, block.toByteArray());
  }

  // Equals the encoding in transport/channel.cc. Proxies use the header for routing.
  private static String visible(String text) {
    final StringBuilder escaped = new StringBuilder();
    for (byte each : text.getBytes(StandardCharsets.UTF_8)) {
      if (each > ' ' && each <= '~' && each != '%') {
        escaped.append((char) each);
      } else {
        escaped.append(String.format("%%%02X", each));
      }
    }
    return escaped.toString();
  }

  // Writes a header field without indexing, its name and value without Huffman coding (RFC 7541,
  // 6.2.2).
  private static void literal(ByteArrayOutputStream block, String name, String value) {
    block.write(0);
    text(block, name);
    text(block, value);
  }

  private static void text(ByteArrayOutputStream block, String text) {
    final byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    if (bytes.length < 127) {
      block.write(bytes.length);
    } else {
      block.write(127);
      int rest = bytes.length - 127;
      for (; rest >= 128; rest >>>= 7) {
        block.write(rest & 0x7F | 0x80);
      }
      block.write(rest);
    }
    block.write(bytes, 0, bytes.length);
  }

  private static void writeInt(OutputStream out, int value) throws IOException {
    out.write(int32(value));
  }
}
