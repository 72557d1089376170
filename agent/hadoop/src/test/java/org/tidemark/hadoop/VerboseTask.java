package org.tidemark.hadoop;

public final class VerboseTask {
  private VerboseTask() {}

  public static void main(String[] arguments) {
    for (int i = 0; i < 1_000; ++i) {
      TaskLog.warn("complaint " + i);
    }
  }
}
