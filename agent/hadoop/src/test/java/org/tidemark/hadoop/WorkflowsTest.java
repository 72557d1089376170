package org.tidemark.hadoop;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.io.UnsupportedEncodingException;
import java.net.URLEncoder;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.hadoop.conf.Configuration;
import org.junit.Test;
import org.tidemark.jvm.wire.WorkflowDescription;

public class WorkflowsTest {
  private static final UnaryOperator<String> NO_VARIABLES = name -> null;

  /** Returns a configuration with these keys and values in turn. */
  private static Configuration conf(String... settings) {
    final Configuration conf = new Configuration(false);
    for (int i = 0; i < settings.length; i += 2) {
      conf.set(settings[i], settings[i + 1]);
    }
    return conf;
  }

  /** Returns the settings of a job of Pig 0.17. */
  private static Configuration pig() {
    final Configuration conf =
        conf(
            "pig.script.id", "9e1d",
            "pig.parent.jobid", "job_1_0001,job_1_0002",
            "mapreduce.workflow.id", "pig_9e1d",
            "mapreduce.workflow.name", "/jobs/s.pig",
            "mapreduce.workflow.node.name", "scope-20");
    conf.setStrings("mapreduce.workflow.adjacency.scope-10", "scope-20", "scope-21");
    conf.setStrings("mapreduce.workflow.adjacency.scope-20", "scope-30");
    conf.setStrings("mapreduce.workflow.adjacency.scope-21", "scope-30");
    conf.setStrings("mapreduce.workflow.adjacency.scope-30", new String[0]);
    return conf;
  }

  private static WorkflowDescription of(Configuration conf) {
    return Workflows.of(conf, "PigLatin:s.pig", NO_VARIABLES);
  }

  private static List<String> names(String... names) {
    return Arrays.asList(names);
  }

  @Test
  public void aJobWithoutAWorkflowReportsNone() {
    assertNull(of(conf()));
    assertNull(of(conf("tidemark.workflow.id", " ")));
  }

  @Test
  public void pigReportsItsScriptAndTheWholeGraph() {
    final WorkflowDescription workflow = of(pig());
    assertEquals("pig_9e1d", workflow.id);
    assertEquals("s.pig", workflow.name);
    assertEquals("scope-20", workflow.node);
    assertEquals(names("job_1_0001", "job_1_0002"), workflow.parentJobIds);
    assertEquals(4, workflow.nodes.size());
    assertEquals(Collections.emptyList(), workflow.nodes.get("scope-10"));
    assertEquals(names("scope-10"), workflow.nodes.get("scope-20"));
    assertEquals(names("scope-20", "scope-21"), workflow.nodes.get("scope-30"));
    assertEquals(0, workflow.quietSeconds);
  }

  /**
   * The graph is that of "insert ... select ... order by" in Hive 3.1. Newer versions encode the
   * property hive.query.string.
   */
  @Test
  public void hiveReportsItsQueryWithoutLiteralsAndMoves() throws UnsupportedEncodingException {
    final String query = "insert overwrite table t\n select 'a', 12 from u where d = '2026'";
    final Configuration conf =
        conf(
            "hive.query.id", "root_20261128_1",
            "hive.query.string", URLEncoder.encode(query, "UTF-8"),
            "mapreduce.workflow.id", "hive_root_20261128_1",
            "mapreduce.workflow.name", query,
            "mapreduce.workflow.node.name", "Stage-1");
    conf.setStrings("mapreduce.workflow.adjacency.Stage-1", "Stage-2");
    conf.setStrings("mapreduce.workflow.adjacency.Stage-2", "Stage-0");
    conf.setStrings("mapreduce.workflow.adjacency.Stage-0", "Stage-3");
    final WorkflowDescription workflow = of(conf);
    assertEquals("hive_root_20261128_1", workflow.id);
    assertEquals("insert overwrite table t select ?, ? from u where d = ?", workflow.name);
    assertEquals(names("Stage-1", "Stage-2"), Arrays.asList(workflow.nodes.keySet().toArray()));
  }

