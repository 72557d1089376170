package org.tidemark.tez;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.tez.dag.api.records.DAGProtos.DAGPlan;
import org.apache.tez.dag.api.records.DAGProtos.EdgePlan;
import org.tidemark.jvm.wire.Deadline;
import org.tidemark.jvm.wire.JobDescription;
import org.tidemark.jvm.wire.WorkflowDescription;

/** Describes a DAG as a job, from its plan and its configuration. */
final class DagDescription {
  private static final int NAME_CHARS_MAX = 500;
  private static final String HIVE = "HIVE";

  /** The end of an id that differs in every run, such as a date. It begins before a digit. */
  private static final Pattern RUN_NUMBER = Pattern.compile("[-_.:]*\\d[-_.:\\dT]*Z?$");

  private DagDescription() {}

  /** Throws IllegalArgumentException for an invalid setting. */
  static JobDescription of(DAGPlan plan, Configuration conf) {
    final JobDescription job = new JobDescription("tez");
    job.name = nameOf(plan);
    job.deadlineMillis = Deadline.millis(Keys.DEADLINE, conf.getTrimmed(Keys.DEADLINE, ""));
    job.workflow = workflowOf(conf, job.name);
    return job;
  }

  /** Returns the vertices in the order of the plan, which is the order of their numbers. */
  static List<VertexReport> vertices(DAGPlan plan, int masterAttempt) {
    final Map<String, Integer> numbers = new HashMap<>();
    for (int i = 0; i < plan.getVertexCount(); ++i) {
      numbers.put(plan.getVertex(i).getName(), i);
    }
    final Map<String, EdgePlan> edges = new HashMap<>();
    for (EdgePlan edge : plan.getEdgeList()) {
      edges.put(edge.getId(), edge);
    }
    final List<VertexReport> vertices = new ArrayList<>();
    for (int i = 0; i < plan.getVertexCount(); ++i) {
      final List<EdgePlan> inputs = new ArrayList<>();
      for (String id : plan.getVertex(i).getInEdgeIdList()) {
        final EdgePlan edge = edges.get(id);
        if (edge != null && numbers.containsKey(edge.getInputVertexName())) {
          inputs.add(edge);
        }
      }
      vertices.add(new VertexReport(i, plan.getVertex(i), inputs, numbers, masterAttempt));
    }
    return vertices;
  }

  /**
   * Returns a name that is equal in every run. Hive names its DAGs by ids that differ in every run,
   * but adds the query.
   */
  private static String nameOf(DAGPlan plan) {
    final boolean isOfHive =
        plan.hasCallerContext() && HIVE.equals(plan.getCallerContext().getContext());
    final String query = isOfHive ? plan.getCallerContext().getBlob().trim() : "";
    final String name = query.isEmpty() ? plan.getName() : query.replaceAll("\\s+", " ");
    return name.substring(0, Math.min(name.length(), NAME_CHARS_MAX));
  }

  /** Returns null if the user names no workflow. */
  private static WorkflowDescription workflowOf(Configuration conf, String dagName) {
    final String id = conf.getTrimmed(Keys.WORKFLOW_ID, "");
    if (id.isEmpty()) {
      return null;
    }
    final WorkflowDescription workflow = new WorkflowDescription(id);
    final String withoutRun = RUN_NUMBER.matcher(id).replaceFirst("");
    workflow.name = conf.getTrimmed(Keys.WORKFLOW_NAME, withoutRun.isEmpty() ? id : withoutRun);
    workflow.node = dagName;
    workflow.quietSeconds = Math.max(conf.getInt(Keys.WORKFLOW_QUIET_SECONDS, 0), 0);
    return workflow;
  }
}
