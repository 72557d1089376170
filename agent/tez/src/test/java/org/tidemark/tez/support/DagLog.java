package org.tidemark.tez.support;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.tidemark.jvm.support.Fields;
import org.tidemark.jvm.support.LogReader;
import org.tidemark.jvm.support.Master;

/** The events of one DAG, as a master wrote them to its log. */
public final class DagLog {
  private static final int STARTED = 2;
  private static final int FINISHED = 4;

  public String name;
  public long outcome;
  public int refusals;
  /** The last description of each vertex, by name. */
  public final Map<String, Fields> vertices = new HashMap<>();
  /** The vertices that were known when the first task ended. */
  public int verticesBeforeFirstEnd = -1;
  public final Set<List<Long>> started = new HashSet<>();
  public final Set<List<Long>> finished = new HashSet<>();
  /** The input of finished attempts, by number of the vertex. */
  public final Map<Long, Long> inputBytes = new HashMap<>();
  public final Set<String> containers = new HashSet<>();

  /** Reads the log of a DAG after its end. */
  public static DagLog of(Master master, String id) throws Exception {
    final DagLog log = new DagLog();
    LogReader.read(
        master.log(id),
        new LogReader.Taker() {
          @Override
          public void event(String source, byte[] event) {
            log.take(new Fields(event));
          }

          @Override
          public void refusal() {
            ++log.refusals;
          }
        });
    return log;
  }

  private void take(Fields event) {
    if (event.has(Sent.JOB_OPENED) && !event.message(Sent.JOB_OPENED).text(1).isEmpty()) {
      name = event.message(Sent.JOB_OPENED).text(1);
    } else if (event.has(Sent.JOB_CLOSED)) {
      outcome = event.message(Sent.JOB_CLOSED).value(1);
    } else if (event.has(Sent.STAGE_OPENED)) {
      vertices.put(event.message(Sent.STAGE_OPENED).text(3), event.message(Sent.STAGE_OPENED));
    } else if (event.has(Sent.EXECUTOR_OPENED)) {
      containers.add(event.message(Sent.EXECUTOR_OPENED).text(4));
    } else if (event.has(Sent.ATTEMPT_CHANGED)) {
      takeAttempt(event.message(Sent.ATTEMPT_CHANGED));
    }
  }

  private void takeAttempt(Fields changed) {
    final Fields id = changed.message(1);
    final List<Long> attempt = new ArrayList<>(List.of(id.value(1), id.value(3), id.value(4)));
    if (changed.value(2) == STARTED) {
      started.add(attempt);
    } else if (changed.value(2) == FINISHED && finished.add(attempt)) {
      verticesBeforeFirstEnd =
          verticesBeforeFirstEnd < 0 ? vertices.size() : verticesBeforeFirstEnd;
      inputBytes.merge(id.value(1), changed.value(6), Long::sum);
    }
  }
}
