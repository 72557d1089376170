package org.tidemark.hadoop.wire;

/** What AttemptChanged says. Fields left as they are were not said. */
public final class AttemptNews {
  public final Attempt attempt;
  public final Events.State state;
  public long atMillis;
  public String host;
  public String container;
  public String rack;
  public boolean speculative;
  public long inputBytes = -1;
  public String failure;

  public AttemptNews(Attempt attempt, Events.State state) {
    this.attempt = attempt;
    this.state = state;
  }
}
