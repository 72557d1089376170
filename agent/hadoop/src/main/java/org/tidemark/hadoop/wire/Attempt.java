package org.tidemark.hadoop.wire;

/** One attempt at one task, by 0-based numbers. Immutable. */
public final class Attempt {
  public final boolean isMap;
  public final int index;
  public final int attempt;

  public Attempt(boolean isMap, int index, int attempt) {
    this.isMap = isMap;
    this.index = index;
    this.attempt = attempt;
  }

  ProtoWriter encoded() {
    return new ProtoWriter().uint(1, isMap ? 1 : 2).uint(2, index).uint(3, attempt);
  }
}
