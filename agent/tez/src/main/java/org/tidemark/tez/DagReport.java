package org.tidemark.tez;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.tez.common.ATSConstants;
import org.apache.tez.common.counters.TaskCounter;
import org.apache.tez.dag.api.EdgeProperty;
import org.apache.tez.dag.api.oldrecords.TaskAttemptState;
import org.apache.tez.dag.api.records.DAGProtos.DAGPlan;
import org.apache.tez.dag.api.records.DAGProtos.PlanEdgeDataMovementType;
import org.apache.tez.dag.app.dag.DAGState;
import org.apache.tez.dag.app.dag.VertexState;
import org.apache.tez.dag.history.HistoryEvent;
import org.apache.tez.dag.history.events.DAGFinishedEvent;
import org.apache.tez.dag.history.events.TaskAttemptFinishedEvent;
import org.apache.tez.dag.history.events.TaskAttemptStartedEvent;
import org.apache.tez.dag.history.events.TaskStartedEvent;
import org.apache.tez.dag.history.events.VertexConfigurationDoneEvent;
import org.apache.tez.dag.history.events.VertexFinishedEvent;
import org.apache.tez.dag.history.events.VertexInitializedEvent;
import org.apache.tez.dag.history.events.VertexStartedEvent;
import org.apache.tez.dag.records.TezTaskAttemptID;
import org.apache.tez.dag.records.TezTaskID;
import org.apache.tez.dag.records.TezVertexID;
import org.apache.tez.runtime.api.events.VertexManagerEvent;
import org.apache.tez.runtime.api.impl.TezEvent;
import org.tidemark.jvm.report.CurrentState;
import org.tidemark.jvm.wire.Attempt;
import org.tidemark.jvm.wire.AttemptUpdate;
import org.tidemark.jvm.wire.Event;
import org.tidemark.jvm.wire.Events;
import org.tidemark.jvm.wire.HeartbeatUpdate;
import org.tidemark.jvm.wire.JobDescription;
import org.tidemark.jvm.wire.ProtoReader;
import org.tidemark.jvm.wire.StageDescription;

/**
 * Converts the history events of one DAG to events for the master. Each vertex is a stage. Tez
 * calls these methods while it holds the locks of vertices and attempts, so they must not call
 * Tez's vertices or wait. Thread-safe.
 */
final class DagReport {
  /** A running attempt. */
  static final class Running {
    final TezTaskAttemptID id;
    final Attempt attempt;
    /** The largest reported amount, since reports never shrink. Guarded by the report. */
    private long bytesDone;

    Running(TezTaskAttemptID id, Attempt attempt) {
      this.id = id;
      this.attempt = attempt;
    }
  }

  private static final int FAILURE_CHARS_MAX = 1_000;
  private static final long MICROS_PER_MILLI = 1_000;

  /** The field with the consecutive partitions of a task in ShuffleEdgeManagerConfigPayloadProto. */
  private static final int BASE_PARTITION_RANGE = 3;

  private static final String SHUFFLE_MANAGER =
      "org.apache.tez.dag.library.vertexmanager.ShuffleVertexManager";

  private final Consumer<Event> master;
  private final List<VertexReport> vertices;
  private final Map<String, Integer> numbers = new HashMap<>();
  /** True if this process may have missed events of attempts. */
  private final boolean isIncomplete;
  private final CurrentState currentState = new CurrentState();
  private final Map<ContainerId, Integer> executors = new HashMap<>();
  private int executorCount;
  private final Map<TezTaskAttemptID, Running> running = new LinkedHashMap<>();
  /** The number of running attempts at each task. */
  private final Map<TezTaskID, Integer> runningOfTasks = new HashMap<>();
  private final Set<TezTaskAttemptID> finished = new HashSet<>();
  private final Set<TezTaskID> finishedTasks = new HashSet<>();
  /** By source and consumer. */
  private final Map<List<Integer>, EdgeOutput> outputs = new HashMap<>();
  /** The consecutive partitions that a task reads, by source and consumer. */
  private final Map<List<Integer>, Integer> ranges = new HashMap<>();
  private boolean isOver;

