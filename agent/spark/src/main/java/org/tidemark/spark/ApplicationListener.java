package org.tidemark.spark;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.spark.ExecutorLostFailure;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskCommitDenied;
import org.apache.spark.TaskEndReason;
import org.apache.spark.TaskFailedReason;
import org.apache.spark.TaskKilled;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.JobFailed;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerApplicationStart;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerExecutorAdded;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.scheduler.TaskInfo;
import org.tidemark.jvm.guard.Guard;
import org.tidemark.jvm.guard.Log;
import org.tidemark.jvm.report.CurrentState;
import org.tidemark.jvm.report.Latest;
import org.tidemark.jvm.transport.Sender;
import org.tidemark.jvm.wire.Attempt;
import org.tidemark.jvm.wire.AttemptUpdate;
import org.tidemark.jvm.wire.Event;
import org.tidemark.jvm.wire.Events;
import org.tidemark.jvm.wire.JobDescription;
import org.tidemark.jvm.wire.StageDescription;

/**
 * Converts the events of Spark's listeners to events for the master. Each application is one job.
 * Calls arrive on the thread of this plug-in's queue and take a few microseconds each. Slower work
 * runs elsewhere ({@link SizeReporter}).
 */
final class ApplicationListener extends SparkListener {
  /** Holds the events of 20,000 tasks, in bytes. */
  private static final long BUFFER_BYTES_MAX = 8 << 20;
  /**
   * Longest wait for the delivery of the last events at the end of an application. Together with
   * the limit of an executor in this process, it is less than a second.
   */
  private static final long FINAL_WAIT_NANOS = 600_000_000L;
  private static final int FAILURE_CHARS_MAX = 1_000;

  private static final String SQL_EXECUTION = "spark.sql.execution.id";
  private static final String SQL_EXECUTION_START =
      "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart";
  private static final String SQL_EXECUTION_UPDATE =
      "org.apache.spark.sql.execution.ui.SparkListenerSQLAdaptiveExecutionUpdate";
  private static final String SQL_EXECUTION_END =
      "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd";

  /** The line by which `tidemark run spark` recognizes its application (cli/spark/settings.cc). */
  private static final String ANNOUNCEMENT = "Tidemark: reporting on application ";

  private final SparkContext context;
  private final Settings settings;
  private final Log log;
  private final Guard guard;
  private final Members members = new Members();
  private final Stages stages;
  private final SqlPlans plans = new SqlPlans(members);
  private final ShuffleRecords shuffles = new ShuffleRecords();
  private final WrittenSizes written = new WrittenSizes(WrittenSizes.PATIENCE_NANOS);
  private final CurrentState currentState = new CurrentState();
  private final Sender.Reporter signOfLife = this::signOfLife;
  private final Map<String, Integer> executors = new HashMap<>();
  private final Map<Integer, int[]> stagesOfJobs = new Latest<>();
  private final Map<Integer, String> groupsOfJobs = new Latest<>();
  private final Map<String, Stages.Work> worksOfExecutions = new Latest<>();
  /** The number of jobs with each name. */
  private final Map<String, Integer> jobNames = new Latest<>();
  private Sender sender;
  private SizeReporter sizes;
  private final ApplicationEnd end = new ApplicationEnd();
  private boolean isClosed;

  ApplicationListener(SparkContext context, Settings settings, Log log, Guard guard) {
    this.context = context;
    this.settings = settings;
    stages = new Stages(settings.keys);
    this.log = log;
    this.guard = guard;
  }

  /** Returns the sizes of map outputs that executors reported. May be called on any thread. */
  WrittenSizes written() {
    return written;
  }

  /**
   * Called after the context has stopped and its listeners have received all events. If Spark
   * reported the end of the application but not of all its groups, reports the end of the
   * application.
   */
  void close() {
    if (isOn() && end.hasEnded() && !isClosed) {
      sendClosing();
    }
    if (sender != null) {
      sizes.close();
      sender.stop(FINAL_WAIT_NANOS);
    }
  }

