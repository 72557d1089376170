package org.tidemark.hadoop;

import org.tidemark.jvm.guard.Guard;

/**
 * The state that all parts of the connector share in a process. The connector is on or off as a
 * whole.
 */
final class Connector {
  static final Guard GUARD = new Guard(TaskLog.LOG);

  private Connector() {}
}
