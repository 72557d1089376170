package org.tidemark.hadoop.jobs;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapReduceBase;
import org.apache.hadoop.mapred.OutputCollector;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskAttemptID;

/** Counts lines. The first attempts at some tasks fail after a hundred records, or hang. */
public final class FaultyWords {
  /** The index of a map task whose first attempt fails. */
  public static final String MAP_FAILS = "faulty.map.fails";

  /** The index of a map task whose first attempt never ends. */
  public static final String MAP_HANGS = "faulty.map.hangs";

  /** The index of a reduce task whose first attempt fails. */
  public static final String REDUCE_FAILS = "faulty.reduce.fails";

  private static final int RECORDS_BEFORE = 100;

  private FaultyWords() {}

  public static Job job(Configuration conf) throws IOException {
    final Job job = Job.getInstance(conf, "faulty words");
    job.setMapperClass(Lines.class);
    job.setReducerClass(Sums.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
    return job;
  }

  /** Returns the same job with the map function of the old API. */
  public static JobConf oldJob(Configuration conf) {
    final JobConf job = new JobConf(conf);
    job.setJobName("faulty words");
    job.setMapperClass(OldLines.class);
    job.setReducerClass(OldWordCount.Sums.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
    return job;
  }

  private static boolean isTheOne(Configuration conf, String key, TaskAttemptID attempt) {
    return attempt.getId() == 0 && conf.getInt(key, -1) == attempt.getTaskID().getId();
  }

  /** Emits each line once. */
  public static class Lines extends Mapper<LongWritable, Text, Text, IntWritable> {
    private final IntWritable one = new IntWritable(1);
    private int records;

    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      context.write(line, one);
      if (++records != RECORDS_BEFORE) {
        return;
      }
      final Configuration conf = context.getConfiguration();
      if (isTheOne(conf, MAP_FAILS, context.getTaskAttemptID())) {
        throw new IOException("this attempt fails, as was asked for");
      }
      while (isTheOne(conf, MAP_HANGS, context.getTaskAttemptID())) {
        Thread.sleep(100);
        context.progress();
      }
    }
  }

  /** Emits each line once. */
  public static class OldLines extends MapReduceBase
      implements org.apache.hadoop.mapred.Mapper<LongWritable, Text, Text, IntWritable> {
    private final IntWritable one = new IntWritable(1);
    private JobConf conf;
    private int records;

    @Override
    public void configure(JobConf job) {
      conf = job;
    }

    @Override
    public void map(
        LongWritable offset,
        Text line,
        OutputCollector<Text, IntWritable> output,
        Reporter reporter)
        throws IOException {
      output.collect(line, one);
      final TaskAttemptID attempt = TaskAttemptID.forName(conf.get("mapreduce.task.attempt.id"));
      if (++records == RECORDS_BEFORE && isTheOne(conf, MAP_FAILS, attempt)) {
        throw new IOException("this attempt fails, as was asked for");
      }
    }
  }

  /** Counts the occurrences of each line. */
  public static class Sums extends Reducer<Text, IntWritable, Text, IntWritable> {
    private int groups;

    @Override
    protected void reduce(Text line, Iterable<IntWritable> values, Context context)
        throws IOException, InterruptedException {
      if (++groups == RECORDS_BEFORE
          && isTheOne(context.getConfiguration(), REDUCE_FAILS, context.getTaskAttemptID())) {
        throw new IOException("this attempt fails, as was asked for");
      }
      int sum = 0;
      for (IntWritable value : values) {
        sum += value.get();
      }
      context.write(line, new IntWritable(sum));
    }
  }
}
