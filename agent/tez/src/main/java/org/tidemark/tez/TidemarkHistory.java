package org.tidemark.tez;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.tez.common.ReflectionUtils;
import org.apache.tez.dag.api.HistoryLogLevel;
import org.apache.tez.dag.api.TezConfiguration;
import org.apache.tez.dag.api.TezConstants;
import org.apache.tez.dag.api.records.DAGProtos.DAGPlan;
import org.apache.tez.dag.app.AppContext;
import org.apache.tez.dag.app.dag.DAG;
import org.apache.tez.dag.history.DAGHistoryEvent;
import org.apache.tez.dag.history.HistoryEvent;
import org.apache.tez.dag.history.HistoryEventType;
import org.apache.tez.dag.history.events.ContainerStoppedEvent;
import org.apache.tez.dag.history.events.DAGSubmittedEvent;
import org.apache.tez.dag.history.events.VertexInitializedEvent;
import org.apache.tez.dag.history.logging.HistoryLoggingService;
import org.apache.tez.dag.records.TezDAGID;
import org.apache.tez.runtime.api.events.InputDataInformationEvent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tidemark.jvm.guard.Guard;
import org.tidemark.jvm.guard.Log;
import org.tidemark.jvm.guard.OnceLog;
import org.tidemark.jvm.guard.Reasons;
import org.tidemark.jvm.transport.Sender;
import org.tidemark.jvm.wire.JobDescription;

/**
 * Reports the DAGs of an application master to Tidemark's master. Tez creates it by the setting
 * {@code tez.history.logging.service.class}, and delivers events while it holds locks. Calls take a
 * few microseconds and never wait for the master. All events also go to the service that would
 * receive them without the connector.
 */
public final class TidemarkHistory extends HistoryLoggingService {
  /**
   * Longest wait for the delivery of the last events when the application master stops, or 200 ms
   * if the master has never responded.
   */
  private static final long FINAL_WAIT_IF_RESPONDING_NANOS = 800_000_000L;

  private static final long FINAL_WAIT_NANOS = 200_000_000L;

  /** Longest wait for the delivery of the last events of a DAG, on a separate thread. */
  private static final long DAG_END_WAIT_NANOS = 10_000_000_000L;

  private static final Logger LOGGER = LoggerFactory.getLogger("org.tidemark.tez");

  /** A DAG that is reported. */
  private static final class Live {
    final DagReport report;
    final Sender sender;

    Live(DagReport report, Sender sender) {
      this.report = report;
      this.sender = sender;
    }
  }

  private final Log log =
      new OnceLog(
          what -> LOGGER.warn("Tidemark: {}", what), what -> LOGGER.info("Tidemark: {}", what));
  private final Guard guard = new Guard(log);
  private HistoryLoggingService delegate;

  // Guarded by this.
  /** The running DAGs. The value is null for a DAG that is not reported. */
  private final Map<TezDAGID, Live> dags = new HashMap<>();
  /** The senders of ended DAGs that may still deliver events. */
  private final Map<TezDAGID, Sender> leaving = new LinkedHashMap<>();

  public TidemarkHistory() {
    super(TidemarkHistory.class.getName());
  }

  @Override
  protected void serviceInit(Configuration conf) throws Exception {
    String name =
        conf.getTrimmed(
            Keys.HISTORY_DELEGATE, TezConfiguration.TEZ_HISTORY_LOGGING_SERVICE_CLASS_DEFAULT);
    if (name.isEmpty() || name.equals(TidemarkHistory.class.getName())) {
      name = TezConfiguration.TEZ_HISTORY_LOGGING_SERVICE_CLASS_DEFAULT;
    }
    delegate = ReflectionUtils.createClazzInstance(name);
    delegate.setAppContext(appContext);
    delegate.init(conf);
    super.serviceInit(conf);
  }

  @Override
  protected void serviceStart() throws Exception {
    delegate.start();
    super.serviceStart();
  }

