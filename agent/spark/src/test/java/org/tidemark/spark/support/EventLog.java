package org.tidemark.spark.support;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
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
import org.tidemark.jvm.support.LogReader;
import org.tidemark.jvm.support.Master;
import org.tidemark.jvm.wire.ProtoReader;

/** The parts of a master's log of an application that the tests need. */
public final class EventLog {
  /** The last reported state of a stage. */
  public static final class Stage {
    public String name = "";
    public String signature = "";
    public String group = "";
    public int tasks = -1;
    /** Set if the tasks are for some partitions only. */
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
  /** By stage.attempt: the outcome, by number. */
  public final Map<String, Integer> closedStages = new TreeMap<>();
  /** The names and outcomes of SQL executions and jobs. */
  public final Map<String, String> groupNames = new TreeMap<>();
  public final Map<String, Integer> closedGroups = new TreeMap<>();
  /** By stage.attempt: the time from which its tasks could run, in milliseconds. */
  private final Map<String, Long> openedMillis = new TreeMap<>();
  /** By stage.index: the input of the task when it finished. */
  public final Map<String, Long> inputBytes = new TreeMap<>();
  public final Map<String, Long> inputRecords = new TreeMap<>();
  /** By stage.attempt.index.attempt: its states, by number. */
  public final Map<String, Set<Integer>> attempts = new TreeMap<>();
  /** By the same: the number of reports, and the processor time. */
  public final Map<String, Long> cpuMicros = new TreeMap<>();
  /** By the same: the last reported wait. */
  public final Map<String, Long> processorWaitMicros = new TreeMap<>();
  public final Map<String, Long> memoryWaitMicros = new TreeMap<>();
  /** By the same: the processed records of each report. */
  public final Map<String, List<Long>> recordsDone = new TreeMap<>();
  /** The attempts that read all input first. */
  public final Set<String> readFirst = new TreeSet<>();
  /** By the same: the start in milliseconds. */
  private final Map<String, Long> startedMillis = new TreeMap<>();
  /** By the same: the number of finished key groups. */
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
            final ProtoReader fields = new ProtoReader(event);
            while (fields.next()) {
              log.take(fields.field(), new ProtoReader(fields.content()));
            }
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
   * By stage.attempt.index.attempt: the milliseconds between the time it could run and its start.
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
   * Returns the largest relative difference between the predicted and the actual input of a task of
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

  private void takeParameter(ProtoReader body) {
    String name = "";
    while (body.next()) {
      if (body.field() == 1) {
        name = text(body);
      } else {
        parameters.put(name, text(body));
      }
    }
  }

  private void take(int kind, ProtoReader body) {
    switch (kind) {
      case 1:
        while (body.next()) {
          engine = body.field() == 2 ? text(body) : engine;
          if (body.field() == 10) {
            takeParameter(new ProtoReader(body.content()));
          }
        }
        break;
      case 2:
        while (body.next()) {
          outcome = body.field() == 1 ? (int) body.value() : outcome;
        }
        break;
      case 3:
        readStage(body);
        break;
      case 4:
        ++executors;
        while (body.next()) {
          if (body.field() == 2) {
            hosts.add(text(body));
          }
        }
        break;
      case 5:
        readAttempt(body);
        break;
      case 6:
        readHeartbeat(body);
        break;
      case 7:
        readMapProfile(body);
        break;
      case 8:
        readReduceProfile(body);
        break;
      case 9:
        final long[] stage = new long[4];
        while (body.next()) {
          if (body.field() < stage.length) {
            stage[body.field()] = body.value();
          }
        }
        closedStages.put(stage[1] + "." + stage[2], (int) stage[3]);
        break;
      case 10:
      case 11:
        takeGroup(body, kind == 10);
        break;
      case 12:
        ++closedExecutors;
        break;
      default:
        break;
    }
  }

  private void takeGroup(ProtoReader body, boolean isOpened) {
    String group = "";
    while (body.next()) {
      if (body.field() == 1) {
        group = text(body);
      } else if (body.field() == 2 && isOpened) {
        groupNames.put(group, text(body));
      } else if (body.field() == 2) {
        closedGroups.put(group, (int) body.value());
      }
    }
  }

