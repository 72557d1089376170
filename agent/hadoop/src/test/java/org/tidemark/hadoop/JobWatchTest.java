package org.tidemark.hadoop;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.v2.api.records.JobState;
import org.apache.hadoop.mapreduce.v2.app.AppContext;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.Timeout;
import org.tidemark.hadoop.support.FakeJob;
import org.tidemark.jvm.transport.ListeningMaster;
import org.tidemark.jvm.wire.Events.State;

public class JobWatchTest {
  @Rule public final Timeout patience = Timeout.seconds(60);

  private static final int MANY = 20_000;

  private static Configuration reportingTo(ListeningMaster master) {
    final Configuration conf = new Configuration(false);
    conf.set(Keys.MASTER, master.address);
    return conf;
  }

  /** Returns the states without the heartbeats, which report the first map task as waiting. */
  private static List<State> lifeOf(ListeningMaster master, String attempt) {
    final List<State> states = new ArrayList<>(master.statesOf(attempt));
    states.removeIf(state -> state == State.QUEUED);
    return states;
  }

  @Test
  public void aJobOfManyTasksIsReportedCompletelyBeforeItsEnd() throws Exception {
    try (ListeningMaster master = new ListeningMaster()) {
      final FakeJob job = new FakeJob(1, MANY, 0);
      JobWatch.start(reportingTo(master), job.context());
      master.listen();
      master.awaitEvents(1);
      job.maps().forEach(FakeJob.AttemptFacts::succeed);
      master.awaitEvents(3 * MANY);
      job.state = JobState.SUCCEEDED;
      master.awaitClosed();
      for (int i = 0; i < MANY; ++i) {
        assertEquals(
            Arrays.asList(State.STARTED, State.FINISHED), lifeOf(master, "m_" + i + "_0"));
      }
      assertEquals(0, master.dropped());
    }
    assertFalse(Connector.GUARD.isOff());
  }

  /** Throws while {@code failures} is above zero. */
  private static AppContext failing(AppContext context, AtomicInteger failures) {
    return (AppContext)
        Proxy.newProxyInstance(
            JobWatchTest.class.getClassLoader(),
            new Class<?>[] {AppContext.class},
            (self, method, arguments) -> {
              if (failures.getAndDecrement() > 0) {
                throw new IllegalStateException("not now");
              }
              try {
                return method.invoke(context, arguments);
              } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
              }
            });
  }

  @Test
  public void aFailedPollIsFollowedByTheNext() throws Exception {
    try (ListeningMaster master = new ListeningMaster()) {
      final FakeJob job = new FakeJob(2, 1, 0);
      final AtomicInteger failures = new AtomicInteger(3);
      JobWatch.start(reportingTo(master), failing(job.context(), failures));
      master.listen();
      master.awaitEvents(1);
      failures.set(3);
      job.maps().get(0).succeed();
      job.state = JobState.SUCCEEDED;
      master.awaitClosed();
      assertEquals(Arrays.asList(State.STARTED, State.FINISHED), lifeOf(master, "m_0_0"));
    }
    assertFalse(Connector.GUARD.isOff());
  }

  /**
   * With mapreduce.job.classloader, a configuration has this class loader while an application
   * master starts its services.
   */
  @Test
  public void aComparatorOfTheJobsClassLoaderDoesNotPreventReports() throws Exception {
    try (ListeningMaster master = new ListeningMaster()) {
      final FakeJob job = new FakeJob(3, 1, 0);
      final Configuration conf = reportingTo(master);
      conf.set(
          "mapreduce.job.output.group.comparator.class",
          KeyGroupingTest.Neighbours.class.getName());
      conf.setClassLoader(new URLClassLoader(new URL[0], null));
      JobWatch.start(conf, job.context());
      master.listen();
      job.maps().get(0).succeed();
      job.state = JobState.SUCCEEDED;
      master.awaitClosed();
      assertEquals(Arrays.asList(State.STARTED, State.FINISHED), lifeOf(master, "m_0_0"));
    }
  }
}
