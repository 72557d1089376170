package org.tidemark.spark;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskEndReason;
import org.apache.spark.TaskFailedReason;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.JobFailed;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerApplicationStart;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerExecutorAdded;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.scheduler.TaskInfo;
import org.tidemark.jvm.guard.Guard;
import org.tidemark.jvm.guard.Log;
import org.tidemark.jvm.transport.Sender;
import org.tidemark.jvm.wire.Attempt;
import org.tidemark.jvm.wire.AttemptNews;
import org.tidemark.jvm.wire.Events;
import org.tidemark.jvm.wire.JobNews;
import org.tidemark.jvm.wire.StageNews;

/**
 * Turns what Spark's listeners hear into events for the master: a job is an application. Each call
 * comes on the thread of our queue, and costs a few microseconds; what costs more is done elsewhere
 * ({@link SizeTeller}).
 */
final class ApplicationListener extends SparkListener {
  /** Room for what 20,000 tasks make known. bytes */
  private static final long BUFFER_BYTES_MAX = 8 << 20;
  /** What the end of an application may wait for its last words to arrive. */
  private static final long LAST_WORDS_NANOS = 200_000_000L;
  private static final int FAILURE_CHARS_MAX = 1_000;

  private static final String SQL_EXECUTION = "spark.sql.execution.id";
  private static final String SQL_EXECUTION_START =
      "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart";
  private static final String SQL_EXECUTION_END =
      "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd";

  /** Nobody else speaks while the application waits for executors, or between two of its jobs. */
  private static final Sender.Reporter SIGN_OF_LIFE =
      () -> Events.jobOpened(new JobNews("spark"));

  private final SparkContext context;
  private final Settings settings;
  private final Log log;
  private final Guard guard;
  private final Members members = new Members();
  private final Stages stages;
  private final SqlPlans plans = new SqlPlans(members);
  private final Map<String, Integer> executors = new HashMap<>();
  private final Map<Integer, int[]> stagesOfJobs = new Latest<>();
  private final Map<String, Stages.Work> worksOfExecutions = new Latest<>();
  /** How many jobs there were of each name. */
  private final Map<String, Integer> jobNames = new Latest<>();
  private Sender sender;
  private SizeTeller sizes;
  /** Why the job that ended last failed; null: it succeeded. */
  private String failure;
  private boolean isClosed;

  ApplicationListener(SparkContext context, Settings settings, Log log, Guard guard) {
    this.context = context;
    this.settings = settings;
    stages = new Stages(settings.keys);
    this.log = log;
    this.guard = guard;
  }

  /** The context stops. If nobody said that the application has ended, nor do we. */
  void close() {
    if (sender != null) {
      sizes.close();
      sender.stop(LAST_WORDS_NANOS);
    }
  }

