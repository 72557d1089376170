package org.tidemark.hadoop;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskState;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.Timeout;
import org.tidemark.hadoop.support.FakeJob;
import org.tidemark.jvm.support.Senders;
import org.tidemark.jvm.transport.ListeningMaster;
import org.tidemark.jvm.transport.Sender;
import org.tidemark.jvm.wire.Events.State;

public class AttemptWatchTest {
  @Rule public final Timeout patience = Timeout.seconds(60);

  private static final int MANY = 20_000;
  private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final List<String> log = new CopyOnWriteArrayList<>();
  private ListeningMaster master;
  private Sender sender;

  @Before
  public void connect() throws Exception {
    master = new ListeningMaster();
    sender = Senders.to(master.address, log::add);
  }

  @After
  public void disconnect() throws Exception {
    sender.stop(0);
    master.close();
  }

  private AttemptWatch watch(long... splitBytes) {
    return new AttemptWatch(sender, splitBytes, true);
  }

  private void reportAll(AttemptWatch watch, FakeJob job) throws InterruptedException {
    while (!watch.poll(job.tasks())) {
      Thread.sleep(20);
    }
    assertTrue(sender.flush(LONG_NANOS));
    assertEquals(log.toString(), 0, log.size());
  }

  @Test
  public void aRecoveredJobOfManyFinishedMapsIsReportedCompletely() throws Exception {
    final FakeJob job = new FakeJob(1, MANY, 0);
    job.maps().forEach(FakeJob.AttemptFacts::succeed);
    final AttemptWatch watch = watch(new long[MANY]);
    // The master does not read yet, while the job is polled several times.
    for (int poll = 0; poll < 5; ++poll) {
      assertFalse(watch.poll(job.tasks()));
    }
    master.listen();
    reportAll(watch, job);
    for (int i = 0; i < MANY; ++i) {
      assertEquals(Arrays.asList(State.STARTED, State.FINISHED), master.statesOf("m_" + i + "_0"));
    }
    assertEquals(0, master.dropped());
    assertEquals("with a container each", 3 * MANY, master.events());
  }

  @Test
  public void aNewJobOfManyMapsIsReportedCompletely() throws Exception {
    final FakeJob job = new FakeJob(1, MANY, 0);
    final AttemptWatch watch = watch(new long[MANY]);
    assertFalse(watch.poll(job.tasks()));
    master.listen();
    reportAll(watch, job);
    assertEquals(MANY, master.attempts());
    assertEquals(0, master.dropped());
    assertEquals(MANY, master.events());
  }

  @Test
  public void changesDuringAnOutageAreReportedWithTheirLatestState() throws Exception {
    final FakeJob job = new FakeJob(1, MANY, 0);
    final AttemptWatch watch = watch();
    for (FakeJob.AttemptFacts map : job.maps()) {
      map.launched = 1_000;
      map.state = TaskAttemptState.RUNNING;
    }
    assertFalse(watch.poll(job.tasks()));
    job.maps().forEach(FakeJob.AttemptFacts::succeed);
    assertFalse(watch.poll(job.tasks()));
    for (FakeJob.AttemptFacts map : job.maps()) {
      map.state = TaskAttemptState.KILLED;  // The node was lost.
    }
    assertFalse(watch.poll(job.tasks()));
    master.listen();
    reportAll(watch, job);
    // Attempts that were reported as finished have lost their output. Most of them were never
    // reported.
    int lostOutput = 0;
    for (int i = 0; i < MANY; ++i) {
      final List<State> states = master.statesOf("m_" + i + "_0");
      if (states.size() == 3) {
        assertEquals(Arrays.asList(State.STARTED, State.FINISHED, State.OBSOLETE), states);
        ++lostOutput;
      } else {
        assertEquals(Arrays.asList(State.STARTED, State.KILLED), states);
      }
    }
    assertTrue(lostOutput + " attempts", lostOutput < MANY / 10);
    assertEquals(0, master.dropped());
  }

  @Test
  public void aReduceTaskDiscoveredLateIsReportedWithAllItsTimes() throws Exception {
    final FakeJob job = new FakeJob(1, 0, 2);
    job.reduces().get(0).sorted = 1_500;
    job.reduces().forEach(FakeJob.AttemptFacts::succeed);
    master.listen();
    reportAll(watch(), job);
    assertEquals(
        Arrays.asList(State.STARTED, State.SHUFFLED, State.FINISHED), master.statesOf("r_0_0"));
    assertEquals(Arrays.asList(State.STARTED, State.FINISHED), master.statesOf("r_1_0"));
  }

