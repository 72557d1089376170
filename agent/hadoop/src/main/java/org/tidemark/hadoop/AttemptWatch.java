package org.tidemark.hadoop;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.tidemark.hadoop.transport.Sender;
import org.tidemark.hadoop.wire.Attempt;
import org.tidemark.hadoop.wire.AttemptNews;
import org.tidemark.hadoop.wire.Events;
import org.tidemark.hadoop.wire.Events.State;

/**
 * Turns what an application master knows of task attempts into attempt changes, each told once. An
 * attempt that passes through several states between two looks gets them all. Belongs to one thread.
 */
final class AttemptWatch {
  private static final int FAILURE_CHARS_MAX = 1_000;

  private final Sender sender;
  private final long[] splitBytes;
  private final Map<TaskAttemptId, State> told = new HashMap<>();
  private final Set<TaskId> announced = new HashSet<>();

  AttemptWatch(Sender sender, long[] splitBytes) {
    this.sender = sender;
    this.splitBytes = splitBytes;
  }

  void look(Task task) {
    final boolean isMap = task.getType() == TaskType.MAP;
    if (isMap && announced.add(task.getID())) {
      announce(task.getID().getId());
    }
    boolean runsElsewhere = false;
    for (TaskAttempt attempt : task.getAttempts().values()) {
      look(attempt, isMap, runsElsewhere);
      runsElsewhere |= attempt.getState() == TaskAttemptState.RUNNING;
    }
  }

  /** Says how much a map task has to read before it runs. */
  private void announce(int index) {
    if (index < splitBytes.length) {
      final AttemptNews news = new AttemptNews(new Attempt(true, index, 0), State.QUEUED);
      news.inputBytes = splitBytes[index];
      sender.send(Events.attemptChanged(news));
    }
  }

  private void look(TaskAttempt attempt, boolean isMap, boolean speculative) {
    final State before = told.getOrDefault(attempt.getID(), State.QUEUED);
    if (before == State.OBSOLETE || before == State.FAILED || before == State.KILLED) {
      return;
    }
    final State now = state(attempt, isMap, before);
    if (now == before) {
      return;
    }
    if (before == State.QUEUED && now != State.STARTED && attempt.getLaunchTime() > 0) {
      tell(attempt, isMap, State.STARTED, speculative);
    }
    tell(attempt, isMap, now, speculative);
  }

  private static State state(TaskAttempt attempt, boolean isMap, State before) {
    switch (attempt.getState()) {
      case RUNNING:
      case COMMIT_PENDING:
        return !isMap && attempt.getSortFinishTime() > 0 ? State.SHUFFLED : State.STARTED;
      case SUCCEEDED:
        return State.FINISHED;
      case FAILED:
        return before == State.FINISHED ? State.OBSOLETE : State.FAILED;
      case KILLED:
        return before == State.FINISHED ? State.OBSOLETE : State.KILLED;
      default:
        return before;
    }
  }

  private void tell(TaskAttempt attempt, boolean isMap, State state, boolean speculative) {
    told.put(attempt.getID(), state);
    final TaskAttemptId id = attempt.getID();
    final AttemptNews news =
        new AttemptNews(new Attempt(isMap, id.getTaskId().getId(), id.getId()), state);
    news.atMillis = instant(attempt, state);
    if (attempt.getNodeId() != null) {
      news.host = attempt.getNodeId().getHost();
      news.container = String.valueOf(attempt.getAssignedContainerID());
      news.rack = attempt.getNodeRackName();
    }
    news.speculative = speculative;
    if (isMap && id.getTaskId().getId() < splitBytes.length) {
      news.inputBytes = splitBytes[id.getTaskId().getId()];
    }
    if (state == State.FAILED || state == State.KILLED || state == State.OBSOLETE) {
      news.failure = failure(attempt);
    }
    sender.send(Events.attemptChanged(news));
  }

  private static long instant(TaskAttempt attempt, State state) {
    switch (state) {
      case STARTED:
        return attempt.getLaunchTime();
      case SHUFFLED:
        return attempt.getSortFinishTime();
      case OBSOLETE:
        return System.currentTimeMillis();
      default:
        return attempt.getFinishTime();
    }
  }

  private static String failure(TaskAttempt attempt) {
    if (attempt.getDiagnostics().isEmpty()) {
      return "";
    }
    final String first = attempt.getDiagnostics().get(0);
    return first.substring(0, Math.min(first.length(), FAILURE_CHARS_MAX));
  }
}
