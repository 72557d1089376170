package org.tidemark.jvm.wire;

/**
 * An encoded event, except for the elapsed time of the running key group, which depends on the time
 * of sending. Immutable.
 */
public final class Event {
  /**
   * The order in which events are dropped if the buffer is full. The first value is dropped first.
   */
  public enum Importance {
    PROFILE,
    ATTEMPT,
    JOB
  }

  public final Importance importance;
  public final int sizeBytes;
  private final int field;
  private final byte[] body;
  private final RunningGroup running;

  Event(Importance importance, int field, ProtoWriter body, RunningGroup running) {
    this.importance = importance;
    this.field = field;
    this.body = body.toByteArray();
    this.running = running;
    sizeBytes = this.body.length + 128;
  }

  /** Returns the event as encoded for sending now. */
  public ProtoWriter encoded(long nowNanos) {
    final ProtoWriter whole = new ProtoWriter().append(body);
    if (running != null) {
      running.writeTo(whole, nowNanos);
    }
    return new ProtoWriter().message(field, whole);
  }
}
