package org.tidemark.hadoop.jobs;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapReduceBase;
import org.apache.hadoop.mapred.Mapper;
import org.apache.hadoop.mapred.OutputCollector;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.lib.IdentityReducer;

/**
 * Groups the edges of a graph by their first node, with the classes of org.apache.hadoop.mapred.
 */
public final class OldEdges {
  private OldEdges() {}

  public static JobConf job(Configuration conf) {
    final JobConf job = new JobConf(conf);
    job.setJobName("old edges");
    job.setMapperClass(Edges.class);
    job.setReducerClass(IdentityReducer.class);
    job.setOutputKeyClass(IntWritable.class);
    job.setOutputValueClass(IntWritable.class);
    return job;
  }

  /** Sends each edge to its first node. */
  public static class Edges extends MapReduceBase
      implements Mapper<LongWritable, Text, IntWritable, IntWritable> {
    @Override
    public void map(
        LongWritable offset,
        Text line,
        OutputCollector<IntWritable, IntWritable> output,
        Reporter reporter)
        throws IOException {
      final String[] nodes = line.toString().split("\\s+");
      if (nodes.length == 2) {
        output.collect(
            new IntWritable(Integer.parseInt(nodes[0])),
            new IntWritable(Integer.parseInt(nodes[1])));
      }
    }
  }
}