  /**
   * Reports the DAG and its vertices. {@code isIncomplete} is true if an earlier application master
   * has run a part of the DAG, or if Tez filters the events of attempts.
   */
  DagReport(DAGPlan plan, JobDescription job, boolean isIncomplete, Consumer<Event> master) {
    this.master = master;
    this.isIncomplete = isIncomplete;
    vertices = DagDescription.vertices(plan, Math.max(job.masterAttempt, 1));
    for (VertexReport vertex : vertices) {
      job.stages.add(vertex.announce());
    }
    final Event opened = Events.jobOpened(job);
    currentState.jobOpened(opened);
    master.accept(opened);
    for (VertexReport vertex : vertices) {
      numbers.put(vertex.name, vertex.number);
      report(vertex);
    }
  }

  synchronized void report(HistoryEvent event) throws IOException {
    switch (event.getEventType()) {
      case VERTEX_INITIALIZED:
        initialized((VertexInitializedEvent) event);
        break;
      case VERTEX_CONFIGURE_DONE:
        configured((VertexConfigurationDoneEvent) event);
        break;
      case VERTEX_STARTED:
        started((VertexStartedEvent) event);
        break;
      case VERTEX_FINISHED:
        ended((VertexFinishedEvent) event);
        break;
      case TASK_STARTED:
        queued((TaskStartedEvent) event);
        break;
      case TASK_ATTEMPT_STARTED:
        started((TaskAttemptStartedEvent) event);
        break;
      case TASK_ATTEMPT_FINISHED:
        ended((TaskAttemptFinishedEvent) event);
        break;
      case DAG_FINISHED:
        ended((DAGFinishedEvent) event);
        break;
      default:
        break;
    }
  }

  synchronized boolean isOver() {
    return isOver;
  }

  boolean isIncomplete() {
    return isIncomplete;
  }

  /** Sets the number of tasks of a vertex, which an earlier application master may have changed. */
  synchronized void configured(int number, int tasks) {
    final VertexReport vertex = number < vertices.size() ? vertices.get(number) : null;
    if (vertex != null && vertex.setTasks(tasks)) {
      report(vertex);
    }
  }

  /** Reports the splits of a vertex. {@code bytes} may be null. May be called late. */
  synchronized void splits(int vertex, long[] bytes) {
    if (!isOver && vertices.get(vertex).setTaskBytes(bytes, StageDescription.Precision.EXACT)) {
      report(vertices.get(vertex));
    }
  }

  /** Returns true if a finished attempt at the task has been reported. */
  synchronized boolean hasFinished(TezTaskID task) {
    return finishedTasks.contains(task);
  }

  /** Reports a finished attempt whose events an earlier application master received. */
  synchronized void recovered(
      TezTaskAttemptID id, long startMillis, long finishMillis, CounterValues counters) {
    final Attempt attempt = attemptOf(id);
    if (isOver || attempt == null || !finishedTasks.add(id.getTaskID())) {
      return;
    }
    finished.add(id);
    final AttemptUpdate start = new AttemptUpdate(attempt, Events.State.STARTED);
    start.atMillis = startMillis;
    report(start);
    final AttemptUpdate end = new AttemptUpdate(attempt, Events.State.FINISHED);
    end.atMillis = finishMillis;
    addInput(end, counters);
    report(end);
  }

  /** Records that a container has stopped, with all of its attempts. */
  synchronized void containerStopped(ContainerId container) {
    final Integer number = executors.remove(container);
    if (number != null && !isOver) {
      currentState.executorClosed(number);
      master.accept(Events.executorClosed(number));
    }
  }

  /** Reports the current state again if events were dropped since the last call. */
  void reportAfterDrops(long dropped) {
    currentState.reportAfterDrops(dropped, master);
  }

  synchronized List<Running> running() {
    return new ArrayList<>(running.values());
  }

  /** Reports the progress of an attempt that still runs. */
  synchronized void progressed(Running one, HeartbeatUpdate update) {
    if (running.get(one.id) == one) {
      one.bytesDone = Math.max(one.bytesDone, update.bytesDone);
      update.bytesDone = one.bytesDone;
      master.accept(Events.heartbeat(update));
    }
  }

