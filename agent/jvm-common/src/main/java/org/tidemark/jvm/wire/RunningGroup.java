package org.tidemark.jvm.wire;

import org.tidemark.jvm.profile.ReduceMeter;

/** The running call of the reduce function, as in a profile. Immutable. */
final class RunningGroup {
  private static final int RUNNING_GROUP = 18;

  private final ReduceMeter.Running group;
  private final boolean named;

  RunningGroup(ReduceMeter.Running group, boolean named) {
    this.group = group;
    this.named = named && group.isNamed;
  }

  void writeTo(ProtoWriter profile, long nowNanos) {
    final ProtoWriter message = new ProtoWriter();
    if (named) {
      message.fixed64Always(1, group.key);
    }
    message
        .uint(2, Math.max(0, nowNanos - group.startNanos))
        .uint(3, group.bytesRead)
        .uint(4, group.valuesRead)
        .uint(5, group.bytesEmitted);
    profile.message(RUNNING_GROUP, message);
  }
}
