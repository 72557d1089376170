package org.tidemark.hadoop.jobs;

import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * Command line of these jobs: `hadoop jar JAR two-path|inverted-index|faulty-words ... IN OUT`, or
 * with the name of one of {@link Ordinary}'s jobs.
 */
public final class Driver extends Configured implements Tool {
  private final String name;

  private Driver(String name) {
    this.name = name;
  }

  public static void main(String[] words) throws Exception {
    final String[] rest = new String[words.length - 1];
    System.arraycopy(words, 1, rest, 0, rest.length);
    System.exit(ToolRunner.run(new Driver(words[0]), rest));
  }

  @Override
  public int run(String[] words) throws Exception {
    final Job job = Job.getInstance(getConf(), name);
    job.setJarByClass(Driver.class);
    if (Ordinary.configure(job, name)) {
      job.setOutputKeyClass(Text.class);
      job.setOutputValueClass(Text.class);
      return run(job, words);
    }
    if (name.equals("two-path")) {
      job.setMapperClass(TwoPath.Edges.class);
      job.setReducerClass(TwoPath.Paths.class);
      job.setMapOutputValueClass(IntWritable.class);
      job.setOutputKeyClass(IntWritable.class);
    } else if (name.equals("faulty-words")) {
      job.setMapperClass(FaultyWords.Lines.class);
      job.setReducerClass(FaultyWords.Sums.class);
      job.setOutputKeyClass(Text.class);
    } else {
      job.setMapperClass(InvertedIndex.Words.class);
      job.setReducerClass(InvertedIndex.Postings.class);
      job.setMapOutputValueClass(LongWritable.class);
      job.setOutputKeyClass(Text.class);
    }
    job.setOutputValueClass(
        name.equals("faulty-words") ? IntWritable.class : Text.class);
    return run(job, words);
  }

  private static int run(Job job, String[] words) throws Exception {
    FileInputFormat.setInputPaths(job, new Path(words[0]));
    FileOutputFormat.setOutputPath(job, new Path(words[1]));
    return job.waitForCompletion(true) ? 0 : 1;
  }
}
