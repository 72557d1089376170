package org.tidemark.tez;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.tez.dag.api.records.DAGProtos.EdgePlan;
import org.apache.tez.dag.api.records.DAGProtos.PlanEdgeDataMovementType;
import org.apache.tez.dag.api.records.DAGProtos.VertexPlan;
import org.tidemark.jvm.profile.KeyHash;
import org.tidemark.jvm.wire.StageDescription;

/**
 * A vertex as reported to the master: a stage whose number is the vertex's place in the plan. If a
 * vertex changes its parallelism or a new application master continues the DAG, a new attempt at the
 * stage replaces the earlier description. Not thread-safe.
 */
final class VertexReport {
  /**
   * Number of stage attempts reserved for each application master. Tez's vertex managers change the
   * parallelism of a vertex once or twice.
   */
  private static final int CHANGES_MAX = 4;

  final int number;
  final String name;
  /** True if tasks read data from outside the DAG. */
  final boolean hasRootInputs;
  /** The edges to this vertex, by source. */
  final Map<Integer, PlanEdgeDataMovementType> sources = new HashMap<>();
  private final long[] parents;
  private final String signature;
  /** Negative if unknown. */
  private int tasks;
  private int attempt;
  private long startedMillis;
  private long[] taskBytes = {};
  private StageDescription.Precision precision = StageDescription.Precision.UNSPECIFIED;

  /**
   * {@code numbers} contains the number of each vertex, by name. {@code masterAttempt} is the attempt
   * of the application master, from 1.
   */
  VertexReport(
      int number,
      VertexPlan plan,
      List<EdgePlan> inputs,
      Map<String, Integer> numbers,
      int masterAttempt) {
    this.number = number;
    attempt = (masterAttempt - 1) * CHANGES_MAX;
    name = plan.getName();
    hasRootInputs = plan.getInputsCount() > 0;
    tasks = plan.getTaskConfig().getNumTasks();
    final StringBuilder identity =
        new StringBuilder(name).append('\n').append(plan.getProcessorDescriptor().getClassName());
    for (EdgePlan edge : inputs) {
      sources.put(numbers.get(edge.getInputVertexName()), edge.getDataMovementType());
      identity.append('\n').append(edge.getInputVertexName()).append(edge.getDataMovementType());
    }
    parents = sources.keySet().stream().mapToLong(source -> source).sorted().toArray();
    final byte[] text = identity.toString().getBytes(StandardCharsets.UTF_8);
    signature = String.format("%016x", KeyHash.of(text, 0, text.length));
  }

  int tasks() {
    return tasks;
  }

  int attempt() {
    return attempt;
  }

  /** Returns true if the description has changed. */
  boolean setTasks(int count) {
    if (count < 0 || count == tasks) {
      return false;
    }
    if (tasks >= 0) {
      ++attempt;
      taskBytes = new long[0];
    }
    tasks = count;
    return true;
  }

  void started(long atMillis) {
    startedMillis = atMillis;
  }

  /** Returns true if the description has changed. The first sizes of an attempt stay valid. */
  boolean setTaskBytes(long[] bytes, StageDescription.Precision exactness) {
    if (bytes == null || bytes.length == 0 || bytes.length != tasks || taskBytes.length > 0) {
      return false;
    }
    taskBytes = bytes;
    precision = exactness;
    return true;
  }

  /** Returns the input of a task in bytes, or a negative number if it is unknown. */
  long bytesOf(int task) {
    return task < taskBytes.length ? taskBytes[task] : -1;
  }

  /**
   * Returns a stage without details, with which the job announces its vertices. If a stage appears
   * that was not announced, the master expects further stages.
   */
  StageDescription announce() {
    final StageDescription stage =
        new StageDescription(number, StageDescription.Kind.GENERIC);
    stage.attempt = attempt;
    return stage;
  }

  StageDescription describe() {
    final StageDescription stage = announce();
    stage.name = name;
    stage.signature = signature;
    stage.parents = parents;
    stage.tasks = tasks;
    stage.openedMillis = startedMillis;
    stage.taskBytes = taskBytes;
    stage.precision = precision;
    return stage;
  }
}
