package org.tidemark.spark;

import java.util.List;

/** Spark's description of one attempt at a stage. Immutable. */
final class StageFacts {
  final int stage;
  final int attempt;
  final String name;
  /**
   * The number of tasks of the attempt. A retry, or a stage for take(), covers only some of the
   * partitions.
   */
  final int tasks;
  /** The number of partitions; negative if unknown. */
  final int partitions;
  final int[] parents;
  /** A step for each RDD of the stage, in any order. */
  private final List<String> steps;
  /** 0 until the stage is submitted. */
  final long submittedMillis;

  StageFacts(
      int stage,
      int attempt,
      String name,
      int tasks,
      int partitions,
      int[] parents,
      List<String> steps,
      long submittedMillis) {
    this.stage = stage;
    this.attempt = attempt;
    this.name = name;
    this.tasks = tasks;
    this.partitions = partitions;
    this.parents = parents;
    this.steps = steps;
    this.submittedMillis = submittedMillis;
  }

  /**
   * Returns the signature of the tasks' work ({@link Signature#ofWork}), which is equal in every
   * run.
   */
  long work(boolean isOfSql) {
    return Signature.ofWork(isOfSql ? "" : name, steps);
  }
}
