package org.tidemark.hadoop.cost;

import java.util.Arrays;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.tidemark.hadoop.support.RecordBuffers;

/**
 * Replaces the shuffle by sorted records of 100 bytes with distinct keys, as in terasort. The
 * records take almost no time. The setting {@link #COUNT} determines their number.
 */
public final class MadeRecords<K, V> implements ShuffleConsumerPlugin<K, V> {
  static final String COUNT = "cost.records";

  private static final int DIGITS = 10;
  private static final int VALUE_BYTES = 88;

  private Context<K, V> context;

  @Override
  public void init(Context<K, V> context) {
    this.context = context;
  }

  @Override
  public RawKeyValueIterator run() {
    context.getCopyPhase().complete();
    return new Records(context.getJobConf().getLong(COUNT, 1));
  }

  @Override
  public void close() {}

  /** Returns a serialized Text, which consists of a byte for the length and the characters. */
  private static byte[] text(int length) {
    final byte[] text = new byte[1 + length];
    Arrays.fill(text, (byte) '0');
    text[0] = (byte) length;
    return text;
  }

  private static final class Records extends RecordBuffers {
    private final byte[] keyBytes = text(DIGITS);
    private final byte[] valueBytes = text(VALUE_BYTES);
    private long left;

    Records(long count) {
      left = count;
    }

    @Override
    public boolean next() {
      if (left == 0) {
        return false;
      }
      --left;
      countUp();
      key.reset(keyBytes, keyBytes.length);
      value.reset(valueBytes, valueBytes.length);
      return true;
    }

    private void countUp() {
      int digit = DIGITS;
      while (keyBytes[digit] == '9') {
        keyBytes[digit--] = '0';
      }
      ++keyBytes[digit];
    }
  }
}
