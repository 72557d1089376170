package org.tidemark.hadoop.jobs;

import java.io.File;
import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;

/** Lists paths of two edges in a graph by their middle node, with a quadratic reduce function. */
public final class TwoPath {
  /** A local file for which the second group of each reduce task waits. */
  public static final String GATE = "two.path.gate";

  /** The milliseconds for which the first reduce function of each task sleeps. */
  public static final String PAUSE_MILLIS = "two.path.pause.millis";

  private TwoPath() {}

  /** Sends each edge to both of its nodes. */
  public static class Edges extends Mapper<LongWritable, Text, IntWritable, IntWritable> {
    private final IntWritable from = new IntWritable();
    private final IntWritable to = new IntWritable();

    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      final String[] nodes = line.toString().split("\\s+");
      if (nodes.length != 2 || nodes[0].startsWith("#")) {
        return;
      }
      from.set(Integer.parseInt(nodes[0]));
      to.set(Integer.parseInt(nodes[1]));
      context.write(from, to);
      context.write(to, from);
    }
  }

  /** Emits the number of paths through a node, and a sum over these paths that requires work. */
  public static class Paths extends Reducer<IntWritable, IntWritable, IntWritable, Text> {
    private final Text paths = new Text();
    private int[] neighbours = new int[1024];
    private int groups;

    @Override
    protected void setup(Context context) throws IOException {
      final boolean first =
          context.getTaskAttemptID().getId() == 0
              && context.getTaskAttemptID().getTaskID().getId() == 0;
      if (first && context.getConfiguration().getBoolean("two.path.first.attempt.fails", false)) {
        throw new IOException("the first attempt fails, as was asked for");
      }
    }

    @Override
    protected void reduce(IntWritable node, Iterable<IntWritable> values, Context context)
        throws IOException, InterruptedException {
      if (++groups == 1) {
        Thread.sleep(context.getConfiguration().getInt(PAUSE_MILLIS, 0));
      } else if (groups == 2) {
        final String gate = context.getConfiguration().get(GATE);
        while (gate != null && !new File(gate).exists()) {
          Thread.sleep(50);
          context.progress();
        }
      }
      int count = 0;
      for (IntWritable value : values) {
        if (count == neighbours.length) {
          neighbours = Arrays.copyOf(neighbours, 2 * count);
        }
        neighbours[count++] = value.get();
      }
      Arrays.sort(neighbours, 0, count);
      final int rounds = context.getConfiguration().getInt("two.path.rounds", 1);
      long sum = 0;
      for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < count; ++i) {
          for (int j = i + 1; j < count; ++j) {
            sum = Long.rotateLeft(sum ^ neighbours[i], 7) * 31 + neighbours[j];
          }
        }
      }
      paths.set((long) count * (count - 1) / 2 + "\t" + sum);
      context.write(node, paths);
    }
  }
}
