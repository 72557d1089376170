package org.tidemark.hadoop;

import java.io.IOException;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputCollector;
import org.apache.hadoop.mapred.Task;
import org.apache.hadoop.mapred.TaskStatus;
import org.apache.hadoop.mapreduce.Counter;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter;
import org.tidemark.jvm.guard.Guard;
import org.tidemark.jvm.transport.Sender;
import org.tidemark.jvm.wire.Event;
import org.tidemark.jvm.wire.Events;

/**
 * The map side of the connector. Passes everything to Hadoop's own collector. Once the output is
 * final, reports the sizes of its key groups ({@link MapOutputScan}).
 *
 * <p>Set as mapreduce.job.map.output.collector.class. The connector never fails the task ({@link
 * Guard}); an error in it loses only the profile.
 */
public final class TidemarkCollector<K, V> implements MapOutputCollector<K, V> {
  private static final String HADOOPS_OWN = "org.apache.hadoop.mapred.MapTask$MapOutputBuffer";

  private final Guard guard = Connector.GUARD;
  private MapOutputCollector<K, V> delegate;
  private Context context;
  private long startNanos;
  private TaskLink link;
  private Sender.Reporter heartbeats;
  private boolean wentWell;

  @Override
  public void init(Context context) throws IOException, ClassNotFoundException {
    // If this method throws, MapTask tries the next collector of the list, which is Hadoop's own.
    delegate = Delegates.create(context.getJobConf(), Keys.COLLECTOR_DELEGATE, HADOOPS_OWN);
    delegate.init(context);
    this.context = context;
    startNanos = System.nanoTime();
    try {
      if (!guard.isOff()) {
        connect();
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  @Override
  public void collect(K key, V value, int partition) throws IOException, InterruptedException {
    delegate.collect(key, value, partition);
  }

  @Override
  public void flush() throws IOException, InterruptedException, ClassNotFoundException {
    delegate.flush();
    try {
      // The output of a failed task is also closed, but before the map phase has ended.
      wentWell = context.getMapTask().getPhase() != TaskStatus.Phase.MAP;
      if (link != null && wentWell && !guard.isOff()) {
        reportKeys();
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  @Override
  public void close() throws IOException, InterruptedException {
    delegate.close();
    try {
      if (link != null && !guard.isOff()) {
        link.endReports(heartbeats);
        link.finish(wentWell);
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  private void connect() {
    link = TaskLink.open(context.getJobConf(), context.getMapTask().getTaskID());
    if (link != null) {
      startHeartbeats(context.getReporter());
    }
  }

  private void startHeartbeats(Task.TaskReporter reporter) {
    final Counter bytes = reporter.getCounter((Enum<?>) FileInputFormatCounter.BYTES_READ);
    final Counter records = reporter.getCounter((Enum<?>) TaskCounter.MAP_INPUT_RECORDS);
    final Counter emitted = reporter.getCounter((Enum<?>) TaskCounter.MAP_OUTPUT_BYTES);
    heartbeats =
        new Sender.Reporter() {
          @Override
          public Event report() {
            return link.heartbeat(bytes.getValue(), records.getValue(), emitted.getValue());
          }
        };
    link.startReports(heartbeats);
  }

  private void reportKeys() {
    try {
      final JobConf job = context.getJobConf();
      final boolean hadNames = link.grouping.namesKeys();
      final MapOutputScan scan =
          new MapOutputScan(
              job,
              context.getMapTask().getMapOutputFile(),
              link.grouping,
              link.settings().lambda());
      if (!link.settings().paused()) {
        scan.run(context.getMapTask().getTaskID().hashCode(), budget(job));
      }
      if (hadNames && !link.grouping.namesKeys()) {
        link.reportContradiction(job);
      }
      link.send(
          Events.mapProfile(
              link.attempt, scan.profile(), scan.sampledBelow()));
    } catch (Exception noProfile) {
      // Other collectors may leave no file.
    }
  }

  private ScanBudget budget(JobConf job) {
    final long attemptNanos = System.nanoTime() - startNanos;
    final double share = job.getFloat(Keys.SCAN_PERCENT, 2) / 100;
    final long min = job.getLong(Keys.SCAN_MIN_MILLIS, 300) * 1_000_000L;
    final long max = job.getLong(Keys.SCAN_MAX_MILLIS, 2000) * 1_000_000L;
    return new ScanBudget(Math.min(Math.max((long) (attemptNanos * share), min), max));
  }
}
