package org.tidemark.hadoop.support;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.examples.SecondarySort;
import org.apache.hadoop.examples.WordCount;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.IOUtils;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.FileInputFormat;
import org.apache.hadoop.mapred.FileOutputFormat;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.Job;
import org.tidemark.hadoop.Keys;
import org.tidemark.hadoop.TidemarkCollector;
import org.tidemark.hadoop.TidemarkPolicy;
import org.tidemark.hadoop.TidemarkShuffle;
import org.tidemark.hadoop.jobs.InvertedIndex;
import org.tidemark.hadoop.jobs.OldWordCount;
import org.tidemark.hadoop.jobs.TwoPath;

/** Creates the jobs of the tests and reads their output. */
public final class Jobs {
  private Jobs() {}

  /** Returns settings with the connector, as documented in docs/hadoop.md. */
  public static Configuration measured(Configuration conf, String master) {
    final Configuration measured = new Configuration(conf);
    measured.set("tidemark.master", master);
    measured.set(
        "mapreduce.job.map.output.collector.class",
        TidemarkCollector.class.getName() + ",org.apache.hadoop.mapred.MapTask$MapOutputBuffer");
    measured.set(
        "mapreduce.job.reduce.shuffle.consumer.plugin.class", TidemarkShuffle.class.getName());
    measured.set("yarn.app.mapreduce.am.preemption.policy", TidemarkPolicy.class.getName());
    return measured;
  }

  /**
   * Returns the settings of a job that runs within this process and has its files below a folder.
   */
  public static Configuration local(File folder) {
    final Configuration conf = new Configuration();
    conf.set("mapreduce.framework.name", "local");
    conf.set("fs.defaultFS", "file:///");
    conf.set("hadoop.tmp.dir", folder + "/tmp");
    conf.setInt("mapreduce.task.io.sort.mb", 8);
    // Hadoop's client checks every five seconds whether a job has ended, but these jobs end sooner.
    conf.setInt("mapreduce.client.completion.pollinterval", 50);
    return conf;
  }

  /** Writes a file of secret keys that contains a master's token. */
  public static void giveToken(Configuration conf, File file, String token) throws IOException {
    Files.write(
        file.toPath(),
        ("{\"" + Keys.TOKEN + "\": \"" + token + "\"}").getBytes(StandardCharsets.UTF_8));
    conf.set("mapreduce.job.credentials.json", file.getPath());
  }

  public static Job wordCount(Configuration conf, boolean combines) throws IOException {
    final Job job = Job.getInstance(conf, "word count");
    job.setJarByClass(WordCount.class);
    job.setMapperClass(WordCount.TokenizerMapper.class);
    if (combines) {
      job.setCombinerClass(WordCount.IntSumReducer.class);
    }
    job.setReducerClass(WordCount.IntSumReducer.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
    return job;
  }

  public static Job twoPath(Configuration conf) throws IOException {
    final Job job = Job.getInstance(conf, "two path");
    job.setMapperClass(TwoPath.Edges.class);
    job.setReducerClass(TwoPath.Paths.class);
    job.setMapOutputValueClass(IntWritable.class);
    job.setOutputKeyClass(IntWritable.class);
    job.setOutputValueClass(Text.class);
    return job;
  }

  public static Job invertedIndex(Configuration conf) throws IOException {
    final Job job = Job.getInstance(conf, "inverted index");
    job.setMapperClass(InvertedIndex.Words.class);
    job.setReducerClass(InvertedIndex.Postings.class);
    job.setMapOutputValueClass(LongWritable.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(Text.class);
    return job;
  }

  public static Job secondarySort(Configuration conf) throws IOException {
    final Job job = Job.getInstance(conf, "secondary sort");
    job.setJarByClass(SecondarySort.class);
    job.setMapperClass(SecondarySort.MapClass.class);
    job.setReducerClass(SecondarySort.Reduce.class);
    job.setPartitionerClass(SecondarySort.FirstPartitioner.class);
    job.setGroupingComparatorClass(SecondarySort.FirstGroupingComparator.class);
    job.setMapOutputKeyClass(SecondarySort.IntPair.class);
    job.setMapOutputValueClass(IntWritable.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
    return job;
  }

  public static JobConf oldWordCount(Configuration conf) {
    final JobConf job = new JobConf(conf);
    job.setJobName("old word count");
    job.setMapperClass(OldWordCount.Words.class);
    job.setReducerClass(OldWordCount.Sums.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
    return job;
  }

  /** Returns a job that is ready to be submitted. */
  public static Job prepared(JobConf conf, Path input, Path output, int reduces)
      throws IOException {
    FileInputFormat.setInputPaths(conf, input);
    FileOutputFormat.setOutputPath(conf, output);
    conf.setNumReduceTasks(reduces);
    return Job.getInstance(conf);
  }

  /** Returns all bytes of a job's output, part by part. */
  public static byte[] output(Configuration conf, Path directory) throws IOException {
    final FileSystem files = directory.getFileSystem(conf);
    final FileStatus[] parts =
        files.listStatus(directory, path -> path.getName().startsWith("part-"));
    Arrays.sort(parts);
    final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (FileStatus part : parts) {
      try (InputStream in = files.open(part.getPath())) {
        IOUtils.copyBytes(in, bytes, 65536, false);
      }
      bytes.write(0);
    }
    return bytes.toByteArray();
  }
}
