package org.tidemark.jvm.wire;

/** An attempt at a task (TaskAttemptId in event.proto). Immutable. */
public final class Attempt {
  /** Numbers of the stages of a MapReduce job, as in event.proto. */
  public static final int MAP_STAGE = 0;

  public static final int REDUCE_STAGE = 1;

  public final int stage;
  public final int stageAttempt;
  public final int index;
  public final int attempt;

  public Attempt(int stage, int stageAttempt, int index, int attempt) {
    this.stage = stage;
    this.stageAttempt = stageAttempt;
    this.index = index;
    this.attempt = attempt;
  }

  public static Attempt map(int index, int attempt) {
    return new Attempt(MAP_STAGE, 0, index, attempt);
  }

  public static Attempt reduce(int index, int attempt) {
    return new Attempt(REDUCE_STAGE, 0, index, attempt);
  }

  public static Attempt of(boolean isMap, int index, int attempt) {
    return isMap ? map(index, attempt) : reduce(index, attempt);
  }

  public boolean isMap() {
    return stage == MAP_STAGE;
  }

  ProtoWriter encoded() {
    return new ProtoWriter().uint(1, stage).uint(2, stageAttempt).uint(3, index).uint(4, attempt);
  }
}
