package org.tidemark.spark.support;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.tidemark.jvm.support.Fields;
import org.tidemark.jvm.support.LogReader;
import org.tidemark.jvm.support.Master;

/** The parts of a master's event log of an application that the tests need. */
public final class EventLog {
  public static final class Stage {
    public String name = "";
    public String signature = "";
    public String group = "";
    public int tasks = -1;
    /** -1 unless the tasks are for some partitions only. */
    public int indexes = -1;
    public boolean skipped;
    /** The input of each task, by index; empty if unknown. */
    public long[] taskBytes = {};
    public long[] taskRecords = {};
    public long attempt;
    public final Set<Long> parents = new HashSet<>();
  }

  private static final int STARTED = 2;
  private static final int FINISHED = 4;
  private static final long NANOS_PER_MILLI = 1_000_000;

  public int outcome;
  public int refused;
  public String engine = "";
  public final Map<String, String> parameters = new TreeMap<>();
  public final Map<Long, Stage> stages = new TreeMap<>();
  public final Set<String> hosts = new HashSet<>();
  public int executors;
  public int closedExecutors;
  /** Outcome by stage.attempt. */
  public final Map<String, Integer> closedStages = new TreeMap<>();
  /** The names and outcomes of SQL executions and jobs. */
  public final Map<String, String> groupNames = new TreeMap<>();
  public final Map<String, Integer> closedGroups = new TreeMap<>();
  /** The time at which the tasks could first run, in milliseconds, by stage.attempt. */
  private final Map<String, Long> openedMillis = new TreeMap<>();
  /** The input of each task when it finished, by stage.index. */
  public final Map<String, Long> inputBytes = new TreeMap<>();
  public final Map<String, Long> inputRecords = new TreeMap<>();
  /** State numbers by stage.attempt.index.attempt. */
  public final Map<String, Set<Integer>> attempts = new TreeMap<>();
  /** The last reported processor time of each task attempt. */
  public final Map<String, Long> cpuMicros = new TreeMap<>();
  /** The last reported wait of each task attempt. */
  public final Map<String, Long> processorWaitMicros = new TreeMap<>();
  public final Map<String, Long> memoryWaitMicros = new TreeMap<>();
  public final Map<String, Long> scanWaitMicros = new TreeMap<>();
  /** The processed records in each report of a task attempt. */
  public final Map<String, List<Long>> recordsDone = new TreeMap<>();
  /** The attempts that read all input first. */
  public final Set<String> readFirst = new TreeSet<>();
  /** The start of each task attempt in milliseconds. */
  private final Map<String, Long> startedMillis = new TreeMap<>();
  /** The number of finished key groups of each task attempt. */
  public final Map<String, Long> groups = new TreeMap<>();
  /** The heavy keys of map tasks, and the finished keys of reduce tasks. */
  public final Set<Long> heavyKeys = new HashSet<>();
  public final Set<Long> doneKeys = new HashSet<>();
  /** The totals of map tasks and of reduce tasks. */
  public long mapBytes;
  public final Map<String, Long> reduceBytes = new TreeMap<>();
  /** The kinds of sources with events: "driver", "executor". */
  public final Set<String> sources = new HashSet<>();

  public static EventLog of(Master master, String applicationId)
      throws IOException, InterruptedException {
    final EventLog log = new EventLog();
    LogReader.read(
        master.log(applicationId),
        new LogReader.Taker() {
          @Override
          public void event(String source, byte[] event) {
            log.sources.add(source.split("-")[0]);
            final Fields fields = new Fields(event);
            fields.numbers().forEach(kind -> log.take(kind, fields.message(kind)));
          }

          @Override
          public void refusal() {
            ++log.refused;
          }
        });
    return log;
  }

  /** Returns the last state of an attempt. */
  public int stateOf(String attempt) {
    return Collections.max(attempts.get(attempt));
  }

  /** Returns the number of finished task attempts. */
  public long finished() {
    return attempts.values().stream().filter(states -> states.contains(FINISHED)).count();
  }

  /**
   * Returns how long each task attempt waited before its start although it could run, in
   * milliseconds, by stage.attempt.index.attempt.
   */
  public Map<String, Long> schedulerWaits() {
    final Map<String, Long> waits = new TreeMap<>();
    startedMillis.forEach(
        (attempt, started) -> {
          final String[] numbers = attempt.split("\\.");
          waits.put(attempt, started - openedMillis.get(numbers[0] + "." + numbers[1]));
        });
    return waits;
  }

