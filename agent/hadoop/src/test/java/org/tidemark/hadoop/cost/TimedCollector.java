package org.tidemark.hadoop.cost;

import java.io.IOException;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputCollector;
import org.apache.hadoop.util.ReflectionUtils;

/**
 * Measures the processor time of the task's thread within the next collector. One instance precedes
 * the connector and another follows it. The difference is the connector's time.
 */
public abstract class TimedCollector<K, V> implements MapOutputCollector<K, V> {
  /** The collector that Hadoop calls. Writes the results. */
  public static final class Outer<K, V> extends TimedCollector<K, V> {
    public Outer() {
      super("outer");
    }

    @Override
    public void close() throws IOException, InterruptedException {
      super.close();
      Stopwatch.add("connector_threads", Stopwatch.ofConnectorThreads());
      Stopwatch.write();
    }
  }

  /** The collector directly before Hadoop's own collector. */
  public static final class Inner<K, V> extends TimedCollector<K, V> {
    public Inner() {
      super("inner");
    }
  }

  /** The prefix of the setting that contains the class of the next collector. */
  static final String BEHIND = "cost.collector.";

  private final String place;
  private MapOutputCollector<K, V> behind;

  private TimedCollector(String place) {
    this.place = place;
  }

  @Override
  @SuppressWarnings("unchecked")
  public void init(Context context) throws IOException, ClassNotFoundException {
    final long begin = Stopwatch.ofThisThread();
    final JobConf job = context.getJobConf();
    behind =
        (MapOutputCollector<K, V>)
            ReflectionUtils.newInstance(job.getClassByName(job.get(BEHIND + place)), job);
    behind.init(context);
    count("init", begin);
  }

  @Override
  public void collect(K key, V value, int partition) throws IOException, InterruptedException {
    behind.collect(key, value, partition);
  }

  @Override
  public void flush() throws IOException, InterruptedException, ClassNotFoundException {
    final long begin = Stopwatch.ofThisThread();
    behind.flush();
    count("flush", begin);
  }

  @Override
  public void close() throws IOException, InterruptedException {
    final long begin = Stopwatch.ofThisThread();
    behind.close();
    count("close", begin);
  }

  private void count(String call, long begin) {
    Stopwatch.add(place + "_" + call, Stopwatch.ofThisThread() - begin);
  }
}
