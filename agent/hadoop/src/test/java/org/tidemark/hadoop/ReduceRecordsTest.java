package org.tidemark.hadoop;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.Counter;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.counters.GenericCounter;
import org.apache.hadoop.mapreduce.task.ReduceContextImpl;
import org.junit.Test;
import org.tidemark.hadoop.support.RecordBuffers;
import org.tidemark.jvm.guard.Guard;
import org.tidemark.jvm.profile.KeyHash;
import org.tidemark.jvm.profile.MeterSettings;
import org.tidemark.jvm.profile.ReduceMeter;

/**
 * Tests the measurements of a reduce task's records, which are read in the same way as by Hadoop.
 */
public class ReduceRecordsTest {
  /** Sorted records with values of the given size in bytes. */
  private static final class Records extends RecordBuffers {
    private final int[] keys;
    private final int valueBytes;
    private int at = -1;

    Records(int valueBytes, int... keys) {
      this.keys = keys;
      this.valueBytes = valueBytes;
    }

    @Override
    public boolean next() throws IOException {
      if (++at >= keys.length) {
        return false;
      }
      final byte[] bytes = bytes(keys[at]);
      key.reset(bytes, 0, bytes.length);
      value.reset(new byte[valueBytes], 0, valueBytes);
      return true;
    }
  }

  private static final int VALUE_BYTES = 8;
  private static final int RECORD_BYTES = Integer.BYTES + VALUE_BYTES;

  private final Guard guard = new Guard(what -> {});
  private final ReduceMeter meter = new ReduceMeter(new MeterSettings());
  private final Counter groups = new GenericCounter("groups", "groups");

  private static byte[] bytes(int number) throws IOException {
    final DataOutputBuffer out = new DataOutputBuffer();
    new IntWritable(number).write(out);
    return Arrays.copyOf(out.getData(), out.getLength());
  }

  private static JobConf job() {
    final JobConf job = new JobConf(false);
    job.setMapOutputKeyClass(IntWritable.class);
    return job;
  }

  private GroupTimer timer(JobConf job) {
    return new GroupTimer(meter, KeyGrouping.of(job), () -> 0);
  }

  /** Reads {@code valuesRead} values of each group, like Reducer.run(). */
  private void runNewApi(JobConf job, int valuesRead, Records records) throws Exception {
    final RawComparator<?> comparator = job.getOutputValueGroupingComparator();
    @SuppressWarnings("unchecked")
    final ReduceContextImpl<IntWritable, Bytes, IntWritable, Bytes> context =
        new ReduceContextImpl<>(
            withBytes(new Configuration(false)),
            new TaskAttemptID(),
            new NewApiRecords(records, timer(job), groups::getValue, guard),
            groups,
            new GenericCounter("values", "values"),
            null,
            null,
            null,
            (RawComparator<IntWritable>) comparator,
            IntWritable.class,
            Bytes.class);
    while (context.nextKey()) {
      int read = 0;
      for (Bytes ignored : context.getValues()) {
        if (++read == valuesRead) {
          break;
        }
      }
    }
  }

  private static Configuration withBytes(Configuration conf) {
    conf.set("io.serializations", "org.apache.hadoop.io.serializer.WritableSerialization");
    return conf;
  }

  public static final class Bytes implements org.apache.hadoop.io.Writable {
    @Override
    public void write(java.io.DataOutput out) throws IOException {
      out.write(new byte[VALUE_BYTES]);
    }

    @Override
    public void readFields(java.io.DataInput in) throws IOException {
      in.readFully(new byte[VALUE_BYTES]);
    }
  }

  /** Reads groups with these numbers of records, like ReduceTask with a reducer of the old API. */
  private static void runOldApi(OldApiRecords records, int... groups) throws IOException {
    boolean more = records.next();
    records.getProgress();
    for (int count : groups) {
      assertTrue(more);
      for (int i = 0; i < count; ++i) {
        records.getValue();
        more = records.next();
        if (more) {
          records.getKey();
        }
      }
      records.getProgress();
    }
    assertFalse(more);
  }

