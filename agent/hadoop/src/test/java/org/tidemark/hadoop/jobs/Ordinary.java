package org.tidemark.hadoop.jobs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.CombineTextInputFormat;

/** Jobs with features of Hadoop that ordinary programs use. */
public final class Ordinary {
  private static final String MAP_ROUNDS = "ordinary.map.rounds";
  private static final String REDUCE_ROUNDS = "ordinary.reduce.rounds";

  private Ordinary() {}

  /** Sets the classes of a job. Returns false if the name is unknown. */
  static boolean configure(Job job, String name) throws IOException {
    switch (name) {
      case "giant-key":
        job.setMapperClass(Giant.class);
        job.setReducerClass(Digests.class);
        return true;
      case "small-files":
        job.setInputFormatClass(CombineTextInputFormat.class);
        job.setMapperClass(Words.class);
        job.setReducerClass(Digests.class);
        return true;
      case "digest-maps":
        job.setMapperClass(Words.class);
        job.setNumReduceTasks(0);
        return true;
      default:
        return false;
    }
  }

  private static MessageDigest digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** Returns the first word of a line after some work. */
  private static String work(MessageDigest digest, String line, int rounds) {
    byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
    for (int round = 0; round < rounds; ++round) {
      bytes = digest.digest(bytes);
    }
    final String trimmed = line.trim();
    final int end = trimmed.indexOf(' ');
    return end < 0 ? trimmed : trimmed.substring(0, end);
  }

  /** Emits each line with its first word. */
  public static class Words extends Mapper<LongWritable, Text, Text, Text> {
    private final MessageDigest digest = digest();
    private final Text key = new Text();

    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      key.set(work(digest, line.toString(), context.getConfiguration().getInt(MAP_ROUNDS, 0)));
      context.write(key, line);
    }
  }

  /** Emits half of the lines with one key. */
  public static class Giant extends Mapper<LongWritable, Text, Text, Text> {
    private final Text key = new Text();
    private long lines;

    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      key.set(++lines % 2 == 0 ? "giant" : Long.toString(offset.get() % 10_000));
      context.write(key, line);
    }
  }

  /** Digests each value many times. */
  public static class Digests extends Reducer<Text, Text, Text, Text> {
    private final MessageDigest digest = digest();

    @Override
    protected void reduce(Text key, Iterable<Text> lines, Context context)
        throws IOException, InterruptedException {
      final int rounds = context.getConfiguration().getInt(REDUCE_ROUNDS, 0);
      String last = "";
      for (Text line : lines) {
        last = work(digest, line.toString(), rounds);
      }
      context.write(key, new Text(last));
    }
  }
}
