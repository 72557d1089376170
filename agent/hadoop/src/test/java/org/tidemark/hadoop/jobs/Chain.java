package org.tidemark.hadoop.jobs;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.jobcontrol.ControlledJob;
import org.apache.hadoop.mapreduce.lib.jobcontrol.JobControl;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/** Submits three jobs with JobControl: `hadoop jar JAR IN OUT`. The third reads both others. */
public final class Chain extends Configured implements Tool {
  public static void main(String[] words) throws Exception {
    System.exit(ToolRunner.run(new Chain(), words));
  }

  @Override
  public int run(String[] words) throws Exception {
    final ControlledJob first = index("first", words[0], words[1] + "/first");
    final ControlledJob second = index("second", words[0], words[1] + "/second");
    final ControlledJob third =
        index("third", words[1] + "/first," + words[1] + "/second", words[1] + "/third");
    third.addDependingJob(first);
    third.addDependingJob(second);
    final JobControl control = new JobControl("chain");
    for (ControlledJob each : new ControlledJob[] {first, second, third}) {
      control.addJob(each);
    }
    final Thread thread = new Thread(control, "chain");
    thread.setDaemon(true);
    thread.start();
    while (!control.allFinished()) {
      Thread.sleep(100);
    }
    control.stop();
    return control.getFailedJobList().isEmpty() ? 0 : 1;
  }

  private ControlledJob index(String name, String inputs, String output) throws IOException {
    final Job job = Job.getInstance(new Configuration(getConf()), name);
    job.setJarByClass(Chain.class);
    job.setMapperClass(InvertedIndex.Words.class);
    job.setReducerClass(InvertedIndex.Postings.class);
    job.setMapOutputValueClass(LongWritable.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(Text.class);
    FileInputFormat.setInputPaths(job, inputs);
    FileOutputFormat.setOutputPath(job, new Path(output));
    return new ControlledJob(job.getConfiguration());
  }
}
