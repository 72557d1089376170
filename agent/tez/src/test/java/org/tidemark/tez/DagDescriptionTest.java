package org.tidemark.tez;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;

import org.apache.hadoop.conf.Configuration;
import org.apache.tez.dag.api.records.DAGProtos.CallerContextProto;
import org.junit.Test;
import org.tidemark.jvm.wire.JobDescription;
import org.tidemark.tez.support.Plans;

public class DagDescriptionTest {
  private final Configuration conf = new Configuration(false);

  private static Plans of(String context, String blob) {
    final Plans plans = new Plans("hive_20261126_1:1");
    plans
        .builder()
        .setCallerContext(CallerContextProto.newBuilder().setContext(context).setBlob(blob));
    return plans;
  }

  @Test
  public void aHiveQueryNamesItsDag() {
    assertEquals(
        "select 1 from t", DagDescription.of(of("HIVE", "select 1\n  from t").build(), conf).name);
    assertEquals("hive_20261126_1:1", DagDescription.of(of("HIVE", " ").build(), conf).name);
    assertEquals("hive_20261126_1:1", DagDescription.of(of("PIG", "x").build(), conf).name);
  }

  @Test
  public void aTagMakesTheDagsOfACommandAWorkflow() {
    assertNull(DagDescription.of(Plans.wordCount().build(), conf).workflow);
    conf.set(Keys.WORKFLOW_ID, "nightly-2026-11-26");
    final JobDescription job = DagDescription.of(Plans.wordCount().build(), conf);
    assertEquals("nightly-2026-11-26", job.workflow.id);
    assertEquals("nightly", job.workflow.name);
    assertEquals("words", job.workflow.node);
    conf.set(Keys.WORKFLOW_NAME, "night");
    assertEquals("night", DagDescription.of(Plans.wordCount().build(), conf).workflow.name);
  }

  @Test
  public void anInvalidDeadlineIsAnErrorThatNamesTheSetting() {
    conf.set(Keys.DEADLINE, "soon");
    final Exception error =
        assertThrows(
            IllegalArgumentException.class,
            () -> DagDescription.of(Plans.wordCount().build(), conf));
    assertEquals(
        "tidemark.deadline is not a time such as 2026-11-26T07:30:00Z: soon", error.getMessage());
  }
}
