package org.tidemark.tez;

import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.tez.dag.api.oldrecords.TaskAttemptState;
import org.apache.tez.dag.app.dag.DAG;
import org.apache.tez.dag.app.dag.Task;
import org.apache.tez.dag.app.dag.TaskAttempt;
import org.apache.tez.dag.app.dag.Vertex;
import org.apache.tez.dag.records.TezTaskAttemptID;
import org.apache.tez.dag.records.TezTaskID;
import org.tidemark.jvm.transport.Sender;
import org.tidemark.jvm.wire.Event;
import org.tidemark.jvm.wire.Events;
import org.tidemark.jvm.wire.HeartbeatUpdate;
import org.tidemark.jvm.wire.JobDescription;

/**
 * Reports the progress of running attempts at every flush. Reads the counters that tasks send to
 * the application master, on the sender's thread, since a read waits for Tez's locks.
 */
final class RunningAttempts implements Sender.Reporter {
  /** Bounds the work of a report. Further attempts follow in the next report. */
  private static final int ATTEMPTS_MAX = 1_000;

  private final DagReport report;
  private final Sender sender;
  /** Returns the DAG of the application master, or null if it is another DAG. */
  private final Supplier<DAG> current;
  private int next;

  RunningAttempts(DagReport report, Sender sender, Supplier<DAG> current) {
    this.report = report;
    this.sender = sender;
    this.current = current;
  }

  /**
   * Returns an empty message, which shows the master that the DAG still runs. Returns null after its
   * end.
   */
  @Override
  public Event report() {
    if (report.isOver()) {
      return null;
    }
    report.reportAfterDrops(sender.dropped());
    final DAG dag = current.get();
    if (dag != null && report.isIncomplete()) {
      for (Vertex vertex : dag.getVertices().values()) {
        recover(vertex);
      }
    }
    final List<DagReport.Running> running = report.running();
    if (dag != null && !sender.settings().paused()) {
      for (int i = 0; i < Math.min(running.size(), ATTEMPTS_MAX) && sender.hasRoom(); ++i) {
        sendProgress(dag, running.get(Math.floorMod(next++, running.size())));
      }
    }
    return Events.jobOpened(new JobDescription(null));
  }

  /** Reports the tasks of a vertex whose events this process has not received. */
  private void recover(Vertex vertex) {
    report.configured(vertex.getVertexId().getId(), vertex.getTotalTasks());
    for (Map.Entry<TezTaskID, Task> task : vertex.getTasks().entrySet()) {
      if (!report.hasFinished(task.getKey()) && sender.hasRoom()) {
        for (Map.Entry<TezTaskAttemptID, TaskAttempt> entry :
            task.getValue().getAttempts().entrySet()) {
          final TaskAttempt attempt = entry.getValue();
          if (attempt.getState() == TaskAttemptState.SUCCEEDED) {
            report.recovered(
                entry.getKey(),
                attempt.getLaunchTime(),
                attempt.getFinishTime(),
                new CounterValues(attempt.getCounters()));
          }
        }
      }
    }
  }

  private void sendProgress(DAG dag, DagReport.Running one) {
    final Vertex vertex = dag.getVertex(one.id.getTaskID().getVertexID());
    final Task task = vertex == null ? null : vertex.getTask(one.id.getTaskID());
    final TaskAttempt attempt = task == null ? null : task.getAttempt(one.id);
    if (attempt != null) {
      final long known = report.bytesOf(one.attempt);
      report.progressed(
          one,
          progress(one, attempt.getProgress(), new CounterValues(attempt.getCounters()), known));
    }
  }

  /**
   * Returns the progress of an attempt. {@code fraction} is Tez's progress, which is the share of
   * the input that the processor has read. {@code inputBytes} is negative if it is unknown.
   */
  static HeartbeatUpdate progress(
      DagReport.Running one, float fraction, CounterValues counters, long inputBytes) {
    final HeartbeatUpdate update = new HeartbeatUpdate(one.attempt);
    final long whole = inputBytes < 0 ? counters.inputBytes() : inputBytes;
    if (whole > 0 && fraction > 0) {
      update.bytesDone = (long) (whole * (double) Math.min(fraction, 1f));
    }
    update.recordsDone = Math.max(counters.inputRecords(), 0);
    DagReport.addTimes(update, counters);
    return update;
  }
}
