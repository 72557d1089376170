package org.tidemark.jvm.report;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.tidemark.jvm.wire.AttemptUpdate;
import org.tidemark.jvm.wire.Event;
import org.tidemark.jvm.wire.Events;

/**
 * The reported state of an application that is still current. After events were dropped, all of it
 * is reported again. The master ignores repeated events. Keeps the latest stages, and the tasks of
 * running stages. Thread-safe.
 */
public final class CurrentState {
  private static final class Stage {
    Event opened;
    /** Null until the stage has ended. */
    Event closed;
    /** The last event of each task, by index. */
    final Map<Integer, Event> tasks = new HashMap<>();
    final BitSet finished = new BitSet();
  }

  private long droppedBefore;
  private Event job;
  private final Map<Integer, Event> executors = new Latest<>();
  private final Map<String, Event> groups = new Latest<>();
  private final Map<Integer, Stage> stages = new Latest<>();

  public synchronized void jobOpened(Event opened) {
    job = opened;
  }

  public synchronized void executorOpened(int number, Event opened) {
    executors.put(number, opened);
  }

  public synchronized void executorClosed(int number) {
    executors.remove(number);
  }

  public synchronized void groupOpened(String group, Event opened) {
    groups.put(group, opened);
  }

  /** Returns true if the group was open. */
  public synchronized boolean groupClosed(String group) {
    return groups.remove(group) != null;
  }

  public synchronized boolean isGroupOpen(String group) {
    return groups.containsKey(group);
  }

  /** Returns the groups that have not ended, oldest first. */
  public synchronized List<String> openGroups() {
    return new ArrayList<>(groups.keySet());
  }

  public synchronized void stageOpened(int number, Event opened) {
    final Stage stage = stages.computeIfAbsent(number, missing -> new Stage());
    stage.opened = opened;
    stage.closed = null;
  }

  public synchronized void stageClosed(int number, Event closed) {
    final Stage stage = stages.get(number);
    if (stage != null) {
      stage.closed = closed;
      stage.tasks.clear();
      stage.finished.clear();
    }
  }

  /**
   * Records a change of an attempt. A finished attempt determines its task's state, regardless of
   * other attempts.
   */
  public synchronized void attemptChanged(AttemptUpdate update, Event changed) {
    final Stage stage = stages.get(update.attempt.stage);
    final int index = update.attempt.index;
    if (stage == null
        || stage.closed != null
        || stage.finished.get(index) && update.state != Events.State.OBSOLETE) {
      return;
    }
    stage.finished.set(index, update.state == Events.State.FINISHED);
    stage.tasks.put(index, changed);
  }

  /**
   * Reports the state again if {@code dropped}, the number of dropped events, has grown since the
   * last report.
   */
  public synchronized void reportAfterDrops(long dropped, Consumer<Event> master) {
    if (dropped > droppedBefore) {
      droppedBefore = dropped;
      reportAll(master);
    }
  }

  private void reportAll(Consumer<Event> master) {
    if (job != null) {
      master.accept(job);
    }
    executors.values().forEach(master);
    groups.values().forEach(master);
    for (Stage stage : stages.values()) {
      master.accept(stage.opened);
      stage.tasks.values().forEach(master);
      if (stage.closed != null) {
        master.accept(stage.closed);
      }
    }
  }
}