  /** Returns the input of a task in bytes, or a negative number if it is unknown. */
  synchronized long bytesOf(Attempt attempt) {
    return vertices.get(attempt.stage).bytesOf(attempt.index);
  }

  private VertexReport vertexOf(TezVertexID id) {
    return id.getId() < vertices.size() ? vertices.get(id.getId()) : null;
  }

  private void report(VertexReport vertex) {
    final Event opened = Events.stageOpened(vertex.describe());
    currentState.stageOpened(vertex.number, opened);
    master.accept(opened);
  }

  private void report(AttemptUpdate update) {
    final Event changed = Events.attemptChanged(update);
    currentState.attemptChanged(update, changed);
    master.accept(changed);
  }

  private void initialized(VertexInitializedEvent event) {
    configured(event.getVertexID().getId(), event.getNumTasks());
  }

  private void configured(VertexConfigurationDoneEvent event) {
    final VertexReport vertex = vertexOf(event.getVertexID());
    if (vertex == null) {
      return;
    }
    if (event.getSourceEdgeProperties() != null) {
      for (Map.Entry<String, EdgeProperty> edge : event.getSourceEdgeProperties().entrySet()) {
        final Integer source = numbers.get(edge.getKey());
        final int range = rangeOf(edge.getValue());
        if (source != null && range > 0) {
          ranges.put(Arrays.asList(source, vertex.number), range);
        }
      }
    }
    configured(vertex.number, event.getNumTasks());
    reportSizes(vertex);
  }

  /** Returns the consecutive partitions that a task reads from an edge, or 0 if unknown. */
  private static int rangeOf(EdgeProperty edge) {
    if (edge == null
        || edge.getEdgeManagerDescriptor() == null
        || !edge.getEdgeManagerDescriptor().getClassName().startsWith(SHUFFLE_MANAGER)
        || edge.getEdgeManagerDescriptor().getUserPayload() == null
        || edge.getEdgeManagerDescriptor().getUserPayload().getPayload() == null) {
      return 0;
    }
    final byte[] config = copyOf(edge.getEdgeManagerDescriptor().getUserPayload().getPayload());
    for (ProtoReader reader = new ProtoReader(config); reader.next(); ) {
      if (reader.field() == BASE_PARTITION_RANGE) {
        return (int) Math.max(reader.value(), 0);
      }
    }
    return 0;
  }

  private void started(VertexStartedEvent event) {
    final VertexReport vertex = vertexOf(event.getVertexID());
    if (vertex != null) {
      vertex.started(event.getStartTime());
      report(vertex);
    }
  }

  /**
   * Reports the end of a vertex only if the ends of its tasks do not show it. A closed vertex could
   * not run again after its output was lost.
   */
  private void ended(VertexFinishedEvent event) {
    final VertexReport vertex = vertexOf(event.getVertexID());
    if (vertex == null) {
      return;
    }
    final boolean succeeded = event.getState() == VertexState.SUCCEEDED;
    final Integer done =
        event.getVertexTaskStats() == null
            ? null
            : event.getVertexTaskStats().get(ATSConstants.NUM_SUCCEEDED_TASKS);
    final int tasks = event.getNumTasks();
    if (succeeded && tasks > 0 && done != null && done >= tasks) {
      return;
    }
    final Event closed =
        Events.stageClosed(
            vertex.number,
            vertex.attempt(),
            outcomeOf(event.getState().name()),
            succeeded ? null : firstOf(event.getDiagnostics()),
            event.getFinishTime());
    currentState.stageClosed(vertex.number, closed);
    master.accept(closed);
  }

  private void queued(TaskStartedEvent event) {
    final VertexReport vertex = vertexOf(event.getTaskID().getVertexID());
    if (vertex != null && !isIncomplete) {
      final AttemptUpdate update =
          new AttemptUpdate(
              new Attempt(vertex.number, vertex.attempt(), event.getTaskID().getId(), 0),
              Events.State.QUEUED);
      update.atMillis = event.getScheduledTime();
      update.inputBytes = vertex.bytesOf(event.getTaskID().getId());
      report(update);
    }
  }

