package org.tidemark.hadoop;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.util.Progress;
import org.junit.Test;
import org.tidemark.jvm.guard.Guard;
import org.tidemark.jvm.profile.MeterSettings;
import org.tidemark.jvm.profile.ReduceMeter;

public class RecordsTest {
  private final List<String> log = new CopyOnWriteArrayList<>();
  private final Guard guard = new Guard(log::add);

  private static final class Sorted implements RawKeyValueIterator {
    private final DataInputBuffer buffer = new DataInputBuffer();
    private byte at;
    private int valuesAskedFor;

    @Override
    public boolean next() {
      buffer.reset(new byte[] {++at}, 1);
      return at <= 3;
    }

    @Override
    public DataInputBuffer getKey() {
      return buffer;
    }

    @Override
    public DataInputBuffer getValue() {
      ++valuesAskedFor;
      return buffer;
    }

    @Override
    public Progress getProgress() {
      return null;
    }

    @Override
    public void close() {}
  }

  /** Returns a timer that calls a missing Hadoop method after the first key group. */
  private static GroupTimer brokenTimer() {
    final int[] calls = {0};
    final LongSupplier emitted =
        () -> {
          if (++calls[0] > 1) {
            throw new NoSuchMethodError("Counter.getValue");
          }
          return 0;
        };
    return new GroupTimer(
        new ReduceMeter(new MeterSettings()), KeyGrouping.of(new JobConf(false)), emitted);
  }

  private void checkAllPass(RawKeyValueIterator watched) throws Exception {
    for (byte key = 1; key <= 3; ++key) {
      watched.getProgress();
      assertTrue(watched.next());
      assertEquals(key, watched.getKey().getData()[0]);
      assertEquals(key, watched.getValue().getData()[0]);
    }
    assertFalse(watched.next());
    assertTrue(guard.isOff());
    assertEquals(log.toString(), 1, log.size());
  }

  @Test
  public void aConnectorErrorPreservesRecordsOfTheNewApi() throws Exception {
    checkAllPass(new NewApiRecords(new Sorted(), brokenTimer(), System::nanoTime, guard));
  }

  @Test
  public void aConnectorErrorPreservesRecordsOfTheOldApi() throws Exception {
    checkAllPass(new OldApiRecords(new Sorted(), brokenTimer(), guard));
  }

  @Test
  public void aDisabledConnectorReadsNoSkippedValues() throws Exception {
    final Sorted records = new Sorted();
    final OldApiRecords watched = new OldApiRecords(records, brokenTimer(), guard);
    guard.turnOff(new NoSuchMethodError("of before"));
    while (watched.next()) {
      watched.getKey();
    }
    assertEquals(0, records.valuesAskedFor);
  }
}
