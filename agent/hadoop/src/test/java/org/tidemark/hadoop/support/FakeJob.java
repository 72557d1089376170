package org.tidemark.hadoop.support;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter;
import org.apache.hadoop.mapreduce.v2.api.records.JobId;
import org.apache.hadoop.mapreduce.v2.api.records.JobReport;
import org.apache.hadoop.mapreduce.v2.api.records.JobState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.AppContext;
import org.apache.hadoop.mapreduce.v2.app.job.Job;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.mapreduce.v2.util.MRBuilderUtils;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.NodeId;

/** A job in an application master with any number of tasks, whose states the test sets. */
public final class FakeJob {
  public static final class AttemptFacts {
    public volatile TaskAttemptState state = TaskAttemptState.NEW;
    /** The state of its task. */
    public volatile TaskState task = TaskState.RUNNING;
    public volatile long launched;
    public volatile long sorted;
    public volatile long finished;
    public volatile float progress;
    /** Hadoop's counter of the bytes that the input format has read. */
    public volatile long bytesRead;
    public volatile Supplier<List<String>> diagnostics = Collections::emptyList;

    /** Simulates a success long ago. */
    public void succeed() {
      launched = 1_000;
      finished = 2_000;
      state = TaskAttemptState.SUCCEEDED;
    }
  }

  public volatile JobState state = JobState.RUNNING;
  private final ApplicationId application;
  private final ApplicationAttemptId mastersAttempt;
  private final JobId id;
  private final Map<TaskId, Task> tasks = new LinkedHashMap<>();
  private final List<AttemptFacts> maps = new ArrayList<>();
  private final List<AttemptFacts> reduces = new ArrayList<>();
  private final Map<TaskId, RuntimeException> broken = new HashMap<>();

  /** {@code number} is the number of the job. Each job has its own connection. */
  public FakeJob(int number, int mapTasks, int reduceTasks) {
    application = ApplicationId.newInstance(1, number);
    mastersAttempt = ApplicationAttemptId.newInstance(application, 1);
    id = MRBuilderUtils.newJobId(application, number);
    for (int i = 0; i < mapTasks; ++i) {
      maps.add(add(TaskType.MAP, i));
    }
    for (int i = 0; i < reduceTasks; ++i) {
      reduces.add(add(TaskType.REDUCE, i));
    }
  }

  /** Returns the only attempt of each map task. */
  public List<AttemptFacts> maps() {
    return maps;
  }

  public List<AttemptFacts> reduces() {
    return reduces;
  }

  public Iterable<Task> tasks() {
    return tasks.values();
  }

  /** Makes all later reads of the attempts at a task throw this exception. */
  public void breakMap(int index, RuntimeException thrown) {
    broken.put(MRBuilderUtils.newTaskId(id, index, TaskType.MAP), thrown);
  }

  public AppContext context() {
    final Map<String, Supplier<?>> answers = new HashMap<>();
    answers.put("getAllJobs", () -> Collections.singletonMap(id, job()));
    answers.put("getApplicationID", () -> application);
    answers.put("getApplicationAttemptId", () -> mastersAttempt);
    return show(AppContext.class, answers);
  }

  private Job job() {
    final Map<String, Supplier<?>> answers = new HashMap<>();
    answers.put("getID", () -> id);
    answers.put("getName", () -> "fake");
    answers.put("getUserName", () -> "somebody");
    answers.put("getQueueName", () -> "default");
    answers.put("getState", () -> state);
    answers.put("getTasks", () -> tasks);
    answers.put("getTotalMaps", maps::size);
    answers.put("getTotalReduces", reduces::size);
    answers.put("getDiagnostics", Collections::emptyList);
    answers.put(
        "getReport",
        () -> show(JobReport.class, Collections.singletonMap("getSubmitTime", () -> 1_000L)));
    return show(Job.class, answers);
  }

  private AttemptFacts add(TaskType type, int index) {
    final TaskId task = MRBuilderUtils.newTaskId(id, index, type);
    final TaskAttemptId attempt = MRBuilderUtils.newTaskAttemptId(task, 0);
    final AttemptFacts facts = new AttemptFacts();
    final Map<TaskAttemptId, TaskAttempt> attempts =
        Collections.singletonMap(attempt, show(attempt, facts));
    final Map<String, Supplier<?>> answers = new HashMap<>();
    answers.put("getID", () -> task);
    answers.put("getType", () -> type);
    answers.put("getState", () -> facts.task);
    answers.put(
        "getAttempts",
        () -> {
          if (broken.containsKey(task)) {
            throw broken.get(task);
          }
          return attempts;
        });
    tasks.put(task, show(Task.class, answers));
    return facts;
  }

  private TaskAttempt show(TaskAttemptId id, AttemptFacts facts) {
    final ContainerId container = ContainerId.newContainerId(mastersAttempt, id.getTaskId().getId());
    final Map<String, Supplier<?>> answers = new HashMap<>();
    answers.put("getID", () -> id);
    answers.put("getState", () -> facts.state);
    answers.put("getLaunchTime", () -> facts.launched);
    answers.put("getSortFinishTime", () -> facts.sorted);
    answers.put("getFinishTime", () -> facts.finished);
    answers.put("getNodeId", () -> NodeId.newInstance("node-17.cluster.example", 45_454));
    answers.put("getAssignedContainerID", () -> container);
    answers.put("getNodeRackName", () -> "/default-rack");
    answers.put("getProgress", () -> facts.progress);
    answers.put("getCounters", () -> counters(facts.bytesRead));
    answers.put("getDiagnostics", () -> facts.diagnostics.get());
    return show(TaskAttempt.class, answers);
  }

  private static Counters counters(long bytesRead) {
    final Counters counters = new Counters();
    counters.findCounter(FileInputFormatCounter.BYTES_READ).setValue(bytesRead);
    return counters;
  }

  private static <T> T show(Class<T> type, Map<String, Supplier<?>> answers) {
    return type.cast(
        Proxy.newProxyInstance(
            FakeJob.class.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> {
              final Supplier<?> answer = answers.get(method.getName());
              if (answer == null) {
                throw new UnsupportedOperationException(method.toString());
              }
              return answer.get();
            }));
  }
}
