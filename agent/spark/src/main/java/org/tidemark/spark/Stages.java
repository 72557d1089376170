package org.tidemark.spark;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.tidemark.jvm.report.Latest;
import org.tidemark.jvm.wire.StageDescription;

/**
 * The stages of an application as reported to the master. The index of a task is its partition,
 * since executors know no other index. An attempt at a stage may process only some partitions,
 * because a job such as take() needs no others or because only their output was lost. Keeps only
 * the stages of the latest jobs. Not thread-safe.
 */
final class Stages {
  private static final class Known {
    final StageFacts facts;
    final Work work;
    final String signature;
    /** See {@link StageDescription#work}. */
    final long repeatedWork;
    /** The number of running jobs that list the stage. */
    int jobs;
    boolean isSubmitted;
    boolean isSkipped;

    Known(StageFacts facts, Work work) {
      final long does = work.of(facts);
      this.facts = facts;
      this.work = work;
      signature = work.signatureOf(does);
      repeatedWork = Signature.repeated(work.plan, does);
    }
  }

  /** The job or SQL execution that stages belong to. */
  static final class Work {
    /** Equals the limit in spark/translator.cc. */
    private static final int WORKS_MAX = 1_000;

    final String group;
    final String pool;
    private final String recognisedBy;
    /** The plan of the SQL execution, or empty outside SQL or if the plan is unknown. */
    private final String plan;
    /** The number of stages with the same work, by work. */
    private final Map<Long, Integer> alike = new HashMap<>();

    /** {@code recognisedBy} is a signature that is equal in every run of the application. */
    Work(String group, String pool, String recognisedBy, String plan) {
      this.group = group;
      this.pool = pool;
      this.recognisedBy = recognisedBy;
      this.plan = plan;
    }

    private long of(StageFacts facts) {
      return facts.work(group.startsWith("sql/"));
    }

    /** Returns an empty string if the stages do too many different kinds of work. */
    private String signatureOf(long work) {
      if (alike.size() >= WORKS_MAX && !alike.containsKey(work)) {
        return "";
      }
      return Signature.of(recognisedBy, work, alike.merge(work, 1, Integer::sum));
    }
  }

  /** Only stages 0 (map) and 1 (reduce) have key groups (event.proto). */
  private static final int LAST_WITH_KEYS = 1;

  private final boolean keys;
  private final Map<Integer, Known> stages = new Latest<>();

  /**
   * If {@code keys} is true, some stages are reported as map or reduce stages, so that profiles can
   * report their key groups.
   */
  Stages(boolean keys) {
    this.keys = keys;
  }

  /**
   * Lists a stage that a started job may need. The caller lists a job's stages by number. Returns
   * null if an earlier job has listed the stage.
   */
  StageDescription listed(StageFacts facts, Work work) {
    final Known earlier = stages.get(facts.stage);
    if (earlier != null) {
      ++earlier.jobs;
      return null;
    }
    final Known known = new Known(facts, work);
    known.jobs = 1;
    stages.put(facts.stage, known);
    return describe(known, facts);
  }

  /**
   * Records that the stage runs now. Its input exists, so earlier stages that never ran are
   * reported as skipped.
   */
  List<StageDescription> submitted(StageFacts facts) {
    final List<StageDescription> all = new ArrayList<>();
    final Known known = stages.get(facts.stage);
    if (known == null) {
      return all;
    }
    known.isSubmitted = true;
    skipBefore(known, all);
    all.add(describe(known, facts));
    return all;
  }

  /**
   * Records that a job that listed these stages has ended. Stages that never ran will not run
   * unless another job lists them.
   */
  List<StageDescription> ended(int[] jobs) {
    final List<StageDescription> all = new ArrayList<>();
    for (int stage : jobs) {
      final Known known = stages.get(stage);
      if (known != null && --known.jobs <= 0) {
        skip(known, all);
      }
    }
    return all;
  }

  boolean isKnown(int stage) {
    return stages.containsKey(stage);
  }

  private void skipBefore(Known submitted, List<StageDescription> all) {
    final Deque<Known> open = new ArrayDeque<>();
    open.add(submitted);
    while (!open.isEmpty()) {
      for (int parent : open.poll().facts.parents) {
        final Known known = stages.get(parent);
        if (known != null && skip(known, all)) {
          open.add(known);
        }
      }
    }
  }

  private boolean skip(Known known, List<StageDescription> all) {
    if (known.isSubmitted || known.isSkipped) {
      return false;
    }
    known.isSkipped = true;
    final StageDescription update = describe(known, known.facts);
    update.skipped = true;
    all.add(update);
    return true;
  }

  private StageDescription describe(Known known, StageFacts facts) {
    final StageDescription update =
        new StageDescription(
            facts.stage,
            keys && facts.stage <= LAST_WITH_KEYS && facts.partitions <= facts.tasks
                ? StageDescription.Kind.UNSPECIFIED
                : StageDescription.Kind.GENERIC);
    update.attempt = facts.attempt;
    update.name = known.facts.name;
    update.signature = known.signature;
    update.work = known.repeatedWork;
    update.parents = Arrays.stream(known.facts.parents).asLongStream().toArray();
    update.group = known.work.group;
    update.tasks = facts.tasks;
    if (facts.partitions > facts.tasks) {
      update.indexes = facts.partitions;
    }
    update.pool = known.work.pool;
    update.openedMillis = facts.submittedMillis;
    return update;
  }
}