  @Test
  public void aFinallyFailedTaskIsReportedOnce() throws Exception {
    final FakeJob job = new FakeJob(1, 2, 0);
    for (FakeJob.AttemptFacts map : job.maps()) {
      map.launched = 1_000;
      map.finished = 2_000;
      map.state = TaskAttemptState.FAILED;
    }
    job.maps().get(1).task = TaskState.FAILED;
    final AttemptWatch watch = watch();
    master.listen();
    reportAll(watch, job);
    reportAll(watch, job);
    assertEquals(0, master.failedTasksOf("m_0_0"));
    assertEquals(1, master.failedTasksOf("m_1_0"));
    job.maps().get(0).task = TaskState.FAILED;
    reportAll(watch, job);
    assertEquals(1, master.failedTasksOf("m_0_0"));
    assertEquals(1, master.failedTasksOf("m_1_0"));
  }

  @Test
  public void aFinishedMapWithLostOutputBecomesObsolete() throws Exception {
    final FakeJob job = new FakeJob(1, 1, 0);
    final AttemptWatch watch = watch();
    master.listen();
    job.maps().get(0).succeed();
    reportAll(watch, job);
    job.maps().get(0).state = TaskAttemptState.KILLED;
    reportAll(watch, job);
    reportAll(watch, job);
    assertEquals(
        Arrays.asList(State.STARTED, State.FINISHED, State.OBSOLETE), master.statesOf("m_0_0"));
  }

  @Test
  public void anUnreadableTaskDoesNotPreventReportsOfOthers() throws Exception {
    final FakeJob job = new FakeJob(1, 3, 0);
    job.maps().forEach(FakeJob.AttemptFacts::succeed);
    job.breakMap(1, new IllegalStateException("half recovered"));
    master.listen();
    reportAll(watch(), job);
    assertEquals(Arrays.asList(State.STARTED, State.FINISHED), master.statesOf("m_0_0"));
    assertEquals(Collections.emptyList(), master.statesOf("m_1_0"));
    assertEquals(Arrays.asList(State.STARTED, State.FINISHED), master.statesOf("m_2_0"));
  }

  @Test
  public void anUnsentStateIsSentTheNextTime() throws Exception {
    final FakeJob job = new FakeJob(1, 1, 0);
    final FakeJob.AttemptFacts map = job.maps().get(0);
    final AttemptWatch watch = watch();
    master.listen();
    map.launched = 1_000;
    map.state = TaskAttemptState.FAILED;
    map.diagnostics =
        () -> {
          throw new IllegalStateException("not now");
        };
    reportAll(watch, job);
    map.diagnostics = () -> Collections.singletonList("disk full");
    reportAll(watch, job);
    assertEquals(Arrays.asList(State.STARTED, State.FAILED), master.statesOf("m_0_0"));
  }

  private static void run(FakeJob.AttemptFacts map, float progress) {
    map.launched = 1_000;
    map.progress = progress;
    map.state = TaskAttemptState.RUNNING;
  }

  @Test
  public void theInputOfAMapOnlyTaskFollowsItsProgress() throws Exception {
    final FakeJob job = new FakeJob(1, 1, 0);
    final AttemptWatch watch = new AttemptWatch(sender, new long[] {1_000}, false);
    master.listen();
    for (float progress : new float[] {0, 0.25f, 0.25f, 0.2f, 0.75f}) {
      run(job.maps().get(0), progress);
      reportAll(watch, job);
    }
    assertEquals(Arrays.asList(250L, 750L), master.bytesOf("m_0_0"));
  }

  /** The task has read all of its input at two thirds of its progress, before the sort. */
  @Test
  public void theInputOfACombinedSplitFollowsTheProgressBeforeTheSort() throws Exception {
    final FakeJob job = new FakeJob(1, 2, 1);
    final AttemptWatch watch = watch(1_000, 1_000);
    master.listen();
    run(job.maps().get(0), 0.3335f);
    run(job.maps().get(1), 0.3335f);
    job.maps().get(1).bytesRead = 400;
    reportAll(watch, job);
    run(job.maps().get(0), 0.9f);
    reportAll(watch, job);
    assertEquals(Arrays.asList(500L, 1_000L), master.bytesOf("m_0_0"));
    assertEquals("it reports itself", Collections.emptyList(), master.bytesOf("m_1_0"));
  }

  @Test
  public void theInputOfATaskWithoutAKnownSizeIsNotReported() throws Exception {
    final FakeJob job = new FakeJob(1, 1, 0);
    master.listen();
    run(job.maps().get(0), 0.5f);
    reportAll(new AttemptWatch(sender, new long[0], false), job);
    assertEquals(Collections.emptyList(), master.bytesOf("m_0_0"));
  }
}
