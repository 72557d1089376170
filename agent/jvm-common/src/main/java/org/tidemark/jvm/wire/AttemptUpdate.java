package org.tidemark.jvm.wire;

/** The fields of AttemptChanged. Unset fields have their default values. */
public final class AttemptUpdate {
  public final Attempt attempt;
  public final Events.State state;
  public long atMillis;
  /** The number in {@link Events#executorOpened}; negative if unknown. */
  public int executor = -1;
  public boolean speculative;
  public long inputBytes = -1;
  public long inputRecords = -1;
  public String failure;
  /** For FAILED or KILLED, true if no other attempt at the task follows. */
  public boolean taskFailed;

  public AttemptUpdate(Attempt attempt, Events.State state) {
    this.attempt = attempt;
    this.state = state;
  }
}
