package org.tidemark.hadoop;

import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.tidemark.jvm.guard.Reasons;
import org.tidemark.jvm.transport.Sender;
import org.tidemark.jvm.wire.Attempt;
import org.tidemark.jvm.wire.AttemptNews;
import org.tidemark.jvm.wire.Events.State;
import org.tidemark.jvm.wire.Events;

/**
 * Turns what an application master knows of task attempts into attempt changes. It looks only while
 * the sender has room for what it sees, so what it tells late is the state at that time: nothing
 * queues up, and no current state is lost. Each state is told once; of those that an attempt has
 * left since, only the ones whose instant Hadoop keeps. Belongs to one thread.
 */
final class AttemptWatch {
  private static final int FAILURE_CHARS_MAX = 1_000;

  private final Sender sender;
  private final long[] splitBytes;
  private final Map<TaskAttemptId, State> told = new HashMap<>();
  /** The reported executors, by container. */
  private final Map<String, Integer> executors = new HashMap<>();
  /** Tasks that were reported as failed for good. */
  private final Set<TaskId> givenUp = new HashSet<>();
  /** By map task: its size was told, or comes with its attempts. */
  private final BitSet announced = new BitSet();

  AttemptWatch(Sender sender, long[] splitBytes) {
    this.sender = sender;
    this.splitBytes = splitBytes;
  }

  /** Tells what is new, O(attempts); false: there was no room for all of it. */
  boolean look(Iterable<? extends Task> tasks) {
    for (Task task : tasks) {
      try {
        if (!look(task)) {
          return false;
        }
      } catch (RuntimeException unknown) {
        TaskLog.warn("cannot see the attempts of a task: " + Reasons.of(unknown));
      }
    }
    return true;
  }

  private boolean look(Task task) {
    final boolean isMap = task.getType() == TaskType.MAP;
    boolean hasStarted = false;
    boolean runsElsewhere = false;
    TaskAttempt last = null;
    for (TaskAttempt attempt : task.getAttempts().values()) {
      if (!look(attempt, isMap, runsElsewhere)) {
        return false;
      }
      last = attempt;
      hasStarted |= told.containsKey(attempt.getID());
      runsElsewhere |= attempt.getState() == TaskAttemptState.RUNNING;
    }
    return (!isMap || announce(task.getID().getId(), hasStarted)) && reportEnd(task, last);
  }

  /** Reports that a task has failed for good. Returns false if there was no room for it. */
  private boolean reportEnd(Task task, TaskAttempt last) {
    final TaskState state = task.getState();
    final State end = last == null ? null : told.get(last.getID());
    final boolean hasFailed = state == TaskState.FAILED || state == TaskState.KILLED;
    final boolean isKnown = end == State.FAILED || end == State.KILLED;
    if (!hasFailed || !isKnown || givenUp.contains(task.getID())) {
      return true;
    }
    if (!sender.hasRoom()) {
      return false;
    }
    final boolean isMap = task.getType() == TaskType.MAP;
    final AttemptNews news =
        new AttemptNews(Attempt.of(isMap, task.getID().getId(), last.getID().getId()), end);
    news.atMillis = last.getFinishTime();
    news.taskFailed = true;
    sender.send(Events.attemptChanged(news));
    givenUp.add(task.getID());
    return true;
  }

  /** Says how much a map task has to read before it runs. */
  private boolean announce(int index, boolean hasStarted) {
    if (announced.get(index)) {
      return true;
    }
    if (!hasStarted && index < splitBytes.length) {
      if (!sender.hasRoom()) {
        return false;
      }
      final AttemptNews news = new AttemptNews(Attempt.map(index, 0), State.QUEUED);
      news.inputBytes = splitBytes[index];
      sender.send(Events.attemptChanged(news));
    }
    announced.set(index);
    return true;
  }

  private boolean look(TaskAttempt attempt, boolean isMap, boolean speculative) {
    State step = told.getOrDefault(attempt.getID(), State.QUEUED);
    if (step == State.OBSOLETE || step == State.FAILED || step == State.KILLED) {
      return true;
    }
    final State now = state(attempt, isMap, step);
    while (step != now) {
      if (!sender.hasRoom()) {
        return false;
      }
      step = next(attempt, isMap, step, now);
      tell(attempt, isMap, step, speculative);
    }
    return true;
  }

  /** The first state after {@code step} on the way to {@code now}. */
  private static State next(TaskAttempt attempt, boolean isMap, State step, State now) {
    if (step == State.QUEUED && attempt.getLaunchTime() > 0) {
      return State.STARTED;
    }
    if (!isMap && step.ordinal() < State.SHUFFLED.ordinal()
        && now.ordinal() > State.SHUFFLED.ordinal() && attempt.getSortFinishTime() > 0) {
      return State.SHUFFLED;
    }
    return now;
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
    final TaskAttemptId id = attempt.getID();
    final AttemptNews news =
        new AttemptNews(Attempt.of(isMap, id.getTaskId().getId(), id.getId()), state);
    news.atMillis = instant(attempt, state);
    if (attempt.getNodeId() != null) {
      news.executor = executorOf(attempt);
    }
    news.speculative = speculative;
    if (isMap && id.getTaskId().getId() < splitBytes.length) {
      news.inputBytes = splitBytes[id.getTaskId().getId()];
    }
    if (state == State.FAILED || state == State.KILLED || state == State.OBSOLETE) {
      news.failure = failure(attempt);
    }
    sender.send(Events.attemptChanged(news));
    // Only now: if any of this throws, the next look tries again.
    told.put(id, state);
  }

  /** The number of the attempt's container, which is told the first time it is asked for. */
  private int executorOf(TaskAttempt attempt) {
    final String container = String.valueOf(attempt.getAssignedContainerID());
    final Integer known = executors.get(container);
    if (known != null) {
      return known;
    }
    final int number = executors.size();
    sender.send(
        Events.executorOpened(
            number, attempt.getNodeId().getHost(), attempt.getNodeRackName(), container, 0));
    executors.put(container, number);
    return number;
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
