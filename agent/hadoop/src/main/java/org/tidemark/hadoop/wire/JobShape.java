package org.tidemark.hadoop.wire;

/** What JobOpened says. Fields left as they are were not said. */
public final class JobShape {
  /** How keys become key groups. */
  public enum Grouping {
    WHOLE_KEY,
    PREFIX,
    OPAQUE
  }

  public String name;
  public String applicationId;
  public String user;
  public String queue;
  public long submittedMillis;
  public int mapTasks = -1;
  public int reduceTasks = -1;
  public boolean hasCombiner;
  public Grouping grouping = Grouping.WHOLE_KEY;
  public int masterAttempt;
}
