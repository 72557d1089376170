package org.tidemark.tez;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.tez.common.counters.TezCounters;
import org.apache.tez.dag.api.records.DAGProtos.DAGPlan;
import org.apache.tez.dag.app.AppContext;
import org.apache.tez.dag.app.dag.DAGState;
import org.apache.tez.dag.history.DAGHistoryEvent;
import org.apache.tez.dag.history.HistoryEvent;
import org.apache.tez.dag.history.HistoryEventType;
import org.apache.tez.dag.history.logging.HistoryLoggingService;
import org.apache.tez.dag.records.TezTaskAttemptID;
import org.junit.After;
import org.junit.Test;
import org.tidemark.jvm.support.FaultyMaster;
import org.tidemark.jvm.transport.ListeningMaster;
import org.tidemark.tez.support.History;
import org.tidemark.tez.support.Plans;

public class TidemarkHistoryTest {
  /** Records what it receives. */
  public static final class Recorder extends HistoryLoggingService {
    static final List<HistoryEventType> RECEIVED = new ArrayList<>();

    public Recorder() {
      super("recorder");
    }

    @Override
    public void handle(DAGHistoryEvent event) {
      assertTrue(isInState(STATE.STARTED));
      RECEIVED.add(event.getHistoryEvent().getEventType());
    }
  }

  private static final int TASKS = 40_000;

  private final Configuration conf = new Configuration(false);
  private final History history = new History(1);
  private TidemarkHistory service;

  public TidemarkHistoryTest() {
    Recorder.RECEIVED.clear();
    conf.set(Keys.HISTORY_DELEGATE, Recorder.class.getName());
  }

  @After
  public void stop() {
    service.stop();
  }

  private void start(String master) {
    conf.set("tidemark.master", master);
    service = new TidemarkHistory();
    service.setAppContext(
        (AppContext)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {AppContext.class},
                (proxy, method, arguments) -> {
                  switch (method.getName()) {
                    case "getApplicationID":
                      return History.APPLICATION;
                    case "getApplicationAttemptId":
                      return History.attemptOfMaster(1);
                    default:
                      return null;
                  }
                }));
    service.init(conf);
    service.start();
  }

  private void handle(HistoryEvent event) {
    service.handle(new DAGHistoryEvent(history.dag, event));
  }

  private void submit(DAGPlan plan) {
    handle(history.submitted(plan, conf));
  }

  private void runTasks(int tasks) {
    for (int task = 0; task < tasks; ++task) {
      final TezTaskAttemptID id = history.attempt(0, task, 0);
      handle(history.started(id, task % 4 + 1, History.SUBMITTED));
      handle(history.finished(id, new TezCounters(), Collections.emptyList()));
    }
  }

  @Test
  public void theSitesHistoryServiceReceivesEverything() throws Exception {
    start(FaultyMaster.absent());
    submit(Plans.wordCount().build());
    handle(history.finished(DAGState.SUCCEEDED, ""));
    assertEquals(
        List.of(HistoryEventType.DAG_SUBMITTED, HistoryEventType.DAG_FINISHED), Recorder.RECEIVED);
  }

  @Test
  public void aMasterReceivesADagUpToItsEnd() throws Exception {
    try (ListeningMaster master = new ListeningMaster()) {
      start(master.address);
      master.listen();
      submit(Plans.wordCount().build());
      runTasks(2);
      handle(history.finished(DAGState.SUCCEEDED, ""));
      master.awaitClosed();
      assertEquals(2, master.attempts());
    }
  }

  @Test
  public void anUnresponsiveMasterDelaysNoEventAndMemoryIsBounded() throws Exception {
    for (FaultyMaster master :
        new FaultyMaster[] {FaultyMaster.full(), FaultyMaster.slow(), FaultyMaster.garbage()}) {
      start(master.address);
      submit(Plans.wordCount().build());
      runTasks(TASKS);
      handle(history.finished(DAGState.SUCCEEDED, ""));
      service.stop();
      assertEquals(2 * TASKS + 2, Recorder.RECEIVED.size());
      Recorder.RECEIVED.clear();
      master.close();
    }
  }

  @Test
  public void aDagWithInvalidSettingsRunsWithoutReports() throws Exception {
    conf.set(Keys.DEADLINE, "tomorrow");
    start("127.0.0.1");
    submit(Plans.wordCount().build());
    runTasks(1);
    handle(history.finished(DAGState.SUCCEEDED, ""));
    assertEquals(4, Recorder.RECEIVED.size());
  }

  @Test
  public void aPreWarmingDagIsNotReportedAndTheNextIs() throws Exception {
    try (ListeningMaster master = new ListeningMaster()) {
      start(master.address);
      submit(new Plans("TezPreWarmDAG_0").vertex("warm", 1).build());
      runTasks(1);
      handle(history.finished(DAGState.SUCCEEDED, ""));
      master.listen();
      final History second = new History(2);
      service.handle(
          new DAGHistoryEvent(second.dag, second.submitted(Plans.wordCount().build(), conf)));
      service.handle(new DAGHistoryEvent(second.dag, second.finished(DAGState.KILLED, "user")));
      master.awaitClosed();
      assertEquals(0, master.attempts());
    }
  }
}