  @Test
  public void enginesWithoutHadoopsPropertiesAreKnownByTheirOwn() {
    final WorkflowDescription oozie =
        Workflows.of(
            conf("oozie.job.id", "0000001-W", "oozie.action.id", "0000001-W@count"),
            "oozie:action:T=map-reduce:W=daily:A=count:ID=0000001-W",
            NO_VARIABLES);
    assertEquals("oozie_0000001-W", oozie.id);
    assertEquals("daily", oozie.name);
    assertEquals("count", oozie.node);
    final WorkflowDescription cascading =
        of(
            conf(
                "cascading.flow.id", "77",
                "cascading.flow.name", "etl",
                "cascading.flow.step.num", "2"));
    assertEquals("cascading_77", cascading.id);
    assertEquals("etl", cascading.name);
    assertEquals("step 2", cascading.node);
    final WorkflowDescription hive =
        of(conf("hive.query.id", "1", "hive.query.string", "select 1"));
    assertEquals("hive_1", hive.id);
    assertEquals("select ?", hive.name);
    assertEquals("pig_2", of(conf("pig.script.id", "2")).id);
  }

  @Test
  public void aTagNamesTheWorkflowOfAnyJob() {
    final WorkflowDescription workflow =
        Workflows.of(
            conf("tidemark.workflow.id", "nightly-2026-11-28"), "streamjob47.jar", NO_VARIABLES);
    assertEquals("nightly-2026-11-28", workflow.id);
    assertEquals("nightly", workflow.name);
    assertEquals("streamjob.jar", workflow.node);
    assertTrue(workflow.nodes.isEmpty());
    final Configuration named =
        conf(
            "tidemark.workflow.id", "2026",
            "tidemark.workflow.name", "report",
            "tidemark.workflow.quiet.seconds", "3600");
    assertEquals("report", of(named).name);
    assertEquals(3600, of(named).quietSeconds);
    assertEquals("2026", of(conf("tidemark.workflow.id", "2026")).name);
    assertEquals("REPORT", of(conf("tidemark.workflow.id", "REPORT")).name);
    assertEquals("ETL-TEST", of(conf("tidemark.workflow.id", "ETL-TEST_2026-11-28T07:30Z")).name);
  }

  @Test
  public void theEnvironmentNamesTheWorkflowUnlessTheConfigurationDoes() {
    final UnaryOperator<String> variables =
        name -> name.equals("TIDEMARK_WORKFLOW") ? "w-7" : null;
    assertEquals("w-7", Workflows.of(conf(), "count", variables).id);
    assertEquals("x", Workflows.of(conf("tidemark.workflow.id", "x"), "count", variables).id);
  }

  @Test
  public void nodesOfAScriptWithinAWorkflowGetItsName() {
    final Configuration conf = pig();
    conf.set("tidemark.workflow.id", "nightly-1");
    final WorkflowDescription workflow = of(conf);
    assertEquals("nightly-1", workflow.id);
    assertEquals("scope-20 of s.pig", workflow.node);
    assertEquals(
        names("scope-20 of s.pig", "scope-21 of s.pig"), workflow.nodes.get("scope-30 of s.pig"));
    assertEquals(2, workflow.parentJobIds.size());
  }

  @Test
  public void aGraphThatIsTooLargeOrWithoutTheJobIsNotReported() {
    final Configuration large = pig();
    for (int i = 0; i < 1_000; ++i) {
      large.set("mapreduce.workflow.adjacency.n" + i, "scope-30");
    }
    assertTrue(of(large).nodes.isEmpty());
    assertEquals("pig_9e1d", of(large).id);
    final Configuration other = pig();
    other.set("mapreduce.workflow.node.name", "scope-99");
    assertTrue(of(other).nodes.isEmpty());
  }

  @Test
  public void aWrongSettingLeavesTheJobWithoutAWorkflow() {
    assertNull(
        of(conf("tidemark.workflow.id", "x", "tidemark.workflow.quiet.seconds", "long")));
  }
}
