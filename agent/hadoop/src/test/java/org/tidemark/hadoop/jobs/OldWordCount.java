package org.tidemark.hadoop.jobs;

import java.io.IOException;
import java.util.Iterator;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.MapReduceBase;
import org.apache.hadoop.mapred.Mapper;
import org.apache.hadoop.mapred.OutputCollector;
import org.apache.hadoop.mapred.Reducer;
import org.apache.hadoop.mapred.Reporter;

/**
 * Counts words with the classes of org.apache.hadoop.mapred, up to a hundred occurrences of each.
 */
public final class OldWordCount {
  private OldWordCount() {}

  /** Emits each word once. */
  public static class Words extends MapReduceBase
      implements Mapper<LongWritable, Text, Text, IntWritable> {
    private final Text word = new Text();
    private final IntWritable one = new IntWritable(1);

    @Override
    public void map(
        LongWritable offset,
        Text line,
        OutputCollector<Text, IntWritable> output,
        Reporter reporter)
        throws IOException {
      for (String each : line.toString().split("\\s+")) {
        word.set(each);
        output.collect(word, one);
      }
    }
  }

  /** Does not read values after the hundredth. */
  public static class Sums extends MapReduceBase
      implements Reducer<Text, IntWritable, Text, IntWritable> {
    @Override
    public void reduce(
        Text word,
        Iterator<IntWritable> values,
        OutputCollector<Text, IntWritable> output,
        Reporter reporter)
        throws IOException {
      int sum = 0;
      while (sum < 100 && values.hasNext()) {
        sum += values.next().get();
      }
      output.collect(word, new IntWritable(sum));
    }
  }
}