  @Override
  public void onApplicationStart(SparkListenerApplicationStart start) {
    try {
      final Object id = Members.orNull(start.appId());
      if (!guard.isOff() && id != null) {
        open(id.toString(), start.appName(), start.sparkUser(), start.time());
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  /** Opens the job of an application. Later calls do nothing. */
  private void open(String id, String name, String user, long startedMillis) {
    if (sender != null) {
      return;
    }
    sender = settings.open("driver", id, BUFFER_BYTES_MAX, log, guard);
    sizes = new SizeReporter(new InputSizes(context, members, shuffles, written), sender, guard);
    final JobDescription job = new JobDescription("spark");
    job.name = name;
    job.applicationId = id;
    job.user = user;
    job.queue = context.conf().get("spark.yarn.queue", "");
    job.submittedMillis = startedMillis;
    job.deadlineMillis = settings.deadlineMillis;
    for (scala.Tuple2<String, String> parameter :
        context.conf().getAllWithPrefix(Settings.PARAMETER_PREFIX)) {
      job.parameters.put(parameter._1(), parameter._2());
    }
    final Event opened = Events.jobOpened(job);
    currentState.jobOpened(opened);
    sender.send(opened);
    sender.startReports(signOfLife);
    if (settings.isAnnounced) {
      System.err.println(ANNOUNCEMENT + id);
    }
  }

  /**
   * Opens the job of an application that already runs, and reports its executors. Must be called
   * before Spark calls this listener.
   */
  void openRunning() throws ReflectiveOperationException {
    // Other versions of Spark may lack this list. It is read first, so that an error opens no job.
    final List<Object> executors =
        members.list(members.call(context, "statusStore"), "executorList", true);
    open(
        context.applicationId(), context.appName(), context.sparkUser(), context.startTime());
    for (Object known : executors) {
      final int cores = (Integer) members.call(known, "totalCores");
      if (cores > 0) {  // The driver of a cluster has none.
        final String hostAndPort = (String) members.call(known, "hostPort");
        executor(
            (String) members.call(known, "id"),
            hostAndPort.replaceFirst(":[0-9]*$", ""),
            cores);
      }
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
  public void onExecutorRemoved(SparkListenerExecutorRemoved removed) {
    try {
      final Integer number = executors.get(removed.executorId());
      if (isOn() && number != null) {
        currentState.executorClosed(number);
        sender.send(Events.executorClosed(number));
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
        // Spark lists the stages in a different order in every run.
        infos.sort(Comparator.comparingInt(info -> ((StageInfo) info).stageId()));
        final Stages.Work work = workOf(start, infos);
        final int[] numbers = new int[infos.size()];
        for (int i = 0; i < numbers.length; ++i) {
          final StageFacts facts = factsOf((StageInfo) infos.get(i));
          numbers[i] = facts.stage;
          final StageDescription update = stages.listed(facts, work);
          if (update != null) {
            report(update);
          }
        }
        stagesOfJobs.put(start.jobId(), numbers);
        groupsOfJobs.put(start.jobId(), work.group);
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
        final Object shuffle = shuffleOf(submitted.stageInfo());
        if (shuffle != null) {
          shuffles.writes(facts.stage, (Integer) shuffle);
        }
        StageDescription last = null;
        for (StageDescription update : stages.submitted(facts)) {
          report(update);
          last = update;
        }
        if (last != null) {
          sizes.report(last);
        }
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  @Override
  public void onStageCompleted(SparkListenerStageCompleted completed) {
    try {
      final StageInfo info = completed.stageInfo();
      if (isOn() && stages.isKnown(info.stageId())) {
        final Object why = Members.orNull(info.failureReason());
        final Object at = Members.orNull(info.completionTime());
        final Event closed =
            Events.stageClosed(
                info.stageId(),
                info.attemptNumber(),
                why == null ? Events.Outcome.SUCCEEDED : Events.Outcome.FAILED,
                why == null ? null : causeIn(why.toString()),
                at == null ? 0 : (Long) at);
        currentState.stageClosed(info.stageId(), closed);
        sender.send(closed);
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
        final AttemptUpdate update =
            attempt(start.stageId(), start.stageAttemptId(), task, Events.State.STARTED);
        update.atMillis = task.launchTime();
        report(update);
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
        final AttemptUpdate update =
            attempt(end.stageId(), end.stageAttemptId(), task, stateAfter(end.reason(), task));
        if (update.state != Events.State.OBSOLETE) {
          update.atMillis = task.finishTime();
        }
        if (update.state == Events.State.FINISHED) {
          addInput(update, end.taskMetrics());
          noteOutput(end.stageId(), end.taskMetrics());
        } else {
          update.failure = failureOf(end.reason());
        }
        report(update);
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  @Override
  public void onJobEnd(SparkListenerJobEnd ended) {
    try {
      final int[] numbers = stagesOfJobs.remove(ended.jobId());
      final String group = groupsOfJobs.remove(ended.jobId());
      if (isOn() && numbers != null) {
        final String why =
            ended.jobResult() instanceof JobFailed
                ? "job "
                    + ended.jobId()
                    + " failed: "
                    + causeIn(
                        String.valueOf(((JobFailed) ended.jobResult()).exception().getMessage()))
                : null;
        for (StageDescription update : stages.ended(numbers)) {
          report(update);
        }
        if (!("job/" + ended.jobId()).equals(group)) {
          if (why != null && currentState.isGroupOpen(group)) {
            end.jobFailed(group);
          }
        } else if (closeGroup(group, why, ended.time())) {
          end.groupEnded(group, why);
        }
        closeIfAllEnded();
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
          report(plans.started(event));
        } else if (event.getClass().getName().equals(SQL_EXECUTION_UPDATE)) {
          final SqlPlans.Execution updated = plans.updated(event);
          if (updated != null) {
            report(updated);
          }
        } else if (event.getClass().getName().equals(SQL_EXECUTION_END)) {
          final String id = plans.ended(event);
          worksOfExecutions.remove(id);
          final String group = "sql/" + id;
          final String why = failureOfExecution(event);
          if (closeGroup(group, why, (Long) members.call(event, "time"))) {
            end.groupEnded(group, why == null ? null : group + " failed: " + why);
          }
          closeIfAllEnded();
        }
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  @Override
  public void onApplicationEnd(SparkListenerApplicationEnd ended) {
    try {
      if (isOn() && !end.hasEnded()) {
        end.ended(ended.time(), exitCodeOf(ended));
        sender.endReports(signOfLife);
        closeIfAllEnded();
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
  }

  private boolean isOn() {
    return sender != null && !guard.isOff();
  }

  /**
   * This is the only report while the application waits for executors or is between two jobs. If
   * events were dropped while the master was unreachable, reports the current state again.
   */
  private Event signOfLife() {
    currentState.reportAfterDrops(sender.dropped(), sender::send);
    return Events.jobOpened(new JobDescription(null));
  }

  private void report(StageDescription update) {
    final Event opened = Events.stageOpened(update);
    currentState.stageOpened(update.number, opened);
    sender.send(opened);
  }

  private void report(AttemptUpdate update) {
    final Event changed = Events.attemptChanged(update);
    currentState.attemptChanged(update, changed);
    sender.send(changed);
  }

  private void report(SqlPlans.Execution execution) {
    openGroup(
        execution.group, execution.name, execution.startedMillis, execution.plannedTaskCounts());
  }

  private void openGroup(String group, String name, long atMillis, long... plannedTaskCounts) {
    final Event opened = Events.groupOpened(group, name, atMillis, plannedTaskCounts);
    currentState.groupOpened(group, opened);
    sender.send(opened);
  }

  /**
   * {@code why} is the failure, or null. If the group was not open, returns false and sends
   * nothing.
   */
  private boolean closeGroup(String group, String why, long atMillis) {
    final boolean wasOpen = currentState.groupClosed(group);
    if (wasOpen) {
      sender.send(
          Events.groupClosed(
              group,
              why == null ? Events.Outcome.SUCCEEDED : Events.Outcome.FAILED,
              why,
              end.atMost(atMillis)));
    }
    return wasOpen;
  }

  /**
   * Closes the application if its end was reported and no group is open. A stopping driver reports
   * its own end before it cancels its jobs.
   */
  private void closeIfAllEnded() {
    if (end.hasEnded()
        && !isClosed
        && stagesOfJobs.isEmpty()
        && currentState.openGroups().isEmpty()) {
      sendClosing();
    }
  }

  private void sendClosing() {
    isClosed = true;
    sender.send(end.closing(currentState.openGroups()));
  }

  /** Returns null if the execution succeeded. */
  private String failureOfExecution(Object event) throws ReflectiveOperationException {
    final Object why = Members.orNull((scala.Option<?>) members.call(event, "errorMessage"));
    return why == null || why.toString().isEmpty() ? null : causeIn(why.toString());
  }

  /** Returns the job, or the SQL execution of several jobs, with its signature for other runs. */
  private Stages.Work workOf(SparkListenerJobStart start, List<Object> infos) {
    final String pool = property(start.properties(), "spark.scheduler.pool");
    final String execution = property(start.properties(), SQL_EXECUTION);
    if (!execution.isEmpty()) {
      return worksOfExecutions.computeIfAbsent(
          execution,
          id ->
              new Stages.Work(
                  "sql/" + id, pool, "sql " + plans.recognisedBy(id), plans.planOf(id)));
    }
    // The stage with the result has the highest number.
    final String name = infos.isEmpty() ? "" : ((StageInfo) infos.get(infos.size() - 1)).name();
    final String group = "job/" + start.jobId();
    final String description = property(start.properties(), "spark.job.description");
    openGroup(group, GroupName.of(description, name), start.time());
    return new Stages.Work(
        group, pool, "job " + name + " " + jobNames.merge(name, 1, Integer::sum), "");
  }

  private static String property(Properties properties, String key) {
    return properties == null ? "" : properties.getProperty(key, "");
  }

  private StageFacts factsOf(StageInfo info) throws ReflectiveOperationException {
    final int[] parents =
        members.list(info, "parentIds").stream().mapToInt(id -> (Integer) id).sorted().toArray();
    final List<Object> rdds = members.list(info, "rddInfos");
    final List<String> steps = new ArrayList<>();
    for (Object rdd : rdds) {
      final Object scope = Members.orNull((scala.Option<?>) members.call(rdd, "scope"));
      steps.add(
          members.call(rdd, "name") + " " + (scope == null ? "" : members.call(scope, "name")));
    }
    final Object submitted = Members.orNull(info.submissionTime());
    return new StageFacts(
        info.stageId(),
        info.attemptNumber(),
        info.name(),
        info.numTasks(),
        rdds.isEmpty() ? -1 : (Integer) members.call(rdds.get(0), "numPartitions"),
        parents,
        steps,
        submitted == null ? 0 : (Long) submitted);
  }

  private AttemptUpdate attempt(int stage, int stageAttempt, TaskInfo task, Events.State state) {
    final AttemptUpdate update =
        new AttemptUpdate(
            new Attempt(stage, stageAttempt, task.partitionId(), task.attemptNumber()), state);
    // The executor is usually known. If not, its number of cores is unknown.
    update.executor = executor(task.executorId(), task.host(), 0);
    update.speculative = task.speculative();
    return update;
  }

  /** Returns the number of an executor, and reports the executor at the first call. */
  private int executor(String id, String host, int cores) {
    final Integer known = executors.get(id);
    if (known != null) {
      return known;
    }
    final int number = executors.size();
    final int coresOfTask = Math.max(1, context.conf().getInt("spark.task.cpus", 1));
    final Event opened = Events.executorOpened(number, host, "", id, cores / coresOfTask);
    currentState.executorOpened(number, opened);
    sender.send(opened);
    executors.put(id, number);
    return number;
  }

  private static Events.State stateAfter(TaskEndReason reason, TaskInfo task) {
    // The attempt had finished, but its output was lost with its executor.
    if (reason.getClass().getSimpleName().startsWith("Resubmitted")) {
      return Events.State.OBSOLETE;
    }
    if (task.successful()) {
      return Events.State.FINISHED;
    }
    return task.killed()
            || reason instanceof TaskKilled
            || reason instanceof TaskCommitDenied
            || reason instanceof ExecutorLostFailure
        ? Events.State.KILLED
        : Events.State.FAILED;
  }

  /** Adds the whole input, since a finished task has read all of it. */
  private static void addInput(AttemptUpdate update, TaskMetrics metrics) {
    if (metrics != null) {
      update.inputBytes =
          metrics.inputMetrics().bytesRead() + metrics.shuffleReadMetrics().totalBytesRead();
      update.inputRecords =
          metrics.inputMetrics().recordsRead() + metrics.shuffleReadMetrics().recordsRead();
    }
  }

  private void noteOutput(int stage, TaskMetrics metrics) {
    if (metrics != null) {
      shuffles.wrote(
          stage,
          metrics.shuffleWriteMetrics().recordsWritten(),
          metrics.shuffleWriteMetrics().bytesWritten());
    }
  }

  /**
   * Returns the shuffle that the stage's tasks write. Returns null if the tasks write no shuffle,
   * and before Spark 3.2.
   */
  private Object shuffleOf(StageInfo info) {
    try {
      return Members.orNull((scala.Option<?>) members.call(info, "shuffleDepId"));
    } catch (ReflectiveOperationException unavailable) {
      return null;
    }
  }

  private static String failureOf(TaskEndReason reason) {
    return reason instanceof TaskFailedReason
        ? causeIn(((TaskFailedReason) reason).toErrorString())
        : "";
  }

  /** Returns the cause in {@code text}, cut to the maximum length in a snapshot. */
  private static String causeIn(String text) {
    final String cause = FailureCause.of(text);
    return cause.substring(0, Math.min(cause.length(), FAILURE_CHARS_MAX));
  }

  /** Returns null before Spark 4.0, which does not report exit codes. */
  private Integer exitCodeOf(SparkListenerApplicationEnd end) {
    try {
      return (Integer) Members.orNull((scala.Option<?>) members.call(end, "exitCode"));
    } catch (ReflectiveOperationException unavailable) {
      return null;
    }
  }
}
