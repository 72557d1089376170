package org.tidemark.hadoop.support;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
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
import org.tidemark.jvm.support.LogReader;
import org.tidemark.jvm.support.Master;
import org.tidemark.jvm.wire.ProtoReader;

/** The parts of a master's log of a job (docs/internals/event-log.md) that the tests need. */
public final class EventLog {
  /** A partition of a map task. */
  public static final class Partition {
    public int partition;
    public long totalBytes;
    public long implicitKeys;
    public long implicitBytes;
    public boolean isScanned = true;
    public final Map<Long, Long> explicit = new HashMap<>();
    public final Map<Long, Long> sampled = new HashMap<>();
    public long explicitValues;
  }

  /** The last totals of a reduce attempt and all named keys. */
  public static final class Reduce {
    public long groups;
    public long bytes;
    public long nanos;
    /** Key groups with reported times, in bins. */
    public long points;
    public long dropped;
    public final Map<Long, Long> named = new HashMap<>();
    public final Map<Long, Long> namedNanos = new HashMap<>();
    public boolean hadRunningGroup;
  }

  /** JobOutcome; 0 while the job is open. */
  public int outcome;

  public int refused;
  public int mapTasks = -1;
  public int reduceTasks = -1;
  public long bytes;
  /** By "m-0.1": the times of its states in milliseconds, by number of state. */
  public final Map<String, Map<Integer, Long>> attempts = new TreeMap<>();

  public final Map<String, String> hosts = new HashMap<>();
  private final Map<String, String> executors = new HashMap<>();  // hosts, by source and number
  private String source = "";
  public final Set<String> speculative = new HashSet<>();
  public final Map<String, List<Partition>> mapProfiles = new TreeMap<>();
  /** The bound of each map task's sample, if it has one. */
  public final Map<String, Long> sampledBelow = new HashMap<>();

  public final Map<String, Reduce> reduces = new TreeMap<>();
  public final Map<String, Long> inputBytes = new HashMap<>();
  /**
   * The last reported processor time of each attempt, and attempts that reported a wait for a
   * processor.
   */
  public final Map<String, Long> cpuMicros = new HashMap<>();

  public final Set<String> tellWaits = new HashSet<>();

