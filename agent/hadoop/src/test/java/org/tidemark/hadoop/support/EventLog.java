package org.tidemark.hadoop.support;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.tidemark.jvm.profile.KeySampler;
import org.tidemark.jvm.support.Fields;
import org.tidemark.jvm.support.LogReader;
import org.tidemark.jvm.support.Master;

/** The parts of a master's event log of a job (docs/internals/event-log.md) that the tests need. */
public final class EventLog {
  public static final class Partition {
    public int partition;
    public long totalBytes;
    public final Map<Long, Long> explicit = new HashMap<>();
    public final Map<Long, Long> sampled = new HashMap<>();
    public long explicitValues;
  }

  /** The last totals of a reduce attempt, and all named keys. */
  public static final class Reduce {
    public long groups;
    public long bytes;
    public long nanos;
    /** Key groups with reported times, in bins. */
    public long points;
    public long dropped;
    public final Map<Long, Long> named = new HashMap<>();
  }

  /** JobOutcome; 0 while the job is open. */
  public int outcome;

  public int refused;
  public int mapTasks = -1;
  public int reduceTasks = -1;
  /** The times of each state in milliseconds by state number, by attempt ("m-0.1"). */
  public final Map<String, Map<Integer, Long>> attempts = new TreeMap<>();

  public final Map<String, String> hosts = new HashMap<>();
  private final Map<String, String> executors = new HashMap<>();  // hosts, by source and number
  private String source = "";
  public final Set<String> speculative = new HashSet<>();
  public final Map<String, List<Partition>> mapProfiles = new TreeMap<>();
  /** The bound of the sample of each map task that has a sample. */
  public final Map<String, Long> sampledBelow = new HashMap<>();

  public final Map<String, Reduce> reduces = new TreeMap<>();
  public final Map<String, Long> inputBytes = new HashMap<>();
  /**
   * The last reported processor time of each attempt. The second map contains attempts that
   * reported a wait for a processor.
   */
  public final Map<String, Long> cpuMicros = new HashMap<>();

  /** Attempts that reported their processor time before they read anything. */
  public final Set<String> tellStarts = new HashSet<>();

  public final Set<String> tellWaits = new HashSet<>();

