package org.tidemark.hadoop.cost;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.util.ReflectionUtils;

/**
 * Measures the processor time of the task's thread within the next plug-in. This is {@link
 * MadeRecords}, either directly or after the connector.
 */
public final class TimedShuffle<K, V> implements ShuffleConsumerPlugin<K, V> {
  static final String BEHIND = "cost.shuffle";

  private ShuffleConsumerPlugin<K, V> behind;

  @Override
  @SuppressWarnings("unchecked")
  public void init(Context<K, V> context) {
    final long begin = Stopwatch.ofThisThread();
    final JobConf job = context.getJobConf();
    try {
      behind =
          (ShuffleConsumerPlugin<K, V>)
              ReflectionUtils.newInstance(job.getClassByName(job.get(BEHIND)), job);
    } catch (ClassNotFoundException e) {
      throw new IllegalArgumentException(e);
    }
    behind.init(context);
    count("init", begin);
  }

  @Override
  public RawKeyValueIterator run() throws IOException, InterruptedException {
    final long begin = Stopwatch.ofThisThread();
    final RawKeyValueIterator records = behind.run();
    count("run", begin);
    return records;
  }

  @Override
  public void close() {
    final long begin = Stopwatch.ofThisThread();
    behind.close();
    count("close", begin);
    Stopwatch.add("connector_threads", Stopwatch.ofConnectorThreads());
    try {
      Stopwatch.write();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void count(String call, long begin) {
    Stopwatch.add("shuffle_" + call, Stopwatch.ofThisThread() - begin);
  }
}
