package org.tidemark.jvm.wire;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Appends protocol buffer fields to a growing array. Omits fields with their default value, as in
 * proto3. Methods ending in Always write fields that have presence. Not thread-safe.
 */
public final class ProtoWriter {
  /** The number of bytes of a string that the master keeps. */
  static final int TEXT_BYTES_MAX = 4096;

  private byte[] bytes = new byte[256];
  private int size;

  public byte[] toByteArray() {
    return Arrays.copyOf(bytes, size);
  }

  public int size() {
    return size;
  }

  public ProtoWriter uint(int field, long value) {
    return value == 0 ? this : uintAlways(field, value);
  }

  public ProtoWriter uintAlways(int field, long value) {
    varint((long) field << 3);
    varint(value);
    return this;
  }

  public ProtoWriter bool(int field, boolean value) {
    return uint(field, value ? 1 : 0);
  }

  public ProtoWriter fixed64Always(int field, long value) {
    varint((long) field << 3 | 1);
    fixed64(value);
    return this;
  }

  public ProtoWriter doubleAlways(int field, double value) {
    return fixed64Always(field, Double.doubleToRawLongBits(value));
  }

  public ProtoWriter string(int field, String value) {
    return value == null || value.isEmpty()
        ? this
        : bytesAlways(field, value.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * Writes a human-readable string. Cuts it between characters to the length that the master keeps.
   */
  public ProtoWriter text(int field, String value) {
    return string(field, value == null ? null : cut(value));
  }

  private static String cut(String value) {
    int end = 0;
    int bytes = 0;
    while (end < value.length()) {
      final int character = value.codePointAt(end);
      bytes += character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
      if (bytes > TEXT_BYTES_MAX) {
        return value.substring(0, end);
      }
      end += Character.charCount(character);
    }
    return value;
  }

  /** Writes a string, a packed array or a message, even if it is empty. */
  public ProtoWriter bytesAlways(int field, byte[] value) {
    varint((long) field << 3 | 2);
    varint(value.length);
    raw(value, value.length);
    return this;
  }

  public ProtoWriter message(int field, ProtoWriter value) {
    varint((long) field << 3 | 2);
    varint(value.size);
    raw(value.bytes, value.size);
    return this;
  }

  public ProtoWriter packedUints(int field, long[] values) {
    if (values.length == 0) {
      return this;
    }
    final ProtoWriter packed = new ProtoWriter();
    for (long value : values) {
      packed.varint(value);
    }
    return message(field, packed);
  }

  public ProtoWriter packedFixed64(int field, long[] values) {
    if (values.length == 0) {
      return this;
    }
    final ProtoWriter packed = new ProtoWriter();
    for (long value : values) {
      packed.fixed64(value);
    }
    return message(field, packed);
  }

  /** Appends encoded fields. */
  public ProtoWriter append(byte[] fields) {
    raw(fields, fields.length);
    return this;
  }

  private void varint(long value) {
    long rest = value;
    room(10);
    while ((rest & ~0x7FL) != 0) {
      bytes[size++] = (byte) (rest & 0x7F | 0x80);
      rest >>>= 7;
    }
    bytes[size++] = (byte) rest;
  }

  private void fixed64(long value) {
    room(8);
    for (int shift = 0; shift < 64; shift += 8) {
      bytes[size++] = (byte) (value >>> shift);
    }
  }

  private void raw(byte[] from, int count) {
    room(count);
    System.arraycopy(from, 0, bytes, size, count);
    size += count;
  }

  private void room(int more) {
    if (size + more > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + more));
    }
  }
}
