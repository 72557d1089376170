package org.tidemark.jvm.wire;

/** The fields of TaskHeartbeat. Counters are totals since the start of the attempt. */
public final class HeartbeatUpdate {
  public final Attempt attempt;
  public long bytesDone;
  public long recordsDone;
  public long bytesEmitted;
  public TimeUse time = new TimeUse();
  /**
   * True if the task reads all its input before its actual work, so that the input does not measure
   * progress.
   */
  public boolean isInputReadFirst;

  public HeartbeatUpdate(Attempt attempt) {
    this.attempt = attempt;
  }
}
