package org.tidemark.hadoop;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.io.WritableUtils;

/**
 * The keys of an IFile, in order, and how long their values are. Hadoop's own reader takes each length
 * byte by byte through a checksum and copies each value; this one reads large pieces and passes values
 * over, as reading the output again must cost next to nothing. It stops when the time is up, within
 * a long value, too: to pass one over may mean to decompress it. Not thread-safe.
 */
final class MapOutputRecords implements Closeable {
  private static final int BUFFER_BYTES = 1 << 16;
  /** A longer key is not worth the memory. */
  private static final int KEY_BYTES_MAX = 1 << 20;

  /** Both lengths of what stands behind the last record. */
  private static final int END_MARK = -1;

  /** After so much work there is another look at the clock. bytes */
  private static final int WORK_PER_LOOK = 1 << 18;
  /** What a record costs besides reading its bytes. bytes */
  private static final int RECORD_WORK = WORK_PER_LOOK / 1024;

  private final InputStream in;
  private final BooleanSupplier isTimeUp;
  private int work;
  private byte[] buffer = new byte[BUFFER_BYTES];
  private int at;
  private int end;
  private int keyOffset;
  private int keyLength;
  private int valueLength;

  /** {@code in} begins with a record. It is closed with this. */
  MapOutputRecords(InputStream in, BooleanSupplier isTimeUp) {
    this.in = in;
    this.isTimeUp = isTimeUp;
  }

  /** False: there is no other record, none that can be read, or no time to read it. */
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

  /** Holds the key of this record until the next one is asked for. */
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

  /** As WritableUtils.writeVInt() writes it. */
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

  /** Has so many bytes from {@code at} on in the buffer. */
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

  /** The key that was read last stays in the buffer. False: no time for all of it. */
  private boolean skip(int count) throws IOException {
    final int buffered = Math.min(count, end - at);
    at += buffered;
    for (long left = count - buffered; left > 0; ) {
      final long skipped = in.skip(Math.min(left, WORK_PER_LOOK));
      // Nothing skipped does not mean the end.
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

  /** Whether the time is up, by a clock that is not looked at each time. */
  private boolean endsWork(int more) {
    work += more;
    if (work < WORK_PER_LOOK) {
      return false;
    }
    work = 0;
    return isTimeUp.getAsBoolean();
  }
}