  private Attempt attemptOf(TezTaskAttemptID id) {
    final TezTaskID task = id.getTaskID();
    final VertexReport vertex = vertexOf(task.getVertexID());
    return vertex == null
        ? null
        : new Attempt(vertex.number, vertex.attempt(), task.getId(), id.getId());
  }

  private void started(TaskAttemptStartedEvent event) {
    final TezTaskAttemptID id = event.getTaskAttemptID();
    final Attempt attempt = attemptOf(id);
    if (attempt == null) {
      return;
    }
    final AttemptUpdate update = new AttemptUpdate(attempt, Events.State.STARTED);
    update.atMillis = event.getStartTime();
    update.executor = executor(event.getContainerId(), event.getNodeId());
    update.speculative = runningOfTasks.containsKey(id.getTaskID());
    update.inputBytes = vertices.get(attempt.stage).bytesOf(attempt.index);
    report(update);
    if (running.put(id, new Running(id, attempt)) == null) {
      runningOfTasks.merge(id.getTaskID(), 1, Integer::sum);
    }
  }

  private void ended(TaskAttemptFinishedEvent event) throws IOException {
    final TezTaskAttemptID id = event.getTaskAttemptID();
    final Attempt attempt = attemptOf(id);
    if (attempt == null) {
      return;
    }
    final Running before = running.remove(id);
    if (before != null) {
      runningOfTasks.computeIfPresent(id.getTaskID(), (task, n) -> n > 1 ? n - 1 : null);
    }
    final AttemptUpdate update = new AttemptUpdate(attempt, stateAfter(event));
    if (update.state == Events.State.FINISHED) {
      finished.add(id);
      finishedTasks.add(id.getTaskID());
      final CounterValues counters = new CounterValues(event.getCounters());
      addInput(update, counters);
      reportTimes(attempt, counters, event, before == null ? 0 : before.bytesDone);
    } else {
      if (finished.remove(id)) {
        finishedTasks.remove(id.getTaskID());
      }
      update.failure = firstOf(event.getDiagnostics());
    }
    if (update.state != Events.State.OBSOLETE) {
      update.atMillis = event.getFinishTime();
    }
    report(update);
    if (update.state == Events.State.FINISHED) {
      addOutput(attempt, event.getTAGeneratedEvents());
    }
  }

  private static void addInput(AttemptUpdate update, CounterValues counters) {
    update.inputBytes = counters.inputBytes();
    update.inputRecords = counters.inputRecords();
  }

  private Events.State stateAfter(TaskAttemptFinishedEvent event) {
    if (event.getState() == TaskAttemptState.SUCCEEDED) {
      return Events.State.FINISHED;
    }
    if (finished.contains(event.getTaskAttemptID())) {
      return Events.State.OBSOLETE;
    }
    return event.getState() == TaskAttemptState.FAILED
        ? Events.State.FAILED
        : Events.State.KILLED;
  }

  private void reportTimes(
      Attempt attempt, CounterValues counters, TaskAttemptFinishedEvent event, long bytesBefore) {
    final HeartbeatUpdate update = new HeartbeatUpdate(attempt);
    update.bytesDone = Math.max(counters.inputBytes(), bytesBefore);
    update.recordsDone = Math.max(counters.inputRecords(), 0);
    update.bytesEmitted = Math.max(counters.of(TaskCounter.OUTPUT_BYTES), 0);
    addTimes(update, counters);
    if (event.getCreationTime() > 0 && event.getStartTime() >= event.getCreationTime()) {
      update.time.schedulerWaitMicros =
          (event.getStartTime() - event.getCreationTime()) * MICROS_PER_MILLI;
    }
    master.accept(Events.heartbeat(update));
  }

  static void addTimes(HeartbeatUpdate update, CounterValues counters) {
    final long processorMillis = counters.of(TaskCounter.CPU_MILLISECONDS);
    final long collectionMillis = counters.of(TaskCounter.GC_TIME_MILLIS);
    update.time.cpuMicros = processorMillis < 0 ? -1 : processorMillis * MICROS_PER_MILLI;
    update.time.memoryWaitMicros = collectionMillis < 0 ? -1 : collectionMillis * MICROS_PER_MILLI;
  }

