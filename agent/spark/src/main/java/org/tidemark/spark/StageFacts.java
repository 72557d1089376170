package org.tidemark.spark;

import java.util.List;

/** What Spark says of one attempt at a stage. Immutable. */
final class StageFacts {
  final int stage;
  final int attempt;
  final String name;
  /** How many tasks the attempt has: a retry, or one that take() asks for, has only some. */
  final int tasks;
  /** How many partitions there are; below zero: not known. */
  final int partitions;
  final int[] parents;
  /** A step for each of its RDDs, in any order. */
  private final List<String> steps;
  /** 0: not submitted yet. */
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

  /** What its tasks do ({@link Signature#ofWork}): the same in every run. */
  long work(boolean isOfSql) {
    return Signature.ofWork(isOfSql ? "" : name, steps);
  }
}