  /** Reads the log of a job that has ended, or will end soon. */
  public static EventLog of(Master master, String jobId) throws IOException, InterruptedException {
    final EventLog log = new EventLog();
    LogReader.read(
        master.log(jobId),
        new LogReader.Taker() {
          @Override
          public void event(String source, byte[] event) {
            log.source = source;
            log.bytes += event.length;
            log.readEvent(new ProtoReader(event));
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
   * Returns the bytes of sampled keys by hash, over all map tasks: keys with ranks below all
   * bounds.
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

  private void readEvent(ProtoReader event) {
    while (event.next()) {
      final ProtoReader body = new ProtoReader(event.content());
      switch (event.field()) {
        case 1:
          takeOpened(body);
          break;
        case 2:
          while (body.next()) {
            outcome = body.field() == 1 ? (int) body.value() : outcome;
          }
          break;
        case 4:
          takeExecutor(body);
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
        default:
          break;
      }
    }
  }

  private void takeOpened(ProtoReader opened) {
    boolean hasReduces = false;
    while (opened.next()) {
      if (opened.field() == 8) {
        hasReduces |= readStage(new ProtoReader(opened.content()));
      }
    }
    reduceTasks = hasReduces ? reduceTasks : 0;
  }

  /** Returns true for the stage of the reduce tasks. */
  private boolean readStage(ProtoReader stage) {
    long number = 0;
    while (stage.next()) {
      if (stage.field() == 1) {
        number = stage.value();
      } else if (stage.field() == 8 && number == 0) {
        mapTasks = (int) stage.value();
      } else if (stage.field() == 8) {
        reduceTasks = (int) stage.value();
      }
    }
    return number == 1;
  }

  private void takeExecutor(ProtoReader executor) {
    long number = 0;
    String host = "";
    while (executor.next()) {
      number = executor.field() == 1 ? executor.value() : number;
      if (executor.field() == 2) {
        host = new String(executor.content(), StandardCharsets.UTF_8);
      }
    }
    executors.put(source + number, host);
  }

  private void readAttempt(ProtoReader changed) {
    String id = "";
    int state = 0;
    long millis = 0;
    while (changed.next()) {
      switch (changed.field()) {
        case 1:
          id = attempt(changed.content());
          break;
        case 2:
          state = (int) changed.value();
          break;
        case 3:
          millis = changed.value() / 1_000_000;
          break;
        case 4:
          hosts.put(id, executors.get(source + changed.value()));
          break;
        case 5:
          speculative.add(id);
          break;
        case 6:
          inputBytes.put(id, changed.value());
          break;
        default:
          break;
      }
    }
    attempts.computeIfAbsent(id, missing -> new TreeMap<>()).putIfAbsent(state, millis);
  }

  private void readHeartbeat(ProtoReader heartbeat) {
    String id = "";
    while (heartbeat.next()) {
      if (heartbeat.field() == 1) {
        id = attempt(heartbeat.content());
      } else {
        readTime(id, heartbeat);
      }
    }
  }

  /** Reads a field of TaskHeartbeat or TimeUse. */
  private void readTime(String id, ProtoReader field) {
    if (field.field() == 5) {
      cpuMicros.merge(id, field.value(), Math::max);
    } else if (field.field() == 7) {
      tellWaits.add(id);
    }
  }

  private void readMapProfile(ProtoReader profile) {
    String id = "";
    final List<Partition> partitions = new ArrayList<>();
    while (profile.next()) {
      if (profile.field() == 1) {
        id = attempt(profile.content());
      } else if (profile.field() == 2) {
        partitions.add(partition(new ProtoReader(profile.content())));
      } else if (profile.field() == 3) {
        sampledBelow.put(id, profile.value());
      }
    }
    mapProfiles.put(id, partitions);
  }

  private static Partition partition(ProtoReader fields) {
    final Partition partition = new Partition();
    long[] hashes = {};
    long[] sizes = {};
    long[] sampledHashes = {};
    long[] sampledSizes = {};
    while (fields.next()) {
      switch (fields.field()) {
        case 1:
          partition.partition = (int) fields.value();
          break;
        case 2:
          partition.totalBytes = fields.value();
          break;
        case 3:
          hashes = fixed64s(fields.content());
          break;
        case 4:
          sizes = varints(fields.content());
          break;
        case 5:
          partition.implicitKeys = fields.value();
          break;
        case 6:
          partition.implicitBytes = fields.value();
          break;
        case 7:
          partition.isScanned = fields.value() > 0;
          break;
        case 8:
          sampledHashes = fixed64s(fields.content());
          break;
        case 9:
          sampledSizes = varints(fields.content());
          break;
        case 10:
          partition.explicitValues = Arrays.stream(varints(fields.content())).sum();
          break;
        default:
          break;
      }
    }
    for (int i = 0; i < hashes.length; ++i) {
      partition.explicit.put(hashes[i], sizes[i]);
    }
    for (int i = 0; i < sampledHashes.length; ++i) {
      partition.sampled.put(sampledHashes[i], sampledSizes[i]);
    }
    return partition;
  }

  private void readReduceProfile(ProtoReader fields) {
    Reduce reduce = new Reduce();
    String id = "";
    long[] hashes = {};
    long[] sizes = {};
    long[] nanos = {};
    while (fields.next()) {
      switch (fields.field()) {
        case 1:
          id = attempt(fields.content());
          reduce = reduces.computeIfAbsent(id, missing -> new Reduce());
          break;
        case 3:
          reduce.groups = fields.value();
          break;
        case 4:
          reduce.bytes = fields.value();
          break;
        case 5:
          reduce.nanos = fields.value();
          break;
        case 7:
          reduce.points += Arrays.stream(varints(fields.content())).sum();
          break;
        case 14:
          hashes = fixed64s(fields.content());
          break;
        case 15:
          sizes = varints(fields.content());
          break;
        case 18:
          reduce.hadRunningGroup = true;
          break;
        case 19:
          reduce.dropped = fields.value();
          break;
        case 16:
          nanos = varints(fields.content());
          break;
        case 24:
          for (ProtoReader time = new ProtoReader(fields.content()); time.next(); ) {
            readTime(id, time);
          }
          break;
        default:
          break;
      }
    }
    for (int i = 0; i < hashes.length; ++i) {
      reduce.named.merge(hashes[i], sizes[i], Long::sum);
      reduce.namedNanos.merge(hashes[i], nanos[i], Long::sum);
    }
  }

  private static String attempt(byte[] message) {
    final ProtoReader fields = new ProtoReader(message);
    boolean isMap = true;
    long index = 0;
    long number = 0;
    while (fields.next()) {
      isMap = fields.field() == 1 ? fields.value() == 0 : isMap;
      index = fields.field() == 3 ? fields.value() : index;
      number = fields.field() == 4 ? fields.value() : number;
    }
    return (isMap ? "m-" : "r-") + index + "." + number;
  }

  private static long[] fixed64s(byte[] packed) {
    final long[] values = new long[packed.length / 8];
    ByteBuffer.wrap(packed).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer().get(values);
    return values;
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
}
