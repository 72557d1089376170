package org.tidemark.hadoop;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.tidemark.jvm.wire.WorkflowDescription;

/**
 * Reads the workflow of a job from its configuration. Hive, Pig, Cascading and Oozie name it, or
 * the user does ({@link Keys#WORKFLOW_ID}, TIDEMARK_WORKFLOW).
 */
final class Workflows {
  private static final String VARIABLE = "TIDEMARK_WORKFLOW";
  private static final String HIVE_QUERY_ID = "hive.query.id";
  private static final String HIVE_QUERY = "hive.query.string";
  private static final String PIG_SCRIPT_ID = "pig.script.id";
  private static final String PIG_PARENTS = "pig.parent.jobid";
  private static final String CASCADING_FLOW_ID = "cascading.flow.id";
  private static final String CASCADING_FLOW_NAME = "cascading.flow.name";
  private static final String CASCADING_STEP = "cascading.flow.step.num";
  private static final String OOZIE_JOB_ID = "oozie.job.id";
  private static final String OOZIE_ACTION_ID = "oozie.action.id";

  /** Hive's id of the task that moves or fetches the result. No MapReduce job follows it. */
  private static final String HIVE_MOVE = "Stage-0";

  /** Literals of a query, which often differ between runs. */
  private static final Pattern LITERAL =
      Pattern.compile("'[^']*'|\"[^\"]*\"|\\b\\d+(?:\\.\\d+)?\\b");

  /** The name that Hadoop Streaming gives its jobs. The number differs in every run. */
  private static final Pattern STREAMING_NAME = Pattern.compile("streamjob\\d+\\.jar");

  /** The end of an id that differs in every run, such as a date. It begins before a digit. */
  private static final Pattern RUN_NUMBER = Pattern.compile("[-_.:]*\\d[-_.:\\dT]*Z?$");

  private static final Pattern OOZIE_NAME = Pattern.compile(":W=([^:]+)");

  /** The master accepts no larger graph. */
  private static final int NODES_MAX = 1_000;

  private static final int GRAPH_CHARS_MAX = 200_000;

  /** The part of an engine's name that fits into the name of a node. */
  private static final int ENGINE_NAME_CHARS_MAX = 48;

  private Workflows() {}

  /**
   * Returns the workflow, or null if the job belongs to none. {@code environment} returns an
   * environment variable or null.
   */
  static WorkflowDescription of(
      Configuration conf, String jobName, UnaryOperator<String> environment) {
    try {
      final String name = stable(jobName);
      final WorkflowDescription named = ofEngine(conf, name);
      final String variable = environment.apply(VARIABLE);
      final String tag =
          conf.getTrimmed(Keys.WORKFLOW_ID, variable == null ? "" : variable.trim());
      return tag.isEmpty() ? named : ofTag(conf, tag, named, name);
    } catch (RuntimeException unreadable) {
      TaskLog.warn("cannot read the workflow of the job: " + unreadable.getMessage());
      return null;
    }
  }

  /** Returns the workflow that an engine has set, or null. */
  private static WorkflowDescription ofEngine(Configuration conf, String jobName) {
    final String id = engineId(conf);
    if (id.isEmpty()) {
      return null;
    }
    final WorkflowDescription workflow = new WorkflowDescription(id);
    workflow.name = engineName(conf, jobName);
    workflow.node = conf.getTrimmed(MRJobConfig.WORKFLOW_NODE_NAME, "");
    if (workflow.node.isEmpty()) {
      workflow.node = engineNode(conf, jobName);
    }
    addGraph(conf, workflow);
    workflow.parentJobIds.addAll(conf.getTrimmedStringCollection(PIG_PARENTS));
    return workflow;
  }

  private static String engineId(Configuration conf) {
    final String[][] prefixedKeys = {
      {"", MRJobConfig.WORKFLOW_ID},
      {"hive_", HIVE_QUERY_ID},
      {"pig_", PIG_SCRIPT_ID},
      {"cascading_", CASCADING_FLOW_ID},
      {"oozie_", OOZIE_JOB_ID},
    };
    for (String[] prefixedKey : prefixedKeys) {
      final String id = conf.getTrimmed(prefixedKey[1], "");
      if (!id.isEmpty()) {
        return prefixedKey[0] + id;
      }
    }
    return "";
  }

