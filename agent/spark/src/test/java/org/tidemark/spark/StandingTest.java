package org.tidemark.spark;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.fail;

import java.util.ArrayList;
import java.util.List;
import org.junit.Test;
import org.tidemark.jvm.wire.Attempt;
import org.tidemark.jvm.wire.AttemptNews;
import org.tidemark.jvm.wire.Event;
import org.tidemark.jvm.wire.Events;
import org.tidemark.jvm.wire.JobNews;
import org.tidemark.jvm.wire.StageNews;

public class StandingTest {
  private final Standing standing = new Standing();
  private long dropped;
  private final Event job = Events.jobOpened(new JobNews("spark"));
  private final Event executor = Events.executorOpened(0, "host", "", "0", 2);
  private final Event stage =
      Events.stageOpened(new StageNews(3, StageNews.Kind.GENERIC));

  public StandingTest() {
    standing.jobOpened(job);
    standing.executorOpened(0, executor);
    standing.stageOpened(3, stage);
  }

  private Event changed(int attempt, Events.State state) {
    final AttemptNews news = new AttemptNews(new Attempt(3, 0, 7, attempt), state);
    final Event event = Events.attemptChanged(news);
    standing.attemptChanged(news, event);
    return event;
  }

  private List<Event> told() {
    final List<Event> told = new ArrayList<>();
    standing.tellAfterDrops(++dropped, told::add);
    standing.tellAfterDrops(dropped, again -> fail("it was told"));
    return told;
  }

  @Test
  public void whatHoldsIsToldInTheOrderThatAMasterWants() {
    final Event group = Events.groupOpened("sql/1", "count", 5);
    standing.groupOpened("sql/1", group);
    assertEquals(
        List.of(job, executor, group, stage, changed(0, Events.State.STARTED)), told());
    standing.executorClosed(0);
    standing.groupClosed("sql/1");
    final Event closed = Events.stageClosed(3, 0, Events.Outcome.SUCCEEDED, null, 9);
    standing.stageClosed(3, closed);
    assertEquals("its tasks ended with it", List.of(job, stage, closed), told());
  }

  @Test
  public void anAttemptThatFinishedStandsForItsTaskUntilItsOutputIsLost() {
    final Event finished = changed(1, Events.State.FINISHED);
    changed(0, Events.State.KILLED);
    assertEquals(List.of(job, executor, stage, finished), told());
    final Event lost = changed(1, Events.State.OBSOLETE);
    assertEquals(List.of(job, executor, stage, lost), told());
    final Event again = changed(2, Events.State.STARTED);
    assertEquals(List.of(job, executor, stage, again), told());
  }

  @Test
  public void aGroupIsOpenUntilItIsClosed() {
    standing.groupOpened("job/1", Events.groupOpened("job/1", "", 0));
    assertEquals(true, standing.groupClosed("job/1"));
    assertEquals(false, standing.groupClosed("job/1"));
  }
}
