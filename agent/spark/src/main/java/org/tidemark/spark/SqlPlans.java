package org.tidemark.spark;

import java.util.Map;

/**
 * By what the SQL executions that run now are recognised in another run of the application: the names
 * of the nodes of their plans, and how many with the same plan there were before. Not thread-safe.
 */
final class SqlPlans {
  private static final int NODES_MAX = 10_000;

  private final Members members;
  private final Map<String, String> running = new Latest<>();
  private final Map<String, Integer> occurrences = new Latest<>();

  SqlPlans(Members members) {
    this.members = members;
  }

  /** {@code event}: a SparkListenerSQLExecutionStart. */
  void started(Object event) throws ReflectiveOperationException {
    final StringBuilder names = new StringBuilder();
    addNames(members.call(event, "sparkPlanInfo"), names, new int[] {NODES_MAX});
    final String plan = Signature.ofPlan(names.toString());
    running.put(
        String.valueOf(members.call(event, "executionId")),
        plan + " " + occurrences.merge(plan, 1, Integer::sum));
  }

  /** {@code event}: a SparkListenerSQLExecutionEnd; returns the execution's id. */
  String ended(Object event) throws ReflectiveOperationException {
    final String id = String.valueOf(members.call(event, "executionId"));
    running.remove(id);
    return id;
  }

  String recognisedBy(String executionId) {
    return running.getOrDefault(executionId, "");
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
