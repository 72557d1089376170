package org.tidemark.spark;

import java.io.IOException;
import java.util.function.Supplier;
import org.apache.spark.InterruptibleIterator;
import org.apache.spark.Partitioner;
import org.apache.spark.TaskContext;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.ShuffleWriter;
import org.tidemark.jvm.guard.Guard;
import org.tidemark.jvm.transport.Sender;
import org.tidemark.jvm.wire.AttemptUpdate;
import org.tidemark.jvm.wire.Events;
import scala.Option;
import scala.Product2;
import scala.collection.Iterator;

/**
 * Measures the key groups of a process's tasks: the records of each key on the map side, and the
 * time of each key on the reduce side. Applies only to the first attempts at stages 0 and 1, whose
 * key groups a master estimates.
 *
 * <p>The wrappers of Spark's iterators extend a class that Spark compiled for its own Scala
 * version, whose Iterator may have methods that a class of this plug-in would lack.
 */
final class KeyGroups {
  private static final int MAP_STAGE = 0;
  private static final int REDUCE_STAGE = 1;

  private final Sender sender;
  private final Guard guard;
  private final Supplier<TaskWatch> task;

  /** {@code task} returns the task of the calling thread, or null if that task does not report. */
  KeyGroups(Sender sender, Guard guard, Supplier<TaskWatch> task) {
    this.sender = sender;
    this.guard = guard;
    this.task = task;
  }

  Guard guard() {
    return guard;
  }

  ShuffleWriter<Object, Object> writer(
      ShuffleWriter<Object, Object> writer, Partitioner partitioner) {
    final TaskWatch watch = task.get();
    return isMeasured(watch, MAP_STAGE) && !sender.settings().paused()
        ? new Writer(writer, new KeyCounts(partitioner), watch)
        : writer;
  }

  ShuffleReader<Object, Object> reader(ShuffleReader<Object, Object> reader) {
    final TaskWatch watch = task.get();
    return isMeasured(watch, REDUCE_STAGE) ? new Reader(reader, watch) : reader;
  }

  private static boolean isMeasured(TaskWatch watch, int stage) {
    return watch != null && watch.attempt.stage == stage && watch.attempt.stageAttempt == 0;
  }

  /** Counts the records of each key on their way to the writer. */
  private final class Writer extends ShuffleWriter<Object, Object> {
    private final ShuffleWriter<Object, Object> writer;
    private final KeyCounts counts;
    private final TaskWatch watch;

    Writer(ShuffleWriter<Object, Object> writer, KeyCounts counts, TaskWatch watch) {
      this.writer = writer;
      this.counts = counts;
      this.watch = watch;
    }

    @Override
    public void write(Iterator<Product2<Object, Object>> records) throws IOException {
      writer.write(counted(records));
    }

    private Iterator<Product2<Object, Object>> counted(Iterator<Product2<Object, Object>> records) {
      try {
        return new InterruptibleIterator<Product2<Object, Object>>(TaskContext.get(), records) {
          @Override
          public Product2<Object, Object> next() {
            final Product2<Object, Object> record = super.next();
            try {
              if (!guard.isOff()) {
                counts.add(record._1());
              }
            } catch (Throwable ours) {
              guard.turnOff(ours);
            }
            return record;
          }
        };
      } catch (Throwable ours) {
        guard.turnOff(ours);
        return records;
      }
    }

    @Override
    public Option<MapStatus> stop(boolean success) {
      final Option<MapStatus> status = writer.stop(success);
      try {
        if (success && !guard.isOff()) {
          sender.send(
              counts.profile(watch.attempt, writer.getPartitionLengths(), sender.settings().lambda()));
        }
      } catch (Throwable ours) {
        guard.turnOff(ours);
      }
      return status;
    }

    @Override
    public long[] getPartitionLengths() {
      return writer.getPartitionLengths();
    }
  }

  /** Measures the time of each group. */
  private final class Reader implements ShuffleReader<Object, Object> {
    private final ShuffleReader<Object, Object> reader;
    private final TaskWatch watch;

    Reader(ShuffleReader<Object, Object> reader, TaskWatch watch) {
      this.reader = reader;
      this.watch = watch;
    }

    @Override
    public Iterator<Product2<Object, Object>> read() {
      final Iterator<Product2<Object, Object>> groups = reader.read();
      try {
        if (!guard.isOff()) {
          return timed(groups);
        }
      } catch (Throwable ours) {
        guard.turnOff(ours);
      }
      return groups;
    }

    private Iterator<Product2<Object, Object>> timed(Iterator<Product2<Object, Object>> groups) {
      final AttemptUpdate shuffled = new AttemptUpdate(watch.attempt, Events.State.SHUFFLED);
      shuffled.atMillis = System.currentTimeMillis();
      sender.send(Events.attemptChanged(shuffled));
      final GroupTimes times = new GroupTimes(watch, sender.settings());
      sender.startReports(times);
      watch.endWith(
          () -> {
            times.endLast();
            sender.endReports(times);
          });
      return new InterruptibleIterator<Product2<Object, Object>>(TaskContext.get(), groups) {
        @Override
        public boolean hasNext() {
          end();
          return super.hasNext();
        }

        @Override
        public Product2<Object, Object> next() {
          end();
          final Product2<Object, Object> group = super.next();
          try {
            if (!guard.isOff()) {
              times.begin(group._1(), group._2());
            }
          } catch (Throwable ours) {
            guard.turnOff(ours);
          }
          return group;
        }

        private void end() {
          try {
            if (!guard.isOff()) {
              times.end();
            }
          } catch (Throwable ours) {
            guard.turnOff(ours);
          }
        }
      };
    }
  }
}