  private void readStage(ProtoReader body) {
    final Stage stageFacts = new Stage();
    long number = 0;
    while (body.next()) {
      switch (body.field()) {
        case 1:
          number = body.value();
          break;
        case 2:
          stageFacts.attempt = body.value();
          break;
        case 3:
          stageFacts.name = text(body);
          break;
        case 4:
          stageFacts.signature = text(body);
          break;
        case 5:
          for (byte parent : body.content()) {
            stageFacts.parents.add((long) parent);  // the number of stages is small
          }
          break;
        case 6:
          stageFacts.group = text(body);
          break;
        case 8:
          stageFacts.tasks = (int) body.value();
          break;
        case 9:
          stageFacts.skipped = true;
          break;
        case 11:
          stageFacts.taskBytes = varints(body.content());
          break;
        case 12:
          stageFacts.taskRecords = varints(body.content());
          break;
        case 18:
          openedMillis.put(number + "." + stageFacts.attempt, body.value() / NANOS_PER_MILLI);
          break;
        case 19:
          stageFacts.indexes = (int) body.value();
          break;
        default:
          break;
      }
    }
    final Stage before = stages.put(number, stageFacts);
    if (before != null) {
      stageFacts.skipped |= before.skipped;
      stageFacts.taskBytes = stageFacts.taskBytes.length == 0 ? before.taskBytes : stageFacts.taskBytes;
      stageFacts.taskRecords = stageFacts.taskRecords.length == 0 ? before.taskRecords : stageFacts.taskRecords;
    }
  }

  private void readAttempt(ProtoReader body) {
    String id = "";
    int state = 0;
    while (body.next()) {
      if (body.field() == 1) {
        id = attempt(body.content());
      } else if (body.field() == 2) {
        state = (int) body.value();
        attempts.computeIfAbsent(id, missing -> new HashSet<>()).add(state);
      } else if (body.field() == 3 && state == STARTED) {
        startedMillis.put(id, body.value() / NANOS_PER_MILLI);
      } else if (body.field() == 6) {
        final String[] numbers = id.split("\\.");
        inputBytes.put(numbers[0] + "." + numbers[2], body.value());
      } else if (body.field() == 7) {
        final String[] numbers = id.split("\\.");
        inputRecords.put(numbers[0] + "." + numbers[2], body.value());
      }
    }
  }

  private void readHeartbeat(ProtoReader body) {
    String id = "";
    long records = 0;
    while (body.next()) {
      switch (body.field()) {
        case 1:
          id = attempt(body.content());
          break;
        case 3:
          records = body.value();
          break;
        case 5:
          cpuMicros.put(id, body.value());
          break;
        case 7:
          processorWaitMicros.put(id, body.value());
          break;
        case 8:
          memoryWaitMicros.put(id, body.value());
          break;
        case 11:
          readFirst.add(id);
          break;
        default:
          break;
      }
    }
    recordsDone.computeIfAbsent(id, missing -> new ArrayList<>()).add(records);
  }

  private void readMapProfile(ProtoReader body) {
    while (body.next()) {
      if (body.field() == 2) {
        final ProtoReader partition = new ProtoReader(body.content());
        while (partition.next()) {
          if (partition.field() == 2) {
            mapBytes += partition.value();
          } else if (partition.field() == 3) {
            heavyKeys.addAll(fixed64s(partition.content()));
          }
        }
      }
    }
  }

  private void readReduceProfile(ProtoReader body) {
    String id = "";
    while (body.next()) {
      if (body.field() == 1) {
        id = attempt(body.content());
      } else if (body.field() == 3) {
        groups.merge(id, body.value(), Math::max);
      } else if (body.field() == 4) {
        reduceBytes.merge(id, body.value(), Math::max);
      } else if (body.field() == 14) {
        doneKeys.addAll(fixed64s(body.content()));
      }
    }
  }

  private static long[] varints(byte[] packed) {
    final List<Long> values = new ArrayList<>();
    long value = 0;
    int shift = 0;
    for (byte part : packed) {
      value |= (long) (part & 0x7F) << shift;
      shift += 7;
      if (part >= 0) {
        values.add(value);
        value = 0;
        shift = 0;
      }
    }
    return values.stream().mapToLong(Long::longValue).toArray();
  }

  private static Set<Long> fixed64s(byte[] packed) {
    final long[] values = new long[packed.length / Long.BYTES];
    ByteBuffer.wrap(packed).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer().get(values);
    return Arrays.stream(values).boxed().collect(Collectors.toSet());
  }

  private static String attempt(byte[] message) {
    final ProtoReader fields = new ProtoReader(message);
    final long[] numbers = new long[5];
    while (fields.next()) {
      numbers[fields.field()] = fields.value();
    }
    return numbers[1] + "." + numbers[2] + "." + numbers[3] + "." + numbers[4];
  }

  private static String text(ProtoReader field) {
    return new String(field.content(), StandardCharsets.UTF_8);
  }
}
