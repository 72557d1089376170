package org.tidemark.spark;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.tidemark.jvm.wire.AttemptNews;
import org.tidemark.jvm.wire.Event;
import org.tidemark.jvm.wire.Events;

/**
 * What was said of an application and still holds. A master for which events had to be dropped is
 * told all of it again: what it knows already changes nothing. Remembers the latest stages, and the
 * tasks of those that run. Thread-safe.
 */
final class Standing {
  private static final class Stage {
    Event opened;
    /** Null: it has not ended. */
    Event closed;
    /** By index: what became of its tasks. */
    final Map<Integer, Event> tasks = new HashMap<>();
    final BitSet finished = new BitSet();
  }

  private long droppedBefore;
  private Event job;
  private final Map<Integer, Event> executors = new Latest<>();
  private final Map<String, Event> groups = new Latest<>();
  private final Map<Integer, Stage> stages = new Latest<>();

  synchronized void jobOpened(Event opened) {
    job = opened;
  }

  synchronized void executorOpened(int number, Event opened) {
    executors.put(number, opened);
  }

  synchronized void executorClosed(int number) {
    executors.remove(number);
  }

  synchronized void groupOpened(String group, Event opened) {
    groups.put(group, opened);
  }

  /** Whether it was open. */
  synchronized boolean groupClosed(String group) {
    return groups.remove(group) != null;
  }

  synchronized boolean isGroupOpen(String group) {
    return groups.containsKey(group);
  }

  /** The groups that have not ended, the oldest first. */
  synchronized List<String> openGroups() {
    return new ArrayList<>(groups.keySet());
  }

  synchronized void stageOpened(int number, Event opened) {
    final Stage stage = stages.computeIfAbsent(number, unseen -> new Stage());
    stage.opened = opened;
    stage.closed = null;
  }

  synchronized void stageClosed(int number, Event closed) {
    final Stage stage = stages.get(number);
    if (stage != null) {
      stage.closed = closed;
      stage.tasks.clear();
      stage.finished.clear();
    }
  }

  /** One attempt that has finished stands for its task, whatever becomes of others. */
  synchronized void attemptChanged(AttemptNews news, Event changed) {
    final Stage stage = stages.get(news.attempt.stage);
    final int index = news.attempt.index;
    if (stage == null
        || stage.closed != null
        || stage.finished.get(index) && news.state != Events.State.OBSOLETE) {
      return;
    }
    stage.finished.set(index, news.state == Events.State.FINISHED);
    stage.tasks.put(index, changed);
  }

  /** Tells all of it if more events had to be dropped, of {@code dropped} so far, since it did. */
  synchronized void tellAfterDrops(long dropped, Consumer<Event> master) {
    if (dropped > droppedBefore) {
      droppedBefore = dropped;
      tellAll(master);
    }
  }

  private void tellAll(Consumer<Event> master) {
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
