package org.tidemark.hadoop.jobs;

import java.io.IOException;
import java.util.Arrays;
import java.util.zip.Deflater;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;

/**
 * Lists the positions of each word. The reduce function sorts and compresses a list of positions.
 */
public final class InvertedIndex {
  private InvertedIndex() {}

  /** Emits each word with the position of its line. */
  public static class Words extends Mapper<LongWritable, Text, Text, LongWritable> {
    private final Text word = new Text();

    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      for (String each : line.toString().toLowerCase().split("[^a-z]+")) {
        if (!each.isEmpty()) {
          word.set(each);
          context.write(word, offset);
        }
      }
    }
  }

  /** Emits the number of positions and the compressed size of their differences. */
  public static class Postings extends Reducer<Text, LongWritable, Text, Text> {
    private final Text summary = new Text();
    private final byte[] compressed = new byte[1 << 16];
    private long[] places = new long[1024];

    @Override
    protected void reduce(Text word, Iterable<LongWritable> values, Context context)
        throws IOException, InterruptedException {
      int count = 0;
      for (LongWritable value : values) {
        if (count == places.length) {
          places = Arrays.copyOf(places, 2 * count);
        }
        places[count++] = value.get();
      }
      Arrays.sort(places, 0, count);
      final byte[] differences = new byte[8 * count];
      long before = 0;
      for (int i = 0; i < count; ++i) {
        long difference = places[i] - before;
        before = places[i];
        for (int b = 0; b < 8; ++b, difference >>>= 8) {
          differences[8 * i + b] = (byte) difference;
        }
      }
      final int rounds = context.getConfiguration().getInt("index.rounds", 1);
      long bytes = 0;
      for (int round = 0; round < rounds; ++round) {
        bytes = compressedBytes(differences);
      }
      summary.set(count + "\t" + bytes);
      context.write(word, summary);
    }

    private long compressedBytes(byte[] bytes) {
      final Deflater deflater = new Deflater(Deflater.BEST_COMPRESSION);
      deflater.setInput(bytes);
      deflater.finish();
      long total = 0;
      while (!deflater.finished()) {
        total += deflater.deflate(compressed);
      }
      deflater.end();
      return total;
    }
  }
}