  @Override
  public void onApplicationStart(SparkListenerApplicationStart start) {
    try {
      final Object id = Members.orNull(start.appId());
      if (guard.isOff() || id == null || sender != null) {
        return;
      }
      sender = settings.open("driver", id.toString(), BUFFER_BYTES_MAX, log, guard);
      sizes = new SizeTeller(new InputSizes(context, members), sender, guard);
      final JobNews job = new JobNews("spark");
      job.name = start.appName();
      job.applicationId = id.toString();
      job.user = start.sparkUser();
      job.queue = context.conf().get("spark.yarn.queue", "");
      job.submittedMillis = start.time();
      sender.send(Events.jobOpened(job));
      sender.startReports(SIGN_OF_LIFE);
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  @Override
  public void onExecutorAdded(SparkListenerExecutorAdded added) {
    try {
      if (isOn()) {
        executor(
            added.executorId(),
            added.executorInfo().executorHost(),
            added.executorInfo().totalCores());
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  @Override
  public void onJobStart(SparkListenerJobStart start) {
    try {
      if (isOn()) {
        final List<Object> infos = members.list(start, "stageInfos");
        final Stages.Work work = workOf(start.jobId(), infos, start.properties());
        final int[] numbers = new int[infos.size()];
        for (int i = 0; i < numbers.length; ++i) {
          final StageFacts facts = factsOf((StageInfo) infos.get(i));
          numbers[i] = facts.stage;
          final StageNews news = stages.listed(facts, work);
          if (news != null) {
            sender.send(Events.stageOpened(news));
          }
        }
        stagesOfJobs.put(start.jobId(), numbers);
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  @Override
  public void onStageSubmitted(SparkListenerStageSubmitted submitted) {
    try {
      if (isOn()) {
        final StageFacts facts = factsOf(submitted.stageInfo());
        for (StageNews news : stages.submitted(facts)) {
          sender.send(Events.stageOpened(news));
        }
        if (stages.countOf(facts.stage) > 0) {
          sizes.tell(stages.again(facts));
        }
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  @Override
  public void onTaskStart(SparkListenerTaskStart start) {
    try {
      if (isOn()) {
        final TaskInfo task = start.taskInfo();
        final StageNews counted =
            stages.started(
                start.stageId(), start.stageAttemptId(), task.index(), task.partitionId());
        if (counted != null) {
          sender.send(Events.stageOpened(counted));
        }
        final AttemptNews news =
            attempt(start.stageId(), start.stageAttemptId(), task, Events.State.STARTED);
        news.atMillis = task.launchTime();
        sender.send(Events.attemptChanged(news));
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd end) {
    try {
      if (isOn() && end.taskInfo() != null) {
        final TaskInfo task = end.taskInfo();
        final AttemptNews news =
            attempt(end.stageId(), end.stageAttemptId(), task, stateAfter(end.reason(), task));
        news.atMillis = task.finishTime();
        if (news.state == Events.State.FINISHED) {
          addInput(news, end.taskMetrics());
        } else {
          news.failure = failureOf(end.reason());
        }
        sender.send(Events.attemptChanged(news));
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  @Override
  public void onJobEnd(SparkListenerJobEnd end) {
    try {
      final int[] numbers = stagesOfJobs.remove(end.jobId());
      if (isOn() && numbers != null) {
        failure = null;
        if (end.jobResult() instanceof JobFailed) {
          failure = cut(String.valueOf(((JobFailed) end.jobResult()).exception().getMessage()));
          return;
        }
        for (StageNews news : stages.succeeded(numbers)) {
          sender.send(Events.stageOpened(news));
        }
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  @Override
  public void onOtherEvent(SparkListenerEvent event) {
    try {
      if (isOn()) {
        if (event.getClass().getName().equals(SQL_EXECUTION_START)) {
          plans.started(event);
        } else if (event.getClass().getName().equals(SQL_EXECUTION_END)) {
          worksOfExecutions.remove(plans.ended(event));
        }
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  @Override
  public void onApplicationEnd(SparkListenerApplicationEnd end) {
    try {
      if (isOn() && !isClosed) {
        isClosed = true;
        sender.endReports(SIGN_OF_LIFE);
        final int code = exitCodeOf(end);
        final String why = code == 0 ? failure : "the application exited with code " + code;
        sender.send(
            Events.jobClosed(
                why == null ? Events.Outcome.SUCCEEDED : Events.Outcome.FAILED, why, end.time()));
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  private boolean isOn() {
    return sender != null && !guard.isOff();
  }

  /** The job, or the SQL execution that has several; recognised in other runs by what it does. */
  private Stages.Work workOf(int job, List<Object> infos, Properties properties)
      throws ReflectiveOperationException {
    final String pool = property(properties, "spark.scheduler.pool");
    final String execution = property(properties, SQL_EXECUTION);
    if (execution.isEmpty()) {
      final String name =
          infos.isEmpty() ? "" : ((StageInfo) infos.get(infos.size() - 1)).name();
      return new Stages.Work(
          "job/" + job, pool, "job " + name + " " + jobNames.merge(name, 1, Integer::sum));
    }
    return worksOfExecutions.computeIfAbsent(
        execution,
        id -> new Stages.Work("sql/" + id, pool, "sql " + plans.recognisedBy(id)));
  }

  private static String property(Properties properties, String key) {
    return properties == null ? "" : properties.getProperty(key, "");
  }

  private StageFacts factsOf(StageInfo info) throws ReflectiveOperationException {
    final int[] parents =
        members.list(info, "parentIds").stream().mapToInt(id -> (Integer) id).sorted().toArray();
    final List<Object> rdds = members.list(info, "rddInfos");
    final StringBuilder steps = new StringBuilder();
    for (Object rdd : rdds) {
      steps.append(members.call(rdd, "name")).append(' ');
      final Object scope = Members.orNull((scala.Option<?>) members.call(rdd, "scope"));
      steps.append(scope == null ? "" : members.call(scope, "name")).append('\n');
    }
    final Object submitted = Members.orNull(info.submissionTime());
    return new StageFacts(
        info.stageId(),
        info.attemptNumber(),
        info.name(),
        info.numTasks(),
        rdds.isEmpty() ? -1 : (Integer) members.call(rdds.get(0), "numPartitions"),
        parents,
        steps.toString(),
        submitted == null ? 0 : (Long) submitted);
  }

  private AttemptNews attempt(int stage, int stageAttempt, TaskInfo task, Events.State state) {
    final AttemptNews news =
        new AttemptNews(
            new Attempt(stage, stageAttempt, task.partitionId(), task.attemptNumber()), state);
    // Usually it is known; of its cores, nothing is if it is not.
    news.executor = executor(task.executorId(), task.host(), 0);
    news.speculative = task.speculative();
    return news;
  }

  /** The number of an executor, which is told the first time. */
  private int executor(String id, String host, int cores) {
    final Integer known = executors.get(id);
    if (known != null) {
      return known;
    }
    final int number = executors.size();
    final int coresOfTask = Math.max(1, context.conf().getInt("spark.task.cpus", 1));
    sender.send(Events.executorOpened(number, host, "", id, cores / coresOfTask));
    executors.put(id, number);
    return number;
  }

  private static Events.State stateAfter(TaskEndReason reason, TaskInfo task) {
    // It had finished, and its output was lost with its executor.
    if (reason.getClass().getSimpleName().startsWith("Resubmitted")) {
      return Events.State.OBSOLETE;
    }
    if (task.successful()) {
      return Events.State.FINISHED;
    }
    return task.killed() ? Events.State.KILLED : Events.State.FAILED;
  }

  /** What it has read is what there was to read. */
  private static void addInput(AttemptNews news, TaskMetrics metrics) {
    if (metrics != null) {
      news.inputBytes =
          metrics.inputMetrics().bytesRead() + metrics.shuffleReadMetrics().totalBytesRead();
      news.inputRecords =
          metrics.inputMetrics().recordsRead() + metrics.shuffleReadMetrics().recordsRead();
    }
  }

  private static String failureOf(TaskEndReason reason) {
    return reason instanceof TaskFailedReason
        ? cut(((TaskFailedReason) reason).toErrorString())
        : "";
  }

  private static String cut(String text) {
    return text.substring(0, Math.min(text.length(), FAILURE_CHARS_MAX));
  }

  /** 0 before Spark 4.0, which does not say it. */
  private int exitCodeOf(SparkListenerApplicationEnd end) {
    try {
      final Object code = Members.orNull((scala.Option<?>) members.call(end, "exitCode"));
      return code == null ? 0 : (Integer) code;
    } catch (ReflectiveOperationException notSaid) {
      return 0;
    }
  }
}