  @Test
  public void keysEqualToTheirPredecessorsFormOneGroup() throws Exception {
    final JobConf job = job();
    job.setOutputValueGroupingComparator(KeyGroupingTest.Neighbours.class);
    runNewApi(job, Integer.MAX_VALUE, new Records(VALUE_BYTES, 1, 2, 3, 4, 5, 6, 7, 8, 20));
    assertEquals(2, groups.getValue());
    meter.finish(System.nanoTime());
    final ReduceMeter.Taken taken = meter.take(true);
    assertEquals("the first of two; the last has not ended", 1, taken.groupsDone);
    assertEquals(8 * RECORD_BYTES, taken.bytesDone);
  }

  @Test
  public void unreadValuesCountForTheirGroup() throws Exception {
    runNewApi(job(), 1, new Records(VALUE_BYTES, 1, 1, 1, 2, 2, 3));
    assertEquals(3, groups.getValue());
    meter.finish(System.nanoTime());
    final ReduceMeter.Taken taken = meter.take(true);
    assertEquals(2, taken.groupsDone);
    assertEquals(5 * RECORD_BYTES, taken.bytesDone);
  }

  @Test
  public void inTheOldApiTheTaskMarksTheEndOfAGroup() throws Exception {
    // The old API compares objects with the first object of the group, whereas the new API compares
    // bytes with the previous bytes.
    final OldApiRecords records =
        new OldApiRecords(new Records(VALUE_BYTES, 1, 2, 3, 4, 9), timer(job()), guard);
    runOldApi(records, 2, 2, 1);
    final ReduceMeter.Taken taken = meter.take(true);
    assertEquals(3, taken.groupsDone);
    assertEquals(5 * RECORD_BYTES, taken.bytesDone);
  }

  @Test
  public void inTheOldApiTheFirstKeyOfAGroupNamesIt() throws Exception {
    final OldApiRecords records =
        new OldApiRecords(new Records(100, 7, 7, 7, 9), timer(job()), guard);
    runOldApi(records, 3, 1);
    final byte[] seven = bytes(7);
    final byte[] nine = bytes(9);
    final ReduceMeter.Taken taken = meter.take(true);
    final long[] names = {KeyHash.of(seven, 0, 4), KeyHash.of(nine, 0, 4)};
    Arrays.sort(names);
    Arrays.sort(taken.namedHashes);
    assertArrayEquals(names, taken.namedHashes);
  }

  @Test
  public void inTheOldApiAGroupOfUnreadValuesCounts() throws Exception {
    final OldApiRecords records =
        new OldApiRecords(new Records(VALUE_BYTES, 1, 1, 1), timer(job()), guard);
    records.next();
    records.getProgress();
    while (records.next()) {
      records.getKey();
    }
    records.getProgress();
    assertEquals(3 * RECORD_BYTES, meter.take(true).bytesDone);
  }

  /** Later work, such as closing the output, is not included in the time of the groups. */
  @Test
  public void inTheOldApiTheLastBurstEndsWithItsLastGroup() throws Exception {
    final OldApiRecords records =
        new OldApiRecords(new Records(VALUE_BYTES, 1, 2, 3, 4, 5), timer(job()), guard);
    runOldApi(records, 1, 1, 1, 1, 1);
    final ReduceMeter.Taken before = meter.take(true);
    assertEquals(5, before.groupsDone);
    meter.finish(System.nanoTime() + 3_600_000_000_000L);
    assertEquals(before.reduceNanos, meter.take(true).reduceNanos);
  }

  @Test
  public void inTheOldApiAnEmptyInputHasNoGroups() throws Exception {
    runOldApi(new OldApiRecords(new Records(VALUE_BYTES), timer(job()), guard));
    assertEquals(0, meter.take(true).groupsDone);
  }
}