  /**
   * Returns the largest relative difference between the predicted and the actual input of a task in
   * the stage. Ignores differences up to {@code bytes}.
   */
  public double worstSize(long stage, long bytes) {
    final long[] stageFacts = stages.get(stage).taskBytes;
    double worst = stageFacts.length == stages.get(stage).tasks ? 0 : Double.POSITIVE_INFINITY;
    for (int i = 0; i < stageFacts.length; ++i) {
      final long read = inputBytes.get(stage + "." + i);
      worst = Math.max(worst, (Math.abs(read - stageFacts[i]) - bytes) / (double) Math.max(1, read));
    }
    return worst;
  }

  public Set<Long> skipped() {
    return stages.entrySet().stream()
        .filter(entry -> entry.getValue().skipped)
        .map(Map.Entry::getKey)
        .collect(Collectors.toSet());
  }

  private void take(int kind, Fields body) {
    switch (kind) {
      case 1:
        engine = body.text(2);
        body.messages(10).forEach(parameter -> parameters.put(parameter.text(1), parameter.text(2)));
        break;
      case 2:
        outcome = (int) body.value(1);
        break;
      case 3:
        takeStage(body);
        break;
      case 4:
        ++executors;
        hosts.add(body.text(2));
        break;
      case 5:
        takeAttempt(body);
        break;
      case 6:
        takeHeartbeat(body);
        break;
      case 7:
        for (Fields partition : body.messages(2)) {
          mapBytes += partition.value(2);
          addAll(partition.fixed64s(3), heavyKeys);
        }
        break;
      case 8:
        groups.merge(attempt(body), body.value(3), Math::max);
        reduceBytes.merge(attempt(body), body.value(4), Math::max);
        addAll(body.fixed64s(14), doneKeys);
        break;
      case 9:
        closedStages.put(body.value(1) + "." + body.value(2), (int) body.value(3));
        break;
      case 10:
        groupNames.put(body.text(1), body.text(2));
        break;
      case 11:
        closedGroups.put(body.text(1), (int) body.value(2));
        break;
      case 12:
        ++closedExecutors;
        break;
      default:
        break;
    }
  }

  private void takeStage(Fields body) {
    final long number = body.value(1);
    final Stage stage = new Stage();
    stage.attempt = body.value(2);
    stage.name = body.text(3);
    stage.signature = body.text(4);
    addAll(body.varints(5), stage.parents);
    stage.group = body.text(6);
    stage.tasks = body.has(8) ? (int) body.value(8) : -1;
    stage.skipped = body.has(9);
    stage.taskBytes = body.varints(11);
    stage.taskRecords = body.varints(12);
    stage.indexes = body.has(19) ? (int) body.value(19) : -1;
    if (body.has(18)) {
      openedMillis.put(number + "." + stage.attempt, body.value(18) / NANOS_PER_MILLI);
    }
    final Stage before = stages.put(number, stage);
    if (before != null) {
      stage.skipped |= before.skipped;
      stage.taskBytes = stage.taskBytes.length == 0 ? before.taskBytes : stage.taskBytes;
      stage.taskRecords = stage.taskRecords.length == 0 ? before.taskRecords : stage.taskRecords;
    }
  }

  private void takeAttempt(Fields body) {
    final String id = attempt(body);
    final int state = (int) body.value(2);
    attempts.computeIfAbsent(id, missing -> new HashSet<>()).add(state);
    if (state == STARTED && body.has(3)) {
      startedMillis.put(id, body.value(3) / NANOS_PER_MILLI);
    }
    final String[] numbers = id.split("\\.");
    final String task = numbers[0] + "." + numbers[2];
    put(task, body, 6, inputBytes);
    put(task, body, 7, inputRecords);
  }

  private void takeHeartbeat(Fields body) {
    final String id = attempt(body);
    put(id, body, 5, cpuMicros);
    put(id, body, 7, processorWaitMicros);
    put(id, body, 8, memoryWaitMicros);
    put(id, body, 14, scanWaitMicros);
    if (body.has(11)) {
      readFirst.add(id);
    }
    recordsDone.computeIfAbsent(id, missing -> new ArrayList<>()).add(body.value(3));
  }

  /** Stores the value of a field if the message contains the field. */
  private static void put(String id, Fields body, int field, Map<String, Long> values) {
    if (body.has(field)) {
      values.put(id, body.value(field));
    }
  }

  private static void addAll(long[] numbers, Set<Long> all) {
    Arrays.stream(numbers).forEach(all::add);
  }

  /** Formats the TaskAttemptId of a message. */
  private static String attempt(Fields message) {
    final Fields id = message.message(1);
    return id.value(1) + "." + id.value(2) + "." + id.value(3) + "." + id.value(4);
  }
}
