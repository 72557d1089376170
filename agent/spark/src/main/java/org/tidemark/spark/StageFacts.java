package org.tidemark.spark;

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
  /** What its tasks do ({@link Signature#ofWork}): the same in every run. */
  final long work;
  /** 0: not submitted yet. */
  final long submittedMillis;

  StageFacts(
      int stage,
      int attempt,
      String name,
      int tasks,
      int partitions,
      int[] parents,
      long work,
      long submittedMillis) {
    this.stage = stage;
    this.attempt = attempt;
    this.name = name;
    this.tasks = tasks;
    this.partitions = partitions;
    this.parents = parents;
    this.work = work;
    this.submittedMillis = submittedMillis;
  }
}
