package org.tidemark.hadoop.cost;

import java.io.IOException;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Reducer;

/**
 * Reads all values of all key groups and measures the processor time. The time of the connector's
 * threads counts only after their first reports, since these load classes.
 */
public final class CountingReducer extends Reducer<Text, Text, Text, Text> {
  private static final long FIRST_REPORTS_NANOS = 2_500_000_000L;
  private static final int GROUPS_PER_POLL = 4096;

  private long polledNanos;
  private long polledThreadNanos;

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    final long wall = System.nanoTime();
    final long process = Stopwatch.ofProcess();
    final long thread = Stopwatch.ofThisThread();
    long bytes = 0;
    for (long groups = 1; context.nextKey(); ++groups) {
      for (Text value : context.getValues()) {
        bytes += value.getLength();
      }
      if (groups % GROUPS_PER_POLL == 0 && polledNanos == 0) {
        pollOnce(System.nanoTime() - wall);
      }
    }
    Stopwatch.add("reduce_thread", Stopwatch.ofThisThread() - thread);
    Stopwatch.add("reduce_process", Stopwatch.ofProcess() - process);
    Stopwatch.add("reduce_wall", System.nanoTime() - wall);
    Stopwatch.add("reduce_bytes", bytes);
    if (polledNanos != 0) {
      Stopwatch.add("reports_begin", polledNanos);
      Stopwatch.add("reports_threads", Stopwatch.ofConnectorThreads() - polledThreadNanos);
    }
  }

  private void pollOnce(long sinceBegin) {
    if (sinceBegin >= FIRST_REPORTS_NANOS) {
      polledNanos = sinceBegin;
      polledThreadNanos = Stopwatch.ofConnectorThreads();
    }
  }
}
