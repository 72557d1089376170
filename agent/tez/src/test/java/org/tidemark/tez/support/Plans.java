package org.tidemark.tez.support;

import org.apache.tez.dag.api.records.DAGProtos.DAGPlan;
import org.apache.tez.dag.api.records.DAGProtos.EdgePlan;
import org.apache.tez.dag.api.records.DAGProtos.PlanEdgeDataMovementType;
import org.apache.tez.dag.api.records.DAGProtos.PlanEdgeDataSourceType;
import org.apache.tez.dag.api.records.DAGProtos.PlanEdgeSchedulingType;
import org.apache.tez.dag.api.records.DAGProtos.PlanTaskConfiguration;
import org.apache.tez.dag.api.records.DAGProtos.PlanVertexType;
import org.apache.tez.dag.api.records.DAGProtos.RootInputLeafOutputProto;
import org.apache.tez.dag.api.records.DAGProtos.TezEntityDescriptorProto;
import org.apache.tez.dag.api.records.DAGProtos.VertexPlan;

/** Plans of DAGs as clients submit them. */
public final class Plans {
  private final DAGPlan.Builder plan;

  public Plans(String name) {
    plan = DAGPlan.newBuilder().setName(name);
  }

  /** Returns the builder of the plan. */
  public DAGPlan.Builder builder() {
    return plan;
  }

  /** Adds a vertex with {@code tasks} tasks, or -1 if its splits decide. */
  public Plans vertex(String name, int tasks) {
    final VertexPlan.Builder vertex =
        VertexPlan.newBuilder()
            .setName(name)
            .setType(PlanVertexType.NORMAL)
            .setProcessorDescriptor(
                TezEntityDescriptorProto.newBuilder().setClassName("example." + name))
            .setTaskConfig(
                PlanTaskConfiguration.newBuilder()
                    .setNumTasks(tasks)
                    .setMemoryMb(256)
                    .setVirtualCores(1)
                    .setJavaOpts("")
                    .setTaskModule(name));
    if (tasks < 0) {
      vertex.addInputs(RootInputLeafOutputProto.newBuilder().setName("input"));
    }
    plan.addVertex(vertex);
    return this;
  }

  public Plans edge(String from, String to, PlanEdgeDataMovementType type) {
    final String id = from + "-" + to;
    plan.addEdge(
        EdgePlan.newBuilder()
            .setId(id)
            .setInputVertexName(from)
            .setOutputVertexName(to)
            .setDataMovementType(type)
            .setDataSourceType(PlanEdgeDataSourceType.PERSISTED)
            .setSchedulingType(PlanEdgeSchedulingType.SEQUENTIAL));
    for (VertexPlan.Builder vertex : plan.getVertexBuilderList()) {
      if (vertex.getName().equals(from)) {
        vertex.addOutEdgeId(id);
      } else if (vertex.getName().equals(to)) {
        vertex.addInEdgeId(id);
      }
    }
    return this;
  }

  public DAGPlan build() {
    return plan.build();
  }

  /** Returns a plan that counts words: the vertices tokens (-1 tasks), sums (4) and sorted (1). */
  public static Plans wordCount() {
    return new Plans("words")
        .vertex("tokens", -1)
        .vertex("sums", 4)
        .vertex("sorted", 1)
        .edge("tokens", "sums", PlanEdgeDataMovementType.SCATTER_GATHER)
        .edge("sums", "sorted", PlanEdgeDataMovementType.SCATTER_GATHER);
  }
}
