package org.tidemark.hadoop;

import org.tidemark.jvm.wire.Attempt;
import org.tidemark.jvm.wire.JobNews;
import org.tidemark.jvm.wire.StageNews;

/** What is known of a MapReduce job. Fields left as they are were not said. */
final class JobShape {
  /** How keys become key groups. */
  enum Grouping {
    WHOLE_KEY,
    PREFIX,
    OPAQUE
  }

  String name;
  String applicationId;
  String user;
  String queue;
  long submittedMillis;
  int mapTasks = -1;
  int reduceTasks = -1;
  boolean hasCombiner;
  Grouping grouping = Grouping.WHOLE_KEY;
  int masterAttempt;
  long deadlineMillis;

  JobNews news() {
    final JobNews job = new JobNews("hadoop");
    job.name = name;
    job.applicationId = applicationId;
    job.user = user;
    job.queue = queue;
    job.submittedMillis = submittedMillis;
    job.masterAttempt = masterAttempt;
    job.deadlineMillis = deadlineMillis;
    final StageNews map = new StageNews(Attempt.MAP_STAGE, StageNews.Kind.MAP);
    map.tasks = mapTasks;
    map.hasCombiner = hasCombiner;
    job.stages.add(map);
    if (reduceTasks != 0) {
      final StageNews reduce = new StageNews(Attempt.REDUCE_STAGE, StageNews.Kind.REDUCE);
      reduce.parents = new long[] {Attempt.MAP_STAGE};
      reduce.tasks = reduceTasks;
      reduce.isGroupingOpaque = grouping == Grouping.OPAQUE;
      job.stages.add(reduce);
    }
    return job;
  }
}
