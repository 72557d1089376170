package org.tidemark.jvm.wire;

/** What TaskHeartbeat says. Counters are totals since the start of the attempt. */
public final class HeartbeatNews {
  public final Attempt attempt;
  public long bytesDone;
  public long recordsDone;
  public long bytesEmitted;
  public TimeUse time = new TimeUse();
  /** What was read says nothing of how far the task is: all is read before its work begins. */
  public boolean isInputReadFirst;

  public HeartbeatNews(Attempt attempt) {
    this.attempt = attempt;
  }
}
