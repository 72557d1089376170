package org.tidemark.jvm.report;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.fail;

import java.util.ArrayList;
import java.util.List;
import org.junit.Test;
import org.tidemark.jvm.wire.Attempt;
import org.tidemark.jvm.wire.AttemptUpdate;
import org.tidemark.jvm.wire.Event;
import org.tidemark.jvm.wire.Events;
import org.tidemark.jvm.wire.JobDescription;
import org.tidemark.jvm.wire.StageDescription;

public class CurrentStateTest {
  private final CurrentState currentState = new CurrentState();
  private long dropped;
  private final Event job = Events.jobOpened(new JobDescription("spark"));
  private final Event executor = Events.executorOpened(0, "host", "", "0", 2);
  private final Event stage =
      Events.stageOpened(new StageDescription(3, StageDescription.Kind.GENERIC));

  public CurrentStateTest() {
    currentState.jobOpened(job);
    currentState.executorOpened(0, executor);
    currentState.stageOpened(3, stage);
  }

  private Event changed(int attempt, Events.State state) {
    final AttemptUpdate update = new AttemptUpdate(new Attempt(3, 0, 7, attempt), state);
    final Event event = Events.attemptChanged(update);
    currentState.attemptChanged(update, event);
    return event;
  }

  private List<Event> reported() {
    final List<Event> reported = new ArrayList<>();
    currentState.reportAfterDrops(++dropped, reported::add);
    currentState.reportAfterDrops(dropped, again -> fail("it was told"));
    return reported;
  }

  @Test
  public void theCurrentStateIsReportedInTheOrderOfTheProtocol() {
    final Event group = Events.groupOpened("sql/1", "count", 5);
    currentState.groupOpened("sql/1", group);
    assertEquals(
        List.of(job, executor, group, stage, changed(0, Events.State.STARTED)), reported());
    currentState.executorClosed(0);
    currentState.groupClosed("sql/1");
    final Event closed = Events.stageClosed(3, 0, Events.Outcome.SUCCEEDED, null, 9);
    currentState.stageClosed(3, closed);
    assertEquals("its tasks ended with it", List.of(job, stage, closed), reported());
  }

  @Test
  public void aFinishedAttemptCountsForItsTaskUntilItsOutputIsLost() {
    final Event finished = changed(1, Events.State.FINISHED);
    changed(0, Events.State.KILLED);
    assertEquals(List.of(job, executor, stage, finished), reported());
    final Event lost = changed(1, Events.State.OBSOLETE);
    assertEquals(List.of(job, executor, stage, lost), reported());
    final Event again = changed(2, Events.State.STARTED);
    assertEquals(List.of(job, executor, stage, again), reported());
  }

  @Test
  public void aGroupIsOpenUntilItIsClosed() {
    currentState.groupOpened("job/1", Events.groupOpened("job/1", "", 0));
    assertEquals(true, currentState.groupClosed("job/1"));
    assertEquals(false, currentState.groupClosed("job/1"));
  }
}
