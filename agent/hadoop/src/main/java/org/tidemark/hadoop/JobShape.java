package org.tidemark.hadoop;

import org.tidemark.jvm.wire.Attempt;
import org.tidemark.jvm.wire.JobDescription;
import org.tidemark.jvm.wire.StageDescription;
import org.tidemark.jvm.wire.WorkflowDescription;

/** The known properties of a MapReduce job. Unknown fields keep their default values. */
final class JobShape {
  /** The rule by which keys form key groups. */
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
  /** Null if the job belongs to no workflow. */
  WorkflowDescription workflow;

  JobDescription describe() {
    final JobDescription job = new JobDescription("hadoop");
    job.name = name;
    job.applicationId = applicationId;
    job.user = user;
    job.queue = queue;
    job.submittedMillis = submittedMillis;
    job.masterAttempt = masterAttempt;
    job.deadlineMillis = deadlineMillis;
    job.workflow = workflow;
    final StageDescription map = new StageDescription(Attempt.MAP_STAGE, StageDescription.Kind.MAP);
    map.tasks = mapTasks;
    map.hasCombiner = hasCombiner;
    job.stages.add(map);
    if (reduceTasks != 0) {
      final StageDescription reduce =
          new StageDescription(Attempt.REDUCE_STAGE, StageDescription.Kind.REDUCE);
      reduce.parents = new long[] {Attempt.MAP_STAGE};
      reduce.tasks = reduceTasks;
      reduce.isGroupingOpaque = grouping == Grouping.OPAQUE;
      job.stages.add(reduce);
    }
    return job;
  }
}
