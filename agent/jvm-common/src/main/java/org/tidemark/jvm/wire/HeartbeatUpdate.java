package org.tidemark.jvm.wire;

/** The fields of TaskHeartbeat. Counters are totals since the start of the attempt. */
public final class HeartbeatUpdate {
  public final Attempt attempt;
  public long bytesDone;
  public long recordsDone;
  public long bytesEmitted;
  public TimeUse time = new TimeUse();
  /**
   * True if all input is read before the task's work begins, so the input does not measure
   * progress.
   */
  public boolean isInputReadFirst;

  public HeartbeatUpdate(Attempt attempt) {
    this.attempt = attempt;
  }
}
