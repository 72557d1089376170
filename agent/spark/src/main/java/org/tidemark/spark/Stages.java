package org.tidemark.spark;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.tidemark.jvm.wire.StageNews;

/**
 * The stages of an application as the master is to know them. A task's index is its partition, in
 * every attempt at its stage: that is all that executors know of it. An attempt may be for some
 * partitions only: those that a job such as take() wants, or those whose output was lost. Remembers
 * the stages of the latest jobs only. Not thread-safe.
 */
final class Stages {
  private static final class Known {
    final StageFacts facts;
    final Work work;
    final String signature;
    /** As {@link StageNews#work} has it. */
    final long repeatedWork;
    /** How many jobs that run list it. */
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

  /** The job or SQL execution that stages are for. */
  static final class Work {
    /** As in spark/translator.cc. */
    private static final int WORKS_MAX = 1_000;

    final String group;
    final String pool;
    private final String recognisedBy;
    /** Of the SQL execution; empty: it is none, or not known. */
    private final String plan;
    /** How many stages do the same, by what they do. */
    private final Map<Long, Integer> alike = new HashMap<>();

    /** {@code recognisedBy}: the same in every run of the application. */
    Work(String group, String pool, String recognisedBy, String plan) {
      this.group = group;
      this.pool = pool;
      this.recognisedBy = recognisedBy;
      this.plan = plan;
    }

    private long of(StageFacts facts) {
      return facts.work(group.startsWith("sql/"));
    }

    /** Empty: the stages do too many different things for all to be told apart. */
    private String signatureOf(long work) {
      if (alike.size() >= WORKS_MAX && !alike.containsKey(work)) {
        return "";
      }
      return Signature.of(recognisedBy, work, alike.merge(work, 1, Integer::sum));
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

  /**
   * A job begins that may need this; its stages are listed by number. Null: an earlier job has
   * listed it.
   */
  StageNews listed(StageFacts facts, Work work) {
    final Known earlier = stages.get(facts.stage);
    if (earlier != null) {
      ++earlier.jobs;
      return null;
    }
    final Known known = new Known(facts, work);
    known.jobs = 1;
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

  /** A job that listed these has ended: those that never ran will not, unless another wants them. */
  List<StageNews> ended(int[] jobs) {
    final List<StageNews> all = new ArrayList<>();
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
            keys && facts.stage <= LAST_WITH_KEYS && facts.partitions <= facts.tasks
                ? StageNews.Kind.UNSPECIFIED
                : StageNews.Kind.GENERIC);
    news.attempt = facts.attempt;
    news.name = known.facts.name;
    news.signature = known.signature;
    news.work = known.repeatedWork;
    news.parents = Arrays.stream(known.facts.parents).asLongStream().toArray();
    news.group = known.work.group;
    news.tasks = facts.tasks;
    if (facts.partitions > facts.tasks) {
      news.indexes = facts.partitions;
    }
    news.pool = known.work.pool;
    news.openedMillis = facts.submittedMillis;
    return news;
  }
}
