package org.tidemark.jvm.wire;

import java.util.Arrays;

/**
 * Reads the fields of a protocol buffer message in order. If a message is truncated or malformed,
 * {@link #next} returns false. Not thread-safe.
 */
public final class ProtoReader {
  private final byte[] bytes;
  private int at;
  private int field;
  private long value;
  private byte[] content;

  public ProtoReader(byte[] bytes) {
    this.bytes = bytes;
  }

  /** Reads a field. Returns false at the end. */
  public boolean next() {
    try {
      if (at >= bytes.length) {
        return false;
      }
      final long tag = varint();
      field = (int) (tag >>> 3);
      value = 0;
      content = null;
      switch ((int) (tag & 7)) {
        case 0:
          value = varint();
          return true;
        case 1:
          for (int shift = 0; shift < 64; shift += 8) {
            value |= (bytes[at++] & 0xFFL) << shift;
          }
          return true;
        case 2:
          final int length = (int) varint();
          if (length < 0 || length > bytes.length - at) {
            return false;
          }
          content = Arrays.copyOfRange(bytes, at, at + length);
          at += length;
          return true;
        case 5:
          at += 4;
          return at <= bytes.length;
        default:
          return false;
      }
    } catch (ArrayIndexOutOfBoundsException cutShort) {
      return false;
    }
  }

  public int field() {
    return field;
  }

  /** Returns a numeric value (a varint or 64 fixed bits). */
  public long value() {
    return value;
  }

  /** Returns the content of a string or message, or an empty array for other types. */
  public byte[] content() {
    return content == null ? new byte[0] : content;
  }

  private long varint() {
    long result = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      final byte part = bytes[at++];
      result |= (long) (part & 0x7F) << shift;
      if (part >= 0) {
        return result;
      }
    }
    throw new ArrayIndexOutOfBoundsException();
  }
}