  @Override
  protected void serviceStop() throws Exception {
    try {
      deliver();
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
    if (delegate != null) {
      delegate.stop();
    }
    super.serviceStop();
  }

  @Override
  public void handle(DAGHistoryEvent event) {
    try {
      if (!guard.isOff()) {
        report(event);
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
    delegate.handle(event);
  }

  private void report(DAGHistoryEvent dagEvent) throws Exception {
    final HistoryEvent event = dagEvent.getHistoryEvent();
    final TezDAGID id = DagIds.of(dagEvent);
    if (event.getEventType() == HistoryEventType.CONTAINER_STOPPED) {
      containerStopped(((ContainerStoppedEvent) event).getContainerId());
    }
    final Live dag = id == null ? null : liveDag(id, event);
    if (dag == null) {
      return;
    }
    dag.report.report(event);
    if (event.getEventType() == HistoryEventType.VERTEX_INITIALIZED) {
      readSplits(dag, (VertexInitializedEvent) event);
    } else if (event.getEventType() == HistoryEventType.DAG_FINISHED) {
      leave(id, dag);
    }
  }

  private synchronized void containerStopped(ContainerId container) {
    for (Live dag : dags.values()) {
      if (dag != null) {
        dag.report.containerStopped(container);
      }
    }
  }

  /** Returns null if the DAG is not reported. */
  private synchronized Live liveDag(TezDAGID id, HistoryEvent event) {
    if (!dags.containsKey(id)) {
      if (event.getEventType() == HistoryEventType.DAG_FINISHED) {
        return null;
      }
      final DAG current = currentDag(appContext, id);
      if (event.getEventType() == HistoryEventType.DAG_SUBMITTED) {
        dags.put(id, submitted(id, (DAGSubmittedEvent) event));
      } else if (current != null) {
        dags.put(id, recovered(id, current));
      }
    }
    final Live dag = dags.get(id);
    if (event.getEventType() == HistoryEventType.DAG_FINISHED) {
      dags.remove(id);
    }
    return dag;
  }

  private static DAG currentDag(AppContext context, TezDAGID id) {
    final DAG current = context.getCurrentDAG();
    return current != null && id.equals(current.getID()) ? current : null;
  }

  private Live submitted(TezDAGID id, DAGSubmittedEvent event) {
    final Configuration conf = event.getConf() == null ? getConfig() : event.getConf();
    return open(
        id, event.getDAGPlan(), conf, event.getUser(), event.getQueueName(), event.getSubmitTime());
  }

  /** Opens a DAG of an earlier application master. */
  private Live recovered(TezDAGID id, DAG dag) {
    final Configuration conf = dag.getConf() == null ? getConfig() : dag.getConf();
    return open(id, dag.getJobPlan(), conf, dag.getUserName(), appContext.getQueueName(), 0);
  }

  /** Returns null if the DAG is not reported. */
  private Live open(
      TezDAGID id,
      DAGPlan plan,
      Configuration conf,
      String user,
      String queue,
      long submittedMillis) {
    if (plan.getName().startsWith(TezConstants.TEZ_PREWARM_DAG_NAME_PREFIX)) {
      return null;
    }
    try {
      final Sender sender =
          Link.of(conf, appContext.getAppCredentials(), id.toString(), log, guard);
      if (sender == null) {
        return null;
      }
      final JobDescription job = DagDescription.of(plan, conf);
      job.applicationId = String.valueOf(appContext.getApplicationID());
      job.user = user;
      job.queue = queue;
      job.submittedMillis = submittedMillis;
      job.masterAttempt = appContext.getApplicationAttemptId().getAttemptId();
      final boolean isIncomplete = job.masterAttempt > 1 || isFiltered(conf);
      final DagReport report = new DagReport(plan, job, isIncomplete, sender::send);
      sender.startReports(
          new RunningAttempts(report, sender, () -> currentDag(appContext, id)));
      return new Live(report, sender);
    } catch (IllegalArgumentException misconfigured) {
      log.warn(
          "cannot report progress: "
              + Reasons.of(misconfigured)
              + "; the DAG itself is not affected");
      return null;
    }
  }

  /** Returns true if Tez hides the events of some attempts. */
  private boolean isFiltered(Configuration conf) {
    final HistoryLogLevel level = HistoryLogLevel.getLogLevel(conf, HistoryLogLevel.DEFAULT);
    if (!level.shouldLog(HistoryLogLevel.TASK_ATTEMPT)) {
      log.warn(
          TezConfiguration.TEZ_HISTORY_LOGGING_LOGLEVEL
              + " is "
              + level
              + ", so tasks are not reported; set it to TASK_ATTEMPT or ALL");
      return true;
    }
    return conf.get(TezConfiguration.TEZ_HISTORY_LOGGING_TASKATTEMPT_FILTERS) != null;
  }

  /** Reads the sizes of splits on a separate thread, since that may take seconds. */
  private void readSplits(Live dag, VertexInitializedEvent event) {
    final List<InputDataInformationEvent> splits =
        SplitSizes.among(event.getInitGeneratedEvents());
    if (splits.isEmpty()) {
      return;
    }
    final ClassLoader loader = Thread.currentThread().getContextClassLoader();
    final int vertex = event.getVertexID().getId();
    final int tasks = event.getNumTasks();
    guard
        .thread(
            "tidemark-splits",
            () -> {
              try {
                dag.report.splits(vertex, SplitSizes.of(splits, tasks, loader));
              } catch (Exception | LinkageError unknownKind) {
                log.info("cannot read the sizes of splits: " + Reasons.of(unknownKind));
              }
            })
        .start();
  }

  /** Delivers the last events of a DAG, and then ends its connection. */
  private void leave(TezDAGID id, Live dag) {
    synchronized (this) {
      leaving.put(id, dag.sender);
    }
    guard
        .thread(
            "tidemark-dag-end",
            () -> {
              dag.sender.stop(DAG_END_WAIT_NANOS);
              synchronized (this) {
                leaving.remove(id);
              }
            })
        .start();
  }

  private void deliver() {
    final Map<TezDAGID, Sender> all;
    synchronized (this) {
      all = new LinkedHashMap<>(leaving);
      dags.forEach(
          (id, dag) -> {
            if (dag != null) {
              all.put(id, dag.sender);
            }
          });
      dags.clear();
    }
    final long deadline = System.nanoTime() + FINAL_WAIT_IF_RESPONDING_NANOS;
    for (Sender sender : all.values()) {
      final long left = Math.max(deadline - System.nanoTime(), 0);
      sender.flush(Math.min(left, FINAL_WAIT_NANOS), left);
      sender.stop(0);
    }
  }
}
