package org.tidemark.hadoop.cost;

import java.io.IOException;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Reducer;

/**
 * Reads all values of all key groups, and counts the processor time of doing so. Of the connector's
 * threads it counts what they take once they have made their first reports, for which classes are loaded.
 */
public final class CountingReducer extends Reducer<Text, Text, Text, Text> {
  private static final long FIRST_REPORTS_NANOS = 2_500_000_000L;
  private static final int GROUPS_PER_LOOK = 4096;

  private long lookedAtNanos;
  private long lookedAtThreads;

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
      if (groups % GROUPS_PER_LOOK == 0 && lookedAtNanos == 0) {
        lookOnce(System.nanoTime() - wall);
      }
    }
    Stopwatch.add("reduce_thread", Stopwatch.ofThisThread() - thread);
    Stopwatch.add("reduce_process", Stopwatch.ofProcess() - process);
    Stopwatch.add("reduce_wall", System.nanoTime() - wall);
    Stopwatch.add("reduce_bytes", bytes);
    if (lookedAtNanos != 0) {
      Stopwatch.add("reports_begin", lookedAtNanos);
      Stopwatch.add("reports_threads", Stopwatch.ofConnectorThreads() - lookedAtThreads);
    }
  }

  private void lookOnce(long sinceBegin) {
    if (sinceBegin >= FIRST_REPORTS_NANOS) {
      lookedAtNanos = sinceBegin;
      lookedAtThreads = Stopwatch.ofConnectorThreads();
    }
  }
}
