package org.tidemark.jvm.wire;

/** What AttemptChanged says. Fields left as they are were not said. */
public final class AttemptNews {
  public final Attempt attempt;
  public final Events.State state;
  public long atMillis;
  /** Where it runs, as told by {@link Events#executorOpened}; below zero: not known. */
  public int executor = -1;
  public boolean speculative;
  public long inputBytes = -1;
  public long inputRecords = -1;
  public String failure;
  /** With FAILED or KILLED: no other attempt at the task follows. */
  public boolean taskFailed;

  public AttemptNews(Attempt attempt, Events.State state) {
    this.attempt = attempt;
    this.state = state;
  }
}
