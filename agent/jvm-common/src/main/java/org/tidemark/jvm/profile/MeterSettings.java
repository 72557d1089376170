package org.tidemark.jvm.profile;

/**
 * The settings of measurements, with defaults until the master changes them. Values are
 * independent, so other threads may see a change slightly later. Thread-safe.
 */
public final class MeterSettings {
  private static final int LAMBDA_MAX = 1_000_000;
  private static final int BURST_GROUPS_LIMIT = 1_000_000;
  private static final long FLUSH_NANOS_MIN = 50_000_000L;
  private static final long FLUSH_NANOS_MAX = 60_000_000_000L;

  private volatile long burstThresholdBytes = 50; // [NF] section 6
  private volatile int burstGroupsMax = 100; // [NF] section 6
  private volatile int lambda = 2000; // [NF] section 5.1
  private volatile long namedGroupBytesMin = -1;  // negative to use the burst threshold
  private volatile long flushNanos = 1_000_000_000L;
  private volatile boolean paused;
  private volatile boolean sendPoints;
  private volatile long sampledBelow;

  public long burstThresholdBytes() {
    return burstThresholdBytes;
  }

  public void setBurstThresholdBytes(long bytes) {
    burstThresholdBytes = Math.max(bytes, 0);
  }

  public int burstGroupsMax() {
    return burstGroupsMax;
  }

  public void setBurstGroupsMax(long groups) {
    burstGroupsMax = (int) Math.min(Math.max(groups, 1), BURST_GROUPS_LIMIT);
  }

  public int lambda() {
    return lambda;
  }

  public void setLambda(long keys) {
    lambda = (int) Math.min(Math.max(keys, 1), LAMBDA_MAX);
  }

  /**
   * Returns the smallest size of named groups. By default, all groups that are timed alone have
   * names.
   */
  public long namedGroupBytesMin() {
    final long set = namedGroupBytesMin;
    return set < 0 ? burstThresholdBytes : set;
  }

  public void setNamedGroupBytesMin(long bytes) {
    namedGroupBytesMin = Math.max(bytes, 0);
  }

  public long flushNanos() {
    return flushNanos;
  }

  public void setFlushNanos(long nanos) {
    flushNanos = Math.min(Math.max(nanos, FLUSH_NANOS_MIN), FLUSH_NANOS_MAX);
  }

  /**
   * Returns the unsigned rank below which key groups ({@link KeySampler#rank}) are named regardless
   * of their size.
   */
  public long sampledBelow() {
    return sampledBelow;
  }

  public void setSampledBelow(long rank) {
    sampledBelow = rank;
  }

  /** Returns true if the master requests points in addition to bins. */
  public boolean sendPoints() {
    return sendPoints;
  }

  public void setSendPoints(boolean wanted) {
    sendPoints = wanted;
  }

  /** Returns true if the master requests only attempt changes and exact totals. */
  public boolean paused() {
    return paused;
  }

  public void setPaused(boolean paused) {
    this.paused = paused;
  }
}
