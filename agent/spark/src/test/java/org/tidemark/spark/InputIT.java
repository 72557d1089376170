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
import org.tidemark.spark.support.EventLog;
import org.tidemark.spark.support.Spark;

/** What tasks of real applications have to read, and what they are done with. */
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
    return EventLog.of(master, ended.said("APPLICATION").get(0));
  }

  @Test
  public void isDoneWithWhenItHasComeBackFromPython() throws Exception {
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
