package org.tidemark.hadoop;

import org.tidemark.hadoop.guard.Guard;

/** The connector in this process, which is on or off as a whole. */
final class Connector {
  static final Guard GUARD = new Guard(TaskLog.LOG);

  private Connector() {}
}