  /** Reads the log of a job that has ended or is about to end. */
  public static EventLog of(Master master, String jobId) throws IOException, InterruptedException {
    final EventLog log = new EventLog();
    LogReader.read(
        master.log(jobId),
        new LogReader.Taker() {
          @Override
          public void event(String source, byte[] event) {
            log.source = source;
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

  public long mapBytes() {
    return mapProfiles.values().stream().flatMap(List::stream).mapToLong(p -> p.totalBytes).sum();
  }

  /** Returns the bytes of explicit keys by hash, over all map tasks. */
  public Map<Long, Long> explicitKeys() {
    final Map<Long, Long> keys = new HashMap<>();
    mapProfiles.values().stream()
        .flatMap(List::stream)
        .forEach(p -> p.explicit.forEach((hash, bytes) -> keys.merge(hash, bytes, Long::sum)));
    return keys;
  }

  /**
   * Returns the bytes of sampled keys by hash, over all map tasks. Includes only keys with ranks
   * below all bounds.
   */
  public Map<Long, Long> sampledKeys() {
    final long below =
        sampledBelow.size() < mapProfiles.size()
            ? 0
            : sampledBelow.values().stream().min(Long::compareUnsigned).orElse(0L);
    final Map<Long, Long> keys = new HashMap<>();
    mapProfiles.values().stream()
        .flatMap(List::stream)
        .flatMap(p -> Stream.of(p.explicit, p.sampled))
        .forEach(some -> some.forEach((hash, bytes) -> keys.merge(hash, bytes, Long::sum)));
    keys.keySet().removeIf(hash -> Long.compareUnsigned(KeySampler.rank(hash), below) >= 0);
    return keys;
  }

  public long groups() {
    return reduces.values().stream().mapToLong(r -> r.groups).sum();
  }

  public long reduceBytes() {
    return reduces.values().stream().mapToLong(r -> r.bytes).sum();
  }

  public Map<Long, Long> namedKeys() {
    final Map<Long, Long> keys = new HashMap<>();
    reduces.values().forEach(r -> r.named.forEach((h, b) -> keys.merge(h, b, Long::sum)));
    return keys;
  }

  private void take(int kind, Fields body) {
    switch (kind) {
      case 1:
        takeOpened(body);
        break;
      case 2:
        outcome = (int) body.value(1);
        break;
      case 4:
        executors.put(source + body.value(1), body.text(2));
        break;
      case 5:
        takeAttempt(body);
        break;
      case 6:
        if (body.has(5) && body.value(2) == 0) {
          tellStarts.add(attempt(body));
        }
        takeTime(attempt(body), body);
        break;
      case 7:
        takeMapProfile(body);
        break;
      case 8:
        takeReduceProfile(body);
        break;
      default:
        break;
    }
  }

  private void takeOpened(Fields opened) {
    boolean hasReduces = false;
    for (Fields stage : opened.messages(8)) {
      if (stage.value(1) != 0) {
        hasReduces = true;
        reduceTasks = stage.has(8) ? (int) stage.value(8) : reduceTasks;
      } else if (stage.has(8)) {
        mapTasks = (int) stage.value(8);
      }
    }
    reduceTasks = hasReduces ? reduceTasks : 0;
  }

  private void takeAttempt(Fields changed) {
    final String id = attempt(changed);
    attempts
        .computeIfAbsent(id, missing -> new TreeMap<>())
        .putIfAbsent((int) changed.value(2), changed.value(3) / 1_000_000);
    if (changed.has(4)) {
      hosts.put(id, executors.get(source + changed.value(4)));
    }
    if (changed.has(5)) {
      speculative.add(id);
    }
    if (changed.has(6)) {
      inputBytes.put(id, changed.value(6));
    }
  }

  /** Reads the fields of TaskHeartbeat or TimeUse. */
  private void takeTime(String id, Fields time) {
    if (time.has(5)) {
      cpuMicros.merge(id, time.value(5), Math::max);
    }
    if (time.has(7)) {
      tellWaits.add(id);
    }
  }

  private void takeMapProfile(Fields profile) {
    final String id = attempt(profile);
    if (profile.has(3)) {
      sampledBelow.put(id, profile.value(3));
    }
    final List<Partition> partitions = new ArrayList<>();
    profile.messages(2).forEach(partition -> partitions.add(partition(partition)));
    mapProfiles.put(id, partitions);
  }

  private static Partition partition(Fields fields) {
    final Partition partition = new Partition();
    partition.partition = (int) fields.value(1);
    partition.totalBytes = fields.value(2);
    merge(fields.fixed64s(3), fields.varints(4), partition.explicit);
    merge(fields.fixed64s(8), fields.varints(9), partition.sampled);
    partition.explicitValues = Arrays.stream(fields.varints(10)).sum();
    return partition;
  }

  private void takeReduceProfile(Fields profile) {
    final String id = attempt(profile);
    final Reduce reduce = reduces.computeIfAbsent(id, missing -> new Reduce());
    reduce.groups = profile.has(3) ? profile.value(3) : reduce.groups;
    reduce.bytes = profile.has(4) ? profile.value(4) : reduce.bytes;
    reduce.nanos = profile.has(5) ? profile.value(5) : reduce.nanos;
    reduce.dropped = profile.has(19) ? profile.value(19) : reduce.dropped;
    reduce.points += Arrays.stream(profile.varints(7)).sum();
    merge(profile.fixed64s(14), profile.varints(15), reduce.named);
    takeTime(id, profile.message(24));
  }

  private static void merge(long[] hashes, long[] numbers, Map<Long, Long> sums) {
    for (int i = 0; i < hashes.length; ++i) {
      sums.merge(hashes[i], numbers[i], Long::sum);
    }
  }

  /** Formats the TaskAttemptId of a message. */
  private static String attempt(Fields message) {
    final Fields id = message.message(1);
    return (id.value(1) == 0 ? "m-" : "r-") + id.value(3) + "." + id.value(4);
  }
}
