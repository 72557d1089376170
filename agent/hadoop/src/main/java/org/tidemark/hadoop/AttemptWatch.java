package org.tidemark.hadoop;

import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter;
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
import org.tidemark.jvm.wire.AttemptUpdate;
import org.tidemark.jvm.wire.Events.State;
import org.tidemark.jvm.wire.Events;

/**
 * Converts the state of task attempts in an application master to attempt changes. States are read
 * only while the sender has space, so that a delayed report contains the current state. Each state
 * is reported once. A past state is reported only if Hadoop keeps its time. Belongs to one thread.
 */
final class AttemptWatch {
  private static final int FAILURE_CHARS_MAX = 1_000;

  /** The progress at which a map attempt in a job with reduce tasks has read all of its input. */
  private static final float INPUT_SHARE = 0.667f;

  private final Sender sender;
  private final long[] splitBytes;
  private final boolean hasReduces;
  private final Map<TaskAttemptId, Long> bytesReported = new HashMap<>();
  private final Map<TaskAttemptId, State> reported = new HashMap<>();
  /** The reported executors, by container. */
  private final Map<String, Integer> executors = new HashMap<>();
  /** Tasks that were reported as failed permanently. */
  private final Set<TaskId> givenUp = new HashSet<>();
  /** The map tasks whose size has been reported, or will be reported with their attempts. */
  private final BitSet announced = new BitSet();

  AttemptWatch(Sender sender, long[] splitBytes, boolean hasReduces) {
    this.sender = sender;
    this.splitBytes = splitBytes;
    this.hasReduces = hasReduces;
  }

  /**
   * Reports changes in O(attempts) time. Returns false if the outbox was full before the last
   * change.
   */
  boolean poll(Iterable<? extends Task> tasks) {
    for (Task task : tasks) {
      try {
        if (!poll(task)) {
          return false;
        }
      } catch (RuntimeException unknown) {
        TaskLog.warn("cannot read the attempts of a task: " + Reasons.of(unknown));
      }
    }
    return true;
  }

  private boolean poll(Task task) {
    final boolean isMap = task.getType() == TaskType.MAP;
    boolean hasStarted = false;
    boolean runsElsewhere = false;
    TaskAttempt last = null;
    for (TaskAttempt attempt : task.getAttempts().values()) {
      if (!poll(attempt, isMap, runsElsewhere)) {
        return false;
      }
      last = attempt;
      hasStarted |= reported.containsKey(attempt.getID());
      runsElsewhere |= attempt.getState() == TaskAttemptState.RUNNING;
    }
    return (!isMap || announce(task.getID().getId(), hasStarted)) && reportEnd(task, last);
  }

  /** Reports that a task has failed permanently. Returns false if the outbox was full. */
  private boolean reportEnd(Task task, TaskAttempt last) {
    final TaskState state = task.getState();
    final State end = last == null ? null : reported.get(last.getID());
    final boolean hasFailed = state == TaskState.FAILED || state == TaskState.KILLED;
    final boolean isKnown = end == State.FAILED || end == State.KILLED;
    if (!hasFailed || !isKnown || givenUp.contains(task.getID())) {
      return true;
    }
    if (!sender.hasRoom()) {
      return false;
    }
    final boolean isMap = task.getType() == TaskType.MAP;
    final AttemptUpdate update =
        new AttemptUpdate(Attempt.of(isMap, task.getID().getId(), last.getID().getId()), end);
    update.atMillis = last.getFinishTime();
    update.taskFailed = true;
    sender.send(Events.attemptChanged(update));
    givenUp.add(task.getID());
    return true;
  }

  /** Reports the input size of a map task before it runs. */
  private boolean announce(int index, boolean hasStarted) {
    if (announced.get(index)) {
      return true;
    }
    if (!hasStarted && index < splitBytes.length) {
      if (!sender.hasRoom()) {
        return false;
      }
      final AttemptUpdate update = new AttemptUpdate(Attempt.map(index, 0), State.QUEUED);
      update.inputBytes = splitBytes[index];
      sender.send(Events.attemptChanged(update));
    }
    announced.set(index);
    return true;
  }

  private boolean poll(TaskAttempt attempt, boolean isMap, boolean speculative) {
    State step = reported.getOrDefault(attempt.getID(), State.QUEUED);
    if (step == State.OBSOLETE || step == State.FAILED || step == State.KILLED) {
      return true;
    }
    final State now = state(attempt, isMap, step);
    while (step != now) {
      if (!sender.hasRoom()) {
        return false;
      }
      step = next(attempt, isMap, step, now);
      report(attempt, isMap, step, speculative);
    }
    if (isMap && now == State.STARTED && sender.hasRoom()) {
      reportInput(attempt);
    }
    return true;
  }

  /**
   * Reports the input of a map attempt that cannot report it. A map-only task has no collector, and
   * a task with a split of several files counts no bytes.
   */
  private void reportInput(TaskAttempt attempt) {
    final int index = attempt.getID().getTaskId().getId();
    if (index >= splitBytes.length || (hasReduces && countsBytes(attempt))) {
      return;
    }
    final float share = attempt.getProgress() / (hasReduces ? INPUT_SHARE : 1);
    final long bytes = (long) (Math.min(share, 1) * splitBytes[index]);
    if (bytes > bytesReported.getOrDefault(attempt.getID(), 0L)) {
      bytesReported.put(attempt.getID(), bytes);
      final Attempt reporting = Attempt.map(index, attempt.getID().getId());
      sender.send(Events.heartbeat(reporting, bytes, 0, 0));
    }
  }

  private static boolean countsBytes(TaskAttempt attempt) {
    return attempt.getCounters().findCounter(FileInputFormatCounter.BYTES_READ).getValue() > 0;
  }

  /** Returns the first state after {@code step} on the way to {@code now}. */
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

  private void report(TaskAttempt attempt, boolean isMap, State state, boolean speculative) {
    final TaskAttemptId id = attempt.getID();
    final AttemptUpdate update =
        new AttemptUpdate(Attempt.of(isMap, id.getTaskId().getId(), id.getId()), state);
    update.atMillis = instant(attempt, state);
    if (attempt.getNodeId() != null) {
      update.executor = executorOf(attempt);
    }
    update.speculative = speculative;
    if (isMap && id.getTaskId().getId() < splitBytes.length) {
      update.inputBytes = splitBytes[id.getTaskId().getId()];
    }
    if (state == State.FAILED || state == State.KILLED || state == State.OBSOLETE) {
      update.failure = failure(attempt);
    }
    sender.send(Events.attemptChanged(update));
    // Recorded last, so that the next poll retries after an exception.
    reported.put(id, state);
  }

  /** Returns the number of the attempt's container, and reports the container at the first call. */
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