  private void addOutput(Attempt attempt, List<TezEvent> events) throws IOException {
    final Map<Integer, List<byte[]>> payloads = new HashMap<>();
    for (TezEvent event : events == null ? new ArrayList<TezEvent>() : events) {
      if (event.getEvent() instanceof VertexManagerEvent) {
        final VertexManagerEvent message = (VertexManagerEvent) event.getEvent();
        final Integer consumer = numbers.get(message.getTargetVertexName());
        if (consumer != null && message.getUserPayload() != null) {
          payloads
              .computeIfAbsent(consumer, none -> new ArrayList<>())
              .add(copyOf(message.getUserPayload()));
        }
      }
    }
    for (Map.Entry<Integer, List<byte[]>> entry : payloads.entrySet()) {
      final EdgeOutput output =
          outputs.computeIfAbsent(
              Arrays.asList(attempt.stage, entry.getKey()), none -> new EdgeOutput());
      output.add(attempt.index, entry.getValue());
      if (output.isOf(vertices.get(attempt.stage).tasks())) {
        reportSizes(vertices.get(entry.getKey()));
      }
    }
  }

  /** Reports the input sizes of the tasks of a vertex as soon as all of its sources have ended. */
  private void reportSizes(VertexReport vertex) {
    if (vertex.hasRootInputs || vertex.sources.isEmpty() || vertex.tasks() <= 0) {
      return;
    }
    final long[] bytes = new long[vertex.tasks()];
    boolean isPrecise = true;
    for (Map.Entry<Integer, PlanEdgeDataMovementType> source : vertex.sources.entrySet()) {
      final List<Integer> edge = Arrays.asList(source.getKey(), vertex.number);
      final EdgeOutput output = outputs.get(edge);
      if (output == null || !output.isOf(vertices.get(source.getKey()).tasks())) {
        return;
      }
      final long[] shares;
      if (source.getValue() == PlanEdgeDataMovementType.SCATTER_GATHER) {
        shares = output.byConsumer(bytes.length, ranges.getOrDefault(edge, 0));
        isPrecise &= output.isPrecise();
      } else if (source.getValue() == PlanEdgeDataMovementType.BROADCAST) {
        shares = new long[bytes.length];
        Arrays.fill(shares, output.bytes());
      } else {
        return;
      }
      for (int task = 0; task < bytes.length; ++task) {
        bytes[task] += shares[task];
      }
    }
    if (vertex.setTaskBytes(
        bytes,
        isPrecise ? StageDescription.Precision.ROUNDED : StageDescription.Precision.ESTIMATED)) {
      report(vertex);
    }
  }

  private void ended(DAGFinishedEvent event) {
    isOver = true;
    running.clear();
    finished.clear();
    finishedTasks.clear();
    outputs.clear();
    final boolean succeeded = event.getState() == DAGState.SUCCEEDED;
    master.accept(
        Events.jobClosed(
            outcomeOf(event.getState().name()),
            succeeded ? null : firstOf(event.getDiagnostics()),
            event.getFinishTime()));
  }

  private static Events.Outcome outcomeOf(String state) {
    switch (state) {
      case "SUCCEEDED":
        return Events.Outcome.SUCCEEDED;
      case "KILLED":
        return Events.Outcome.KILLED;
      default:
        return Events.Outcome.FAILED;
    }
  }

  /** Returns the number of a container, and reports the container at the first call. */
  private int executor(ContainerId container, NodeId node) {
    if (container == null) {
      return -1;
    }
    final Integer known = executors.get(container);
    if (known != null) {
      return known;
    }
    final int number = executorCount++;
    final Event opened =
        Events.executorOpened(
            number, node == null ? "" : node.getHost(), "", container.toString(), 1);
    currentState.executorOpened(number, opened);
    master.accept(opened);
    executors.put(container, number);
    return number;
  }

  private static String firstOf(String diagnostics) {
    return diagnostics == null
        ? ""
        : diagnostics.substring(0, Math.min(diagnostics.length(), FAILURE_CHARS_MAX));
  }

  private static byte[] copyOf(ByteBuffer buffer) {
    final ByteBuffer rest = buffer.duplicate();
    final byte[] bytes = new byte[rest.remaining()];
    rest.get(bytes);
    return bytes;
  }
}
