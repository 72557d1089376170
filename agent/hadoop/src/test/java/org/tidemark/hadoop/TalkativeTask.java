package org.tidemark.hadoop;

/** A task with something new to complain of each time. */
public final class TalkativeTask {
  private TalkativeTask() {}

  public static void main(String[] arguments) {
    for (int i = 0; i < 1_000; ++i) {
      TaskLog.warn("complaint " + i);
    }
  }
}
