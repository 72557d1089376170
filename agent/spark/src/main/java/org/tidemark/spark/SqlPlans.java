package org.tidemark.spark;

import java.util.Arrays;
import java.util.Map;
import org.tidemark.jvm.report.Latest;

/** The running SQL executions and their plans. Not thread-safe. */
final class SqlPlans {
  static final class Execution {
    /** See {@link org.tidemark.jvm.wire.StageDescription#group}. */
    final String group;
    final String name;
    final long startedMillis;
    /** The names of the plan's nodes. */
    private final String plan;
    /** The number of executions with the same plan so far. */
    private final int occurrence;
    /** See {@link PlannedStages}. */
    private long[] plannedTaskCounts = PlannedStages.NONE;

    private Execution(String id, String name, long startedMillis, String plan, int occurrence) {
      this.group = "sql/" + id;
      this.name = name;
      this.startedMillis = startedMillis;
      this.plan = plan;
      this.occurrence = occurrence;
    }

    long[] plannedTaskCounts() {
      return plannedTaskCounts;
    }
  }

  private static final int NODES_MAX = 10_000;

  private final Members members;
  private final Map<String, Execution> running = new Latest<>();
  private final Map<String, Integer> occurrences = new Latest<>();

  SqlPlans(Members members) {
    this.members = members;
  }

  /** {@code event} is a SparkListenerSQLExecutionStart. */
  Execution started(Object event) throws ReflectiveOperationException {
    final StringBuilder names = new StringBuilder();
    final Object root = members.call(event, "sparkPlanInfo");
    addNames(root, names, new int[] {NODES_MAX});
    final String plan = Signature.ofPlan(names.toString());
    final String id = idOf(event);
    final Execution execution =
        new Execution(
            id,
            GroupName.of((String) members.call(event, "description"), ""),
            (Long) members.call(event, "time"),
            plan,
            occurrences.merge(plan, 1, Integer::sum));
    execution.plannedTaskCounts = PlannedStages.of(root, members);
    running.put(id, execution);
    return execution;
  }

  /**
   * {@code event} is a SparkListenerSQLAdaptiveExecutionUpdate. Returns null if no reported value
   * changes.
   */
  Execution updated(Object event) throws ReflectiveOperationException {
    final Execution execution = running.get(idOf(event));
    if (execution == null) {
      return null;
    }
    final long[] planned = PlannedStages.of(members.call(event, "sparkPlanInfo"), members);
    if (Arrays.equals(planned, execution.plannedTaskCounts)) {
      return null;
    }
    execution.plannedTaskCounts = planned;
    return execution;
  }

  /** {@code event} is a SparkListenerSQLExecutionEnd. Returns the execution's id. */
  String ended(Object event) throws ReflectiveOperationException {
    final String id = idOf(event);
    running.remove(id);
    return id;
  }

  /**
   * Returns the execution's signature for other runs of the application. It consists of the plan
   * and the occurrence.
   */
  String recognisedBy(String executionId) {
    final Execution execution = running.get(executionId);
    return execution == null ? "" : execution.plan + " " + execution.occurrence;
  }

  /** Returns an empty string if the plan is unknown. */
  String planOf(String executionId) {
    final Execution execution = running.get(executionId);
    return execution == null ? "" : execution.plan;
  }

  private String idOf(Object event) throws ReflectiveOperationException {
    return String.valueOf(members.call(event, "executionId"));
  }

  private void addNames(Object node, StringBuilder names, int[] left)
      throws ReflectiveOperationException {
    if (--left[0] < 0) {
      return;
    }
    names.append(members.call(node, "nodeName")).append('(');
    for (Object child : members.list(node, "children")) {
      addNames(child, names, left);
    }
    names.append(')');
  }
}
