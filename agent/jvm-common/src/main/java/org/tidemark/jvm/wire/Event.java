package org.tidemark.jvm.wire;

/**
 * An event, encoded but for what only the moment of sending decides: how long the
 * running key group has been running by then. Immutable.
 */
public final class Event {
  /** Which to keep when there is no room for all, the most dispensable first. */
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

  /** The event as it is sent now. */
  public ProtoWriter encoded(long nowNanos) {
    final ProtoWriter whole = new ProtoWriter().append(body);
    if (running != null) {
      running.writeTo(whole, nowNanos);
    }
    return new ProtoWriter().message(field, whole);
  }
}
