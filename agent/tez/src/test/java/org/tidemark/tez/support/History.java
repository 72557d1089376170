package org.tidemark.tez.support;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.tez.common.ATSConstants;
import org.apache.tez.common.counters.TezCounters;
import org.apache.tez.dag.api.EdgeProperty;
import org.apache.tez.dag.api.oldrecords.TaskAttemptState;
import org.apache.tez.dag.api.records.DAGProtos.DAGPlan;
import org.apache.tez.dag.app.dag.DAGState;
import org.apache.tez.dag.app.dag.VertexState;
import org.apache.tez.dag.history.events.DAGFinishedEvent;
import org.apache.tez.dag.history.events.DAGSubmittedEvent;
import org.apache.tez.dag.history.events.TaskAttemptFinishedEvent;
import org.apache.tez.dag.history.events.TaskAttemptStartedEvent;
import org.apache.tez.dag.history.events.TaskStartedEvent;
import org.apache.tez.dag.history.events.VertexConfigurationDoneEvent;
import org.apache.tez.dag.history.events.VertexFinishedEvent;
import org.apache.tez.dag.history.events.VertexInitializedEvent;
import org.apache.tez.dag.history.events.VertexStartedEvent;
import org.apache.tez.dag.records.TaskAttemptTerminationCause;
import org.apache.tez.dag.records.TezDAGID;
import org.apache.tez.dag.records.TezTaskAttemptID;
import org.apache.tez.dag.records.TezTaskID;
import org.apache.tez.dag.records.TezVertexID;
import org.apache.tez.runtime.api.events.VertexManagerEvent;
import org.apache.tez.runtime.api.impl.EventMetaData.EventProducerConsumerType;
import org.apache.tez.runtime.api.impl.EventMetaData;
import org.apache.tez.runtime.api.impl.TezEvent;

/** Tez's history events of one DAG. */
public final class History {
  public static final long SUBMITTED = 1_700_000_000_000L;
  public static final ApplicationId APPLICATION = ApplicationId.newInstance(SUBMITTED, 7);

  public final TezDAGID dag;

  public History(int dag) {
    this.dag = TezDAGID.getInstance(APPLICATION, dag);
  }

  public static ApplicationAttemptId attemptOfMaster(int attempt) {
    return ApplicationAttemptId.newInstance(APPLICATION, attempt);
  }

  public static ContainerId container(int number) {
    return ContainerId.newContainerId(attemptOfMaster(1), number);
  }

  public TezVertexID vertex(int number) {
    return TezVertexID.getInstance(dag, number);
  }

  public TezTaskAttemptID attempt(int vertex, int task, int attempt) {
    return TezTaskAttemptID.getInstance(TezTaskID.getInstance(vertex(vertex), task), attempt);
  }

  public DAGSubmittedEvent submitted(DAGPlan plan, Configuration conf) {
    return new DAGSubmittedEvent(
        dag, SUBMITTED, plan, attemptOfMaster(1), Collections.emptyMap(), "ann", conf, "", "night");
  }

  public VertexInitializedEvent initialized(int vertex, int tasks, List<TezEvent> splits) {
    return new VertexInitializedEvent(
        vertex(vertex), "", SUBMITTED, SUBMITTED, tasks, "", null, splits, null);
  }

  public VertexConfigurationDoneEvent configured(
      int vertex, int tasks, Map<String, EdgeProperty> edges) {
    return new VertexConfigurationDoneEvent(
        vertex(vertex), SUBMITTED, tasks, null, edges, null, true);
  }

  public VertexStartedEvent started(int vertex, long atMillis) {
    return new VertexStartedEvent(vertex(vertex), atMillis, atMillis);
  }

  public VertexFinishedEvent finished(int vertex, int tasks, int succeeded, VertexState state) {
    return new VertexFinishedEvent(
        vertex(vertex), "", tasks, 0, 0, 0, 0, SUBMITTED + 9, state, "why", new TezCounters(), null,
        Collections.singletonMap(ATSConstants.NUM_SUCCEEDED_TASKS, succeeded), null);
  }

  public TaskStartedEvent scheduled(int vertex, int task, long atMillis) {
    return new TaskStartedEvent(
        TezTaskID.getInstance(vertex(vertex), task), "", atMillis, atMillis);
  }

  public TaskAttemptStartedEvent started(TezTaskAttemptID attempt, int container, long atMillis) {
    return new TaskAttemptStartedEvent(
        attempt, "", atMillis, container(container), NodeId.newInstance("node-1", 45454), "", "",
        "");
  }

  public TaskAttemptFinishedEvent finished(
      TezTaskAttemptID attempt, TezCounters counters, List<TezEvent> output) {
    return ended(attempt, TaskAttemptState.SUCCEEDED, "", counters, output);
  }

  public TaskAttemptFinishedEvent ended(
      TezTaskAttemptID attempt, TaskAttemptState state, String why) {
    return ended(attempt, state, why, new TezCounters(), new ArrayList<>());
  }

  private TaskAttemptFinishedEvent ended(
      TezTaskAttemptID attempt,
      TaskAttemptState state,
      String why,
      TezCounters counters,
      List<TezEvent> output) {
    return new TaskAttemptFinishedEvent(
        attempt, "", SUBMITTED + 3, SUBMITTED + 8, state, null,
        TaskAttemptTerminationCause.UNKNOWN_ERROR, why, counters, null, output, SUBMITTED + 1, null,
        0, null, null, "", "", "");
  }

  public DAGFinishedEvent finished(DAGState state, String why) {
    return new DAGFinishedEvent(
        dag, SUBMITTED, SUBMITTED + 10, state, why, new TezCounters(), "ann", "words",
        Collections.emptyMap(), attemptOfMaster(1), null);
  }

  /** Returns what a task reports to the vertex manager of a consumer. */
  public TezEvent output(int vertex, String name, String consumer, byte[] payload) {
    return new TezEvent(
        VertexManagerEvent.create(consumer, ByteBuffer.wrap(payload)),
        new EventMetaData(
            EventProducerConsumerType.OUTPUT, name, consumer, attempt(vertex, 0, 0)));
  }
}
