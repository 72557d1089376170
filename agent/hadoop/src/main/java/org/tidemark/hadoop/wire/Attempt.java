package org.tidemark.hadoop.wire;

/** One attempt at one task, by 0-based numbers. Immutable. */
public final class Attempt {
  // The stages of a MapReduce job, as event.proto numbers them.
  static final int MAP_STAGE = 0;
  static final int REDUCE_STAGE = 1;

  public final boolean isMap;
  public final int index;
  public final int attempt;

  public Attempt(boolean isMap, int index, int attempt) {
    this.isMap = isMap;
    this.index = index;
    this.attempt = attempt;
  }

  ProtoWriter encoded() {
    return new ProtoWriter().uint(1, isMap ? MAP_STAGE : REDUCE_STAGE).uint(3, index).uint(4, attempt);
  }
}