  private static String engineName(Configuration conf, String jobName) {
    if (!conf.getTrimmed(HIVE_QUERY_ID, "").isEmpty()) {
      // Newer versions of Hive encode HIVE_QUERY as a URL.
      final String query = conf.get(MRJobConfig.WORKFLOW_NAME, conf.get(HIVE_QUERY, "hive"));
      return LITERAL.matcher(query.trim()).replaceAll("?").replaceAll("\\s+", " ");
    }
    final String name = conf.getTrimmed(MRJobConfig.WORKFLOW_NAME, "");
    if (!name.isEmpty()) {
      // Pig uses the path of the script.
      return conf.getTrimmed(PIG_SCRIPT_ID, "").isEmpty() ? name : withoutFolder(name);
    }
    if (!conf.getTrimmed(CASCADING_FLOW_ID, "").isEmpty()) {
      return conf.getTrimmed(CASCADING_FLOW_NAME, "cascading");
    }
    if (!conf.getTrimmed(OOZIE_JOB_ID, "").isEmpty()) {
      final Matcher inJobName = OOZIE_NAME.matcher(jobName);
      return inJobName.find() ? inJobName.group(1) : "oozie";
    }
    return jobName;
  }

  private static String withoutFolder(String path) {
    return path.endsWith("/") ? path : path.substring(path.lastIndexOf('/') + 1);
  }

  private static String engineNode(Configuration conf, String jobName) {
    final String step = conf.getTrimmed(CASCADING_STEP, "");
    if (!step.isEmpty()) {
      return "step " + step;
    }
    final String action = conf.getTrimmed(OOZIE_ACTION_ID, "");
    return action.isEmpty() ? jobName : action.substring(action.indexOf('@') + 1);
  }

  private static void addGraph(Configuration conf, WorkflowDescription workflow) {
    final Map<String, List<String>> after = new TreeMap<>();
    int chars = 0;
    for (String node :
        conf.getPropsWithPrefix(MRJobConfig.WORKFLOW_ADJACENCY_PREFIX_STRING).keySet()) {
      after.computeIfAbsent(node, unseen -> new ArrayList<>());
      for (String next :
          conf.getTrimmedStrings(MRJobConfig.WORKFLOW_ADJACENCY_PREFIX_STRING + node)) {
        after.computeIfAbsent(next, unseen -> new ArrayList<>()).add(node);
        chars += node.length() + next.length();
      }
    }
    if (!conf.getTrimmed(HIVE_QUERY_ID, "").isEmpty()) {
      removeMoves(after);
    }
    if (after.size() > NODES_MAX || chars > GRAPH_CHARS_MAX) {
      TaskLog.warn(
          "the graph of workflow " + workflow.id + " has " + after.size()
              + " nodes; it is too large to be reported");
      return;
    }
    // A graph without the job is of no use.
    if (after.containsKey(workflow.node)) {
      workflow.nodes.putAll(after);
    }
  }

  /** Removes the move of Hive's result and the tasks after it, which are no MapReduce jobs. */
  private static void removeMoves(Map<String, List<String>> after) {
    final List<String> removed = new ArrayList<>();
    if (after.remove(HIVE_MOVE) != null) {
      removed.add(HIVE_MOVE);
    }
    for (int i = 0; i < removed.size(); ++i) {
      final String move = removed.get(i);
      for (String node : new ArrayList<>(after.keySet())) {
        if (after.get(node).contains(move)) {
          after.remove(node);
          removed.add(node);
        }
      }
    }
  }

  /** Returns the user's workflow. The nodes of an engine's workflow within it get its name. */
  private static WorkflowDescription ofTag(
      Configuration conf, String tag, WorkflowDescription named, String jobName) {
    final WorkflowDescription workflow = new WorkflowDescription(tag);
    final String withoutRun = RUN_NUMBER.matcher(tag).replaceFirst("");
    workflow.name =
        conf.getTrimmed(Keys.WORKFLOW_NAME, withoutRun.isEmpty() ? tag : withoutRun);
    workflow.quietSeconds = Math.max(conf.getInt(Keys.WORKFLOW_QUIET_SECONDS, 0), 0);
    if (named == null) {
      workflow.node = jobName;
      return workflow;
    }
    final String suffix =
        " of "
            + named.name.substring(0, Math.min(named.name.length(), ENGINE_NAME_CHARS_MAX));
    workflow.node = named.node + suffix;
    for (Map.Entry<String, List<String>> node : named.nodes.entrySet()) {
      final List<String> after = new ArrayList<>();
      for (String before : node.getValue()) {
        after.add(before + suffix);
      }
      workflow.nodes.put(node.getKey() + suffix, after);
    }
    workflow.parentJobIds.addAll(named.parentJobIds);
    return workflow;
  }

  private static String stable(String jobName) {
    return jobName == null ? "" : STREAMING_NAME.matcher(jobName).replaceAll("streamjob.jar");
  }
}
