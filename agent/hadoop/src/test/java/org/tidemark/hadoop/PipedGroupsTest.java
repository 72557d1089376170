package org.tidemark.hadoop;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.lib.IdentityReducer;
import org.apache.hadoop.streaming.PipeReducer;
import org.junit.Before;
import org.junit.Test;
import org.tidemark.jvm.profile.MeterSettings;
import org.tidemark.jvm.profile.ReduceMeter;

/** Tests the measurements of a reduce function that runs in a child process. */
public class PipedGroupsTest {
  private static final long RECORD_BYTES = 10;

  private final ReduceMeter meter = new ReduceMeter(new MeterSettings());
  private final AtomicLong emitted = new AtomicLong();
  private final AtomicLong answered = new AtomicLong();
  private PipedGroups groups;

  @Before
  public void create() {
    final JobConf job = new JobConf(false);
    job.setMapOutputKeyClass(Text.class);
    groups = new PipedGroups(meter, KeyGrouping.of(job), emitted::get, answered::get);
  }

  private static DataInputBuffer key(String name) {
    final DataInputBuffer key = new DataInputBuffer();
    key.reset(name.getBytes(), name.length());
    return key;
  }

  /** Writes a group to the child process. */
  private void write(String name, int records, long recordBytes) {
    groups.begin(key(name));
    for (int i = 0; i < records; ++i) {
      groups.read(key(name), recordBytes);
    }
    groups.end();
  }

  private ReduceMeter.Taken settled() {
    groups.settle();
    return meter.take(true);
  }

  @Test
  public void theReducersOfStreamingAndPipesRunInAnotherProcess() {
    final JobConf job = new JobConf(false);
    assertFalse(PipedGroups.areOf(job));
    job.setReducerClass(IdentityReducer.class);
    assertFalse(PipedGroups.areOf(job));
    job.setReducerClass(PipeReducer.class);
    assertTrue(PipedGroups.areOf(job));
    job.set("mapred.reducer.class", "org.apache.hadoop.mapred.pipes.PipesReducer");
    assertTrue(PipedGroups.areOf(job));
    job.setUseNewReducer(true);
    assertFalse("the new API ignores this class", PipedGroups.areOf(job));
  }

  @Test
  public void aGroupEndsWithItsAnswerAndNotWithItsLastRecord() {
    write("a", 3, RECORD_BYTES);
    write("b", 2, RECORD_BYTES);
    assertEquals(0, settled().groupsDone);
    assertEquals(3 * RECORD_BYTES, meter.running(0).bytesRead);
    answered.set(1);
    final ReduceMeter.Taken first = settled();
    assertEquals(1, first.groupsDone);
    assertEquals(3 * RECORD_BYTES, first.bytesDone);
    assertEquals(2 * RECORD_BYTES, meter.running(0).bytesRead);
    answered.set(2);
    assertEquals(5 * RECORD_BYTES, settled().bytesDone);
    assertNull(meter.running(0));
  }

  @Test
  public void theRecordsOfARunningGroupGrow() {
    groups.begin(key("a"));
    groups.read(key("a"), RECORD_BYTES);
    groups.settle();
    groups.read(key("a"), RECORD_BYTES);
    answered.set(1);
    assertEquals("more records may follow", 0, settled().groupsDone);
    final ReduceMeter.Running running = meter.running(0);
    assertNotNull(running);
    assertEquals(2 * RECORD_BYTES, running.bytesRead);
    assertEquals(2, running.valuesRead);
  }

  @Test
  public void groupsWithoutAnswersEndOnceTheBuffersCannotHoldThem() {
    write("a", 1, RECORD_BYTES);
    write("b", 1, PipedGroups.BUFFERED_BYTES_MAX);
    assertEquals(0, settled().groupsDone);
    write("c", 1, 1);
    assertEquals(1, settled().groupsDone);
  }

  /** The buffers hold four of the ten groups, and the last group is in progress. */
  @Test
  public void groupsWithoutAnswersEndTogether() {
    for (int i = 0; i < 10; ++i) {
      write("group " + i, 1, PipedGroups.BUFFERED_BYTES_MAX / 4);
    }
    final ReduceMeter.Taken taken = meter.take(true);
    assertEquals(5, taken.groupsDone);
    for (int i = 0; i < taken.named; ++i) {
      assertEquals("no group has a time of its own", 0, taken.namedNanos[i]);
    }
  }

  @Test
  public void groupsThatEndTogetherShareTheOutput() {
    write("a", 1, RECORD_BYTES);
    write("b", 1, RECORD_BYTES);
    answered.set(2);
    emitted.set(101);
    final ReduceMeter.Taken taken = settled();
    assertEquals(2, taken.groupsDone);
    for (int i = 0; i < taken.named; ++i) {
      assertEquals(50, taken.namedEmitted[i], 1);
    }
  }

  /** Two groups have four answers, so the next group ends with the sixth answer. */
  @Test
  public void moreAnswersThanGroupsAreSeveralAnswersToEachGroup() {
    write("a", 2, RECORD_BYTES);
    write("b", 3, RECORD_BYTES);
    answered.set(4);
    assertEquals(2, settled().groupsDone);
    write("c", 1, RECORD_BYTES);
    write("d", 1, RECORD_BYTES);
    assertEquals(2, settled().groupsDone);
    answered.set(5);
    assertEquals(2, settled().groupsDone);
    answered.set(6);
    assertEquals(3, settled().groupsDone);
  }

  @Test
  public void allGroupsEndWithTheTask() {
    write("a", 1, RECORD_BYTES);
    write("b", 1, RECORD_BYTES);
    groups.endAll();
    assertEquals("the child process still works", 0, settled().groupsDone);
    groups.endLast();
    final ReduceMeter.Taken last = meter.take(true);
    assertEquals(2, last.groupsDone);
    assertEquals(2 * RECORD_BYTES, last.bytesDone);
    assertEquals(0, last.droppedPoints);
  }

  @Test
  public void aTaskWithoutInputHasNoGroups() {
    groups.endAll();
    groups.endLast();
    assertEquals(0, meter.take(true).groupsDone);
  }

  @Test
  public void aGroupThatIsAnsweredAloneIsTimedAlone() {
    write("a", 10, RECORD_BYTES);
    groups.settle();
    answered.set(1);
    final ReduceMeter.Taken taken = settled();
    assertEquals(1, taken.named);
    assertTrue(taken.namedNanos[0] > 0);
    assertEquals(taken.reduceNanos, taken.namedNanos[0]);
  }
}
