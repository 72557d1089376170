package org.tidemark.spark;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.tidemark.jvm.support.Master;
import org.tidemark.spark.jobs.Partitioned;
import org.tidemark.spark.support.EventLog;
import org.tidemark.spark.support.Spark;

public class InputIT {
  @ClassRule public static final TemporaryFolder FOLDER = new TemporaryFolder();

  private static Spark spark;

  @BeforeClass
  public static void findSpark() throws Exception {
    spark = new Spark(FOLDER.newFolder().toPath());
  }

  private static List<String> reportingTo(Master master) {
    final List<String> options = Spark.reporting(Spark.jar());
    options.addAll(Arrays.asList("--conf", Settings.MASTER + "=" + master.address));
    return options;
  }

  private static EventLog logOf(Master master, Spark.Ended ended) throws Exception {
    assertEquals(ended.err, 0, ended.exitCode);
    return EventLog.of(master, ended.output("APPLICATION").get(0));
  }

  @Test
  public void isWithinTenPercentUpTo2000PartitionsAndUsesWrittenBytesAbove() throws Exception {
    for (String cluster : Arrays.asList("local[2]", "local-cluster[2,1,512]")) {
      try (Master master = Master.start(FOLDER.newFolder().toPath())) {
        final Spark.Ended ended =
            spark.job(Partitioned.class, cluster, reportingTo(master), 4, 2_000, 2_100);
        final EventLog log = logOf(master, ended);
        assertTrue(cluster, log.worstSize(1, 0) < 0.1);
        assertEquals(cluster, 2_100, log.stages.get(3L).tasks);
        assertTrue(cluster, log.worstSize(3, 0) < 0.01);
      }
    }
  }

  @Test
  public void isWithinTenPercentFor2000PartitionsOfAdaptiveExecution()
      throws Exception {
    try (Master master = Master.start(FOLDER.newFolder().toPath())) {
      final EventLog log =
          logOf(
              master,
              spark.python("local[2]", reportingTo(master), "skew_join.py", "2000", "true"));
      int joins = 0;
      for (long number : log.stages.keySet()) {
        final EventLog.Stage stage = log.stages.get(number);
        if (!stage.skipped && stage.parents.size() == 2) {
          ++joins;
          assertTrue("joined", stage.tasks < 1_000);
          assertTrue("stage " + number, log.worstSize(number, 0) < 0.1);
        }
      }
      assertEquals(1, joins);
    }
  }

  @Test
  public void countsAsDoneAfterItsReturnFromPython() throws Exception {
    try (Master master = Master.start(FOLDER.newFolder().toPath())) {
      final EventLog log =
          logOf(master, spark.python("local[1]", reportingTo(master), "python_rows.py", "3"));
      final long stage =
          log.stages.entrySet().stream()
              .filter(entry -> entry.getValue().tasks == 3)
              .mapToLong(entry -> entry.getKey())
              .findFirst()
              .getAsLong();
      final String first = stage + ".0.0.0";
      final String last = stage + ".0.2.0";
      assertTrue("who knows how many rows are to come back", log.readFirst.contains(first));
      assertFalse(log.readFirst.contains(last));
      final long records = log.inputRecords.get(stage + ".2");
      final List<Long> done = log.recordsDone.get(last);
      assertTrue(done.toString(), done.stream().anyMatch(n -> n > 0 && n < 0.7 * records));
      assertEquals(records, Collections.max(done), 0.01 * records);
    }
  }
}
