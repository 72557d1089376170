package org.tidemark.jvm.wire;

/**
 * What TaskHeartbeat says. Counters are totals since the start of the attempt; those below zero are
 * not known.
 */
public final class HeartbeatNews {
  public final Attempt attempt;
  public long bytesDone;
  public long recordsDone;
  public long bytesEmitted;
  public long cpuMicros = -1;
  public long schedulerWaitMicros = -1;
  public long processorWaitMicros = -1;
  public long memoryWaitMicros = -1;
  public long networkWaitMicros = -1;
  public long ioWaitMicros = -1;
  /** What was moved while these two were waited for. */
  public long networkBytes = -1;
  public long ioBytes = -1;
  /** What was read says nothing of how far the task is: all is read before its work begins. */
  public boolean isInputReadFirst;

  public HeartbeatNews(Attempt attempt) {
    this.attempt = attempt;
  }
}
