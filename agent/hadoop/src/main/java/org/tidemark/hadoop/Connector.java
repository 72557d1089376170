package org.tidemark.hadoop;

import org.tidemark.jvm.guard.Guard;

final class Connector {
  static final Guard GUARD = new Guard(TaskLog.LOG);

  private Connector() {}
}
