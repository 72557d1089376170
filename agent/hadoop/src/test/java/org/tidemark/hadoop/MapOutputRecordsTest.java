package org.tidemark.hadoop;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.WritableUtils;
import org.apache.hadoop.mapred.IFile;
import org.junit.Test;

public class MapOutputRecordsTest {
  /** Returns a few bytes per read, and skips no bytes. */
  private static InputStream dribble(byte[] bytes) {
    final Random random = new Random(1);
    return new ByteArrayInputStream(bytes) {
      @Override
      public synchronized int read(byte[] into, int offset, int length) {
        return super.read(into, offset, Math.min(length, 1 + random.nextInt(5_000)));
      }

      @Override
      public synchronized long skip(long count) {
        return 0;
      }
    };
  }

  /**
   * Lengths around the limits of one, two and more bytes, and around the size of the reader's
   * buffer.
   */
  private static final int[] LENGTHS = {4, 5, 123, 124, 251, 252, 300, 65_535, 65_540, 200_000};

  private static byte[] key(int i) {
    final byte[] key = new byte[LENGTHS[i % LENGTHS.length]];
    Arrays.fill(key, (byte) i);
    return key;
  }

  private static int valueLength(int i) {
    return LENGTHS[i / LENGTHS.length % LENGTHS.length];
  }

  /** Returns map output as Hadoop writes it. */
  private static byte[] written() throws Exception {
    final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    final IFile.Writer<BytesWritable, BytesWritable> writer =
        new IFile.Writer<>(
            new Configuration(),
            new FSDataOutputStream(bytes, null),
            BytesWritable.class,
            BytesWritable.class,
            null,
            null);
    for (int i = 0; i < LENGTHS.length * LENGTHS.length; ++i) {
      // The serialized form contains four bytes for its length.
      writer.append(
          new BytesWritable(Arrays.copyOfRange(key(i), 4, key(i).length)),
          new BytesWritable(new byte[valueLength(i) - 4]));
    }
    writer.close();
    return bytes.toByteArray();
  }

  @Test
  public void everyRecordWrittenByHadoopIsRead() throws Exception {
    try (MapOutputRecords records = new MapOutputRecords(dribble(written()), () -> false)) {
      for (int i = 0; i < LENGTHS.length * LENGTHS.length; ++i) {
        assertTrue(records.next());
        assertEquals(key(i).length, records.keyLength());
        assertEquals(valueLength(i), records.valueLength());
        final int from = records.keyOffset() + 4;
        assertArrayEquals(
            Arrays.copyOfRange(key(i), 4, key(i).length),
            Arrays.copyOfRange(records.buffer(), from, from + records.keyLength() - 4));
      }
      assertFalse(records.next());
    }
  }

  @Test
  public void aTruncatedFileIsDetected() throws Exception {
    final byte[] whole = written();
    for (int cut : new int[] {0, 1, 2, 7, whole.length - 70_000}) {
      try (MapOutputRecords records =
          new MapOutputRecords(new ByteArrayInputStream(whole, 0, cut), () -> false)) {
        while (records.next()) {
          // Reads to the end.
        }
        throw new AssertionError("cut at " + cut);
      } catch (EOFException asItShould) {
        // An error is allowed, but an invented record is not.
      }
    }
  }

  @Test
  public void anInvalidLengthEndsTheFile() throws Exception {
    final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    final DataOutputStream out = new DataOutputStream(bytes);
    WritableUtils.writeVInt(out, Integer.MAX_VALUE);
    WritableUtils.writeVInt(out, 1);
    try (MapOutputRecords records =
        new MapOutputRecords(new ByteArrayInputStream(bytes.toByteArray()), () -> false)) {
      assertFalse(records.next());
    }
  }

  /**
   * Records with huge values, whose bytes are generated even when they are skipped, as in
   * decompression.
   */
  private static final class LongValues extends InputStream {
    private final byte[] head;
    private final int valueBytes;
    private long left;
    private int headAt;
    long handed;

    LongValues(int valueBytes) throws IOException {
      final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      final DataOutputStream out = new DataOutputStream(bytes);
      WritableUtils.writeVInt(out, 1);
      WritableUtils.writeVInt(out, valueBytes);
      out.write('k');
      head = bytes.toByteArray();
      this.valueBytes = valueBytes;
    }

    @Override
    public int read() {
      ++handed;
      if (headAt == head.length && left == 0) {
        headAt = 0;
      }
      if (headAt < head.length) {
        left = valueBytes;
        return head[headAt++] & 0xFF;
      }
      --left;
      return 0;
    }

    @Override
    public int read(byte[] into, int offset, int length) {
      for (int i = 0; i < length; ++i) {
        into[offset + i] = (byte) read();
      }
      return length;
    }

    @Override
    public long skip(long count) {
      final long skipped = Math.min(count, left);
      left -= skipped;
      handed += skipped;
      return skipped;
    }
  }

  /** The first of a thousand values of 2 MB takes all of the time. */
  @Test
  public void theTimeLimitHoldsWithinLongValues() throws Exception {
    final LongValues in = new LongValues(2 << 20);
    try (MapOutputRecords records = new MapOutputRecords(in, () -> true)) {
      int read = 0;
      while (read < 1_000 && records.next()) {
        ++read;
      }
      assertEquals(0, read);
      assertTrue("bytes read after the time was up: " + in.handed, in.handed <= 1 << 19);
    }
  }

  @Test
  public void theTimeLimitHoldsForShortRecords() throws Exception {
    final LongValues in = new LongValues(1);
    try (MapOutputRecords records = new MapOutputRecords(in, () -> true)) {
      int read = 0;
      while (read < 100_000 && records.next()) {
        ++read;
      }
      assertTrue("records read after the time was up: " + read, read <= 1_024);
    }
  }
}
