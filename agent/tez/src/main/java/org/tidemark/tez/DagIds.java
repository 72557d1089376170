package org.tidemark.tez;

import java.lang.reflect.Method;
import org.apache.tez.dag.history.DAGHistoryEvent;
import org.apache.tez.dag.records.TezDAGID;

/** Reads the DAG of an event. The method was renamed in Tez 0.10.2. */
final class DagIds {
  private static final Method GETTER = getter();

  private DagIds() {}

  /** Returns null if the event belongs to no DAG. */
  static TezDAGID of(DAGHistoryEvent event) throws ReflectiveOperationException {
    return (TezDAGID) GETTER.invoke(event);
  }

  private static Method getter() {
    for (String name : new String[] {"getDAGID", "getDagID"}) {
      try {
        return DAGHistoryEvent.class.getMethod(name);
      } catch (NoSuchMethodException ofAnotherVersion) {
        // The next name is tried.
      }
    }
    throw new NoSuchMethodError("DAGHistoryEvent.getDAGID");
  }
}
