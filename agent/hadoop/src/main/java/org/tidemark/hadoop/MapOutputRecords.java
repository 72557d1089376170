package org.tidemark.hadoop;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.io.WritableUtils;

/**
 * Reads the keys of an IFile in order, and the lengths of their values. Hadoop's own reader reads
 * each length byte by byte through a checksum and copies each value. This reader reads large pieces
 * and skips values, since rereading the output must be cheap. It stops when the time is up, even
 * within a long value, since skipping may require decompression. Not thread-safe.
 */
final class MapOutputRecords implements Closeable {
  private static final int BUFFER_BYTES = 1 << 16;
  private static final int KEY_BYTES_MAX = 1 << 20;

  /** The value of both lengths after the last record. */
  private static final int END_MARK = -1;

  /** The work between two clock readings, in bytes. */
  private static final int WORK_PER_CHECK = 1 << 18;
  /** The fixed cost of a record, expressed in bytes to read. */
  private static final int RECORD_WORK = WORK_PER_CHECK / 1024;

  private final InputStream in;
  private final BooleanSupplier isTimeUp;
  private int work;
  private byte[] buffer = new byte[BUFFER_BYTES];
  private int at;
  private int end;
  private int keyOffset;
  private int keyLength;
  private int valueLength;

  /** Takes ownership of {@code in}, which must be positioned at a record. */
  MapOutputRecords(InputStream in, BooleanSupplier isTimeUp) {
    this.in = in;
    this.isTimeUp = isTimeUp;
  }

  /**
   * Returns false after the last record, if the next record cannot be read, or if the time budget
   * is exhausted.
   */
  boolean next() throws IOException {
    if (endsWork(RECORD_WORK)) {
      return false;
    }
    keyLength = length();
    valueLength = length();
    if (keyLength <= END_MARK || valueLength <= END_MARK || keyLength > KEY_BYTES_MAX) {
      return false;
    }
    require(keyLength);
    keyOffset = at;
    at += keyLength;
    return skip(valueLength);
  }

  /** Returns a buffer with the key of this record, which the next record overwrites. */
  byte[] buffer() {
    return buffer;
  }

  int keyOffset() {
    return keyOffset;
  }

  int keyLength() {
    return keyLength;
  }

  int valueLength() {
    return valueLength;
  }

  @Override
  public void close() throws IOException {
    in.close();
  }

  /** Reads the format of WritableUtils.writeVInt(). */
  private int length() throws IOException {
    require(1);
    final byte first = buffer[at++];
    final int more = WritableUtils.decodeVIntSize(first) - 1;
    if (more == 0) {
      return first;
    }
    require(more);
    long value = 0;
    for (int i = 0; i < more; ++i) {
      value = value << 8 | buffer[at++] & 0xFF;
    }
    return (int) (WritableUtils.isNegativeVInt(first) ? ~value : value);
  }

  /** Reads until the buffer contains {@code count} bytes after {@code at}. */
  private void require(int count) throws IOException {
    if (end - at >= count) {
      return;
    }
    final byte[] from = buffer;
    if (count > buffer.length) {
      buffer = new byte[count];
    }
    System.arraycopy(from, at, buffer, 0, end - at);
    end -= at;
    at = 0;
    while (end < count) {
      final int read = in.read(buffer, end, buffer.length - end);
      if (read <= 0) {
        throw new EOFException("map output ends within a record");
      }
      end += read;
      work += read;
    }
  }

  /** Keeps the last key in the buffer. Returns false if the time budget ran out first. */
  private boolean skip(int count) throws IOException {
    final int buffered = Math.min(count, end - at);
    at += buffered;
    for (long left = count - buffered; left > 0; ) {
      final long skipped = in.skip(Math.min(left, WORK_PER_CHECK));
      // A return value of zero does not mean the end of the stream.
      if (skipped <= 0 && in.read() < 0) {
        throw new EOFException("map output ends within a value");
      }
      left -= Math.max(skipped, 1);
      if (endsWork((int) Math.max(skipped, 1))) {
        return false;
      }
    }
    return true;
  }

  /** Returns true if the time is up. Reads the clock only after enough work. */
  private boolean endsWork(int more) {
    work += more;
    if (work < WORK_PER_CHECK) {
      return false;
    }
    work = 0;
    return isTimeUp.getAsBoolean();
  }
}
