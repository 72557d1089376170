package org.tidemark.spark;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.tidemark.jvm.profile.KeyHash;
import org.tidemark.jvm.wire.StageNews;

/**
 * The stages of an application as the master is to know them. A task's index is its partition, in
 * every attempt at its stage: that is all that executors know of it. Remembers the stages of the
 * latest jobs only. Not thread-safe.
 */
final class Stages {
  private static final class Known {
    final StageFacts facts;
    final Work work;
    final String signature;
    /** Of every attempt; below zero: which partitions the tasks are for is not known. */
    int count;
    boolean isSubmitted;
    boolean isSkipped;

    Known(StageFacts facts, Work work, String signature) {
      this.facts = facts;
      this.work = work;
      this.signature = signature;
      count = facts.partitions < 0 || facts.partitions == facts.tasks ? facts.tasks : -1;
    }
  }

  /** The job or SQL execution that stages are for. */
  static final class Work {
    final String group;
    final String pool;
    private final String recognisedBy;
    /** How many stages do the same, by what they do. */
    private final Map<Long, Integer> alike = new HashMap<>();

    /** {@code recognisedBy}: the same in every run of the application. */
    Work(String group, String pool, String recognisedBy) {
      this.group = group;
      this.pool = pool;
      this.recognisedBy = recognisedBy;
    }

    private String signatureOf(StageFacts facts) {
      final long does = hash(facts.name + "\n" + facts.steps);
      return String.format(
          "%016x-%016x-%d", hash(recognisedBy), does, alike.merge(does, 1, Integer::sum));
    }
  }

  /** Key groups are known of stage 0 as a map stage and of stage 1 as a reduce stage (event.proto). */
  private static final int LAST_WITH_KEYS = 1;

  private final boolean keys;
  private final Map<Integer, Known> stages = new Latest<>();

  /** {@code keys}: profiles of key groups may tell of some stages that they map or reduce. */
  Stages(boolean keys) {
    this.keys = keys;
  }

  /** A job begins that may need these; null for those that an earlier job has listed. */
  StageNews listed(StageFacts facts, Work work) {
    if (stages.containsKey(facts.stage)) {
      return null;
    }
    final Known known = new Known(facts, work, work.signatureOf(facts));
    stages.put(facts.stage, known);
    return news(known, facts);
  }

  /**
   * The stage runs now. What it reads is there, so the stages before it that never ran are skipped.
   */
  List<StageNews> submitted(StageFacts facts) {
    final List<StageNews> all = new ArrayList<>();
    final Known known = stages.get(facts.stage);
    if (known == null) {
      return all;
    }
    known.isSubmitted = true;
    skipBefore(known, all);
    all.add(news(known, facts));
    return all;
  }

  /**
   * A task of a stage starts. Not null: it shows that the tasks, of which there are fewer than
   * partitions, are for the first ones.
   */
  StageNews started(int stage, int attempt, int index, int partition) {
    final Known known = stages.get(stage);
    if (known == null || known.count >= 0 || attempt > 0
        || index != partition || index != known.facts.tasks - 1) {
      return null;
    }
    known.count = known.facts.tasks;
    return news(known, known.facts);
  }

  /** A job that needed these has succeeded: those that never ran were not needed. */
  List<StageNews> succeeded(int[] jobs) {
    final List<StageNews> all = new ArrayList<>();
    for (int stage : jobs) {
      final Known known = stages.get(stage);
      if (known != null) {
        skip(known, all);
      }
    }
    return all;
  }

  /** How many tasks the master was told of; below zero: not known, nor is the stage. */
  int countOf(int stage) {
    final Known known = stages.get(stage);
    return known == null ? -1 : known.count;
  }

  /** The news of an attempt once more, to say more of it; null: the stage is not known. */
  StageNews again(StageFacts facts) {
    final Known known = stages.get(facts.stage);
    return known == null ? null : news(known, facts);
  }

  private void skipBefore(Known submitted, List<StageNews> all) {
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

  private boolean skip(Known known, List<StageNews> all) {
    if (known.isSubmitted || known.isSkipped) {
      return false;
    }
    known.isSkipped = true;
    final StageNews news = news(known, known.facts);
    news.skipped = true;
    all.add(news);
    return true;
  }

  private StageNews news(Known known, StageFacts facts) {
    final StageNews news =
        new StageNews(
            facts.stage,
            keys && facts.stage <= LAST_WITH_KEYS
                ? StageNews.Kind.UNSPECIFIED
                : StageNews.Kind.GENERIC);
    news.attempt = facts.attempt;
    news.name = known.facts.name;
    news.signature = known.signature;
    news.parents = Arrays.stream(known.facts.parents).asLongStream().toArray();
    news.group = known.work.group;
    news.tasks = known.count;
    news.pool = known.work.pool;
    news.openedMillis = facts.submittedMillis;
    return news;
  }

  private static long hash(String text) {
    final byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return KeyHash.of(bytes, 0, bytes.length);
  }
}
