package org.tidemark.jvm.wire;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The fields of JobWorkflow in event.proto. Unset fields have their default values. */
public final class WorkflowDescription {
  public final String id;
  public String name;
  public String node;
  /** The names of the nodes that each node waits for, by node. Empty if the graph is unknown. */
  public final Map<String, List<String>> nodes = new TreeMap<>();
  public final List<String> parentJobIds = new ArrayList<>();
  public int quietSeconds;

  public WorkflowDescription(String id) {
    this.id = id;
  }

  ProtoWriter encoded() {
    final ProtoWriter message = new ProtoWriter().text(1, id).text(2, name).text(3, node);
    for (Map.Entry<String, List<String>> entry : nodes.entrySet()) {
      final ProtoWriter encodedNode = new ProtoWriter().text(1, entry.getKey());
      for (String before : entry.getValue()) {
        encodedNode.text(2, before);
      }
      message.message(4, encodedNode);
    }
    for (String parent : parentJobIds) {
      message.text(5, parent);
    }
    return message.uint(6, quietSeconds);
  }
}
