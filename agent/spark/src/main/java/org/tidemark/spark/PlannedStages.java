package org.tidemark.spark;

import java.util.Arrays;
import java.util.Locale;

/**
 * Predicts the number of tasks of each stage of a SQL execution, including future stages. The rules
 * equal spark/planned_stages.h, so that live runs and runs read from event logs agree.
 */
final class PlannedStages {
  static final long[] NONE = {};

  private static final int NODES_MAX = 10_000;
  private static final int STAGES_MAX = 1_000;

  private final Members members;
  private final long[] taskCounts = new long[STAGES_MAX];
  private int stages;
  private int nodes;
  private boolean isAdaptive;

  private PlannedStages(Members members) {
    this.members = members;
  }

  /** {@code plan} is a SparkPlanInfo. Returns an empty array if future stages are unknown. */
  static long[] of(Object plan, Members members) {
    final PlannedStages planned = new PlannedStages(members);
    try {
      final boolean isSingle = planned.visit(plan);
      // The last job of a plan that is not adaptive announces the stage of the result.
      if (!planned.isAdaptive && planned.stages > 0) {
        planned.add(isSingle);
      }
    } catch (ReflectiveOperationException anotherVersion) {
      return NONE;
    }
    final boolean isWhole = planned.nodes <= NODES_MAX && planned.stages <= STAGES_MAX;
    return isWhole ? Arrays.copyOf(planned.taskCounts, planned.stages) : NONE;
  }

  /**
   * Returns true if the operators above the node, up to the end of its stage, read a single
   * partition.
   */
  private boolean visit(Object node) throws ReflectiveOperationException {
    if (++nodes > NODES_MAX) {
      return false;
    }
    final int before = stages;
    final boolean wasAdaptive = isAdaptive;
    boolean isSingle = false;
    for (Object child : members.list(node, "children")) {
      isSingle |= visit(child);
    }
    final String name = (String) members.call(node, "nodeName");
    if (name.startsWith("AdaptiveSparkPlan")) {
      isAdaptive = true;
      add(isSingle);
      return false;
    }
    if (hasItsOutput(name)) {
      stages = before;
      isAdaptive = wasAdaptive;
      return isSingle;
    }
    // Plug-ins for other processors have their own exchanges, such as GpuColumnarExchange.
    if (!name.endsWith("Exchange")) {
      return isSingle;
    }
    final String partitioning =
        ((String) members.call(node, "simpleString")).toLowerCase(Locale.ROOT);
    if (partitioning.contains("rangepartitioning")) {
      add(isSingle);
    }
    add(isSingle);
    return partitioning.contains("singlepartition");
  }

  /**
   * Returns true if the operators below this node run for another operator, or ran when their
   * result was cached.
   */
  private static boolean hasItsOutput(String name) {
    return name.startsWith("Reused")
        || name.startsWith("InMemoryTableScan")
        || name.startsWith("Scan In-memory");
  }

  private void add(boolean isSingle) {
    if (stages < STAGES_MAX) {
      taskCounts[stages] = isSingle ? 1 : 0;
    }
    ++stages;
  }
}
