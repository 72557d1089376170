package org.tidemark.hadoop;

import java.io.IOException;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormatCounter;
import org.tidemark.jvm.guard.Guard;
import org.tidemark.jvm.profile.ReduceMeter;
import org.tidemark.jvm.wire.AttemptUpdate;
import org.tidemark.jvm.wire.Events;

/**
 * The reduce side of the connector. Hadoop's own shuffle does the work. This class observes the
 * sorted records that the reduce function reads, and measures the size and time of each key group.
 *
 * <p>Set as mapreduce.job.reduce.shuffle.consumer.plugin.class. The connector never fails the task
 * ({@link Guard}).
 */
public final class TidemarkShuffle<K, V> implements ShuffleConsumerPlugin<K, V> {
  private static final String HADOOPS_OWN = "org.apache.hadoop.mapreduce.task.reduce.Shuffle";

  private final Guard guard = Connector.GUARD;
  private ShuffleConsumerPlugin<K, V> delegate;
  private Context<K, V> context;
  private TaskLink link;
  private ReduceReports reports;
  private ReduceMeter meter;
  private GroupTimer timer;

  @Override
  public void init(Context<K, V> context) {
    try {
      delegate = Delegates.create(context.getJobConf(), Keys.SHUFFLE_DELEGATE, HADOOPS_OWN);
    } catch (IOException misconfigured) {
      throw new IllegalArgumentException(misconfigured);
    }
    delegate.init(context);
    this.context = context;
    try {
      if (!guard.isOff()) {
        connect();
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  @Override
  public RawKeyValueIterator run() throws IOException, InterruptedException {
    final RawKeyValueIterator records = delegate.run();
    try {
      if (link != null && !guard.isOff()) {
        return watched(records);
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
    return records;
  }

  @Override
  public void close() {
    delegate.close();
    try {
      if (link != null && !guard.isOff()) {
        disconnect();
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  private void connect() {
    link = TaskLink.open(context.getJobConf(), context.getReduceId());
    if (link != null) {
      meter = new ReduceMeter(link.settings());
      reports =
          new ReduceReports(
              link,
              meter,
              new CounterValue(context.getReduceShuffleBytes()),
              counter(FileOutputFormatCounter.BYTES_WRITTEN));
      link.startReports(reports);
    }
  }

  private RawKeyValueIterator watched(RawKeyValueIterator records) {
    final AttemptUpdate shuffled = new AttemptUpdate(link.attempt, Events.State.SHUFFLED);
    shuffled.atMillis = System.currentTimeMillis();
    link.send(Events.attemptChanged(shuffled));
    final JobConf job = context.getJobConf();
    timer =
        PipedGroups.areOf(job)
            ? new PipedGroups(
                meter, link.grouping, reports.emitted(), counter(TaskCounter.REDUCE_OUTPUT_RECORDS))
            : new GroupTimer(meter, link.grouping, reports.emitted());
    reports.beginProfiles(timer);
    return job.getUseNewReducer()
        ? new NewApiRecords(records, timer, counter(TaskCounter.REDUCE_INPUT_GROUPS), guard)
        : new OldApiRecords(records, timer, guard);
  }

  private CounterValue counter(Enum<?> name) {
    return new CounterValue(context.getReporter().getCounter(name));
  }

  private void disconnect() {
    if (timer != null) {
      timer.endLast();
    }
    link.endReports(reports);
    link.finish(true);
  }
}
