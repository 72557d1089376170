package org.tidemark.jvm.wire;

/**
 * Processor time and waits of an attempt, as totals since its start. Negative values are unknown.
 */
public final class TimeUse {
  public long cpuMicros = -1;
  public long schedulerWaitMicros = -1;
  public long processorWaitMicros = -1;
  public long memoryWaitMicros = -1;
  public long networkWaitMicros = -1;
  public long ioWaitMicros = -1;
  public long scanWaitMicros = -1;
  /** The bytes moved during the network, I/O and scan waits. */
  public long networkBytes = -1;
  public long ioBytes = -1;
  public long scanBytes = -1;

  /** Writes to a TaskHeartbeat or a TimeUse of event.proto, whose fields have the same numbers. */
  void addTo(ProtoWriter body) {
    add(body, 5, cpuMicros);
    add(body, 6, schedulerWaitMicros);
    add(body, 7, processorWaitMicros);
    add(body, 8, memoryWaitMicros);
    add(body, 9, networkWaitMicros);
    add(body, 10, ioWaitMicros);
    add(body, 12, networkBytes);
    add(body, 13, ioBytes);
    add(body, 14, scanWaitMicros);
    add(body, 15, scanBytes);
  }

  private static void add(ProtoWriter body, int field, long value) {
    if (value >= 0) {
      body.uintAlways(field, value);
    }
  }
}
