package org.tidemark.jvm.profile;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.Test;
import org.tidemark.jvm.Vectors;

/** Tests the rules that the agents in Java and C++ share. */
public class SharedVectorsTest {
  private static final double NANO = 1.0;

  @Test
  public void keyHashes() throws Exception {
    final JsonNode vectors = Vectors.read("key_hash.json");
    assertTrue(vectors.size() >= 40);
    for (JsonNode vector : vectors) {
      final byte[] key = Vectors.bytes(vector.get("key_hex").asText());
      assertEquals(Vectors.hash(vector.get("hash")), KeyHash.of(key, 0, key.length));
    }
  }

  @Test
  public void keyHashesWithinALongerArray() throws Exception {
    for (JsonNode vector : Vectors.read("key_hash.json")) {
      final byte[] key = Vectors.bytes(vector.get("key_hex").asText());
      final byte[] around = new byte[key.length + 7];
      System.arraycopy(key, 0, around, 3, key.length);
      assertEquals(Vectors.hash(vector.get("hash")), KeyHash.of(around, 3, key.length));
    }
  }

  @Test
  public void timesOfBursts() throws Exception {
    for (JsonNode vector : Vectors.read("bursting.json")) {
      final long[] sizes = longs(vector.get("sizes_bytes"));
      final double[] nanos =
          Burst.split(sizes, sizes.length, vector.get("elapsed_nanos").asLong());
      for (int i = 0; i < nanos.length; ++i) {
        assertEquals(vector.get("nanos").get(i).asDouble(), nanos[i], NANO);
      }
    }
  }

  @Test
  public void binsOfSizes() throws Exception {
    for (JsonNode vector : Vectors.read("size_bins.json")) {
      final long size = vector.get("size_bytes").asLong();
      assertEquals("of " + size, vector.get("bin").asInt(), SizeHistogram.bin(size));
    }
  }

  @Test
  public void smoothedPoints() throws Exception {
    for (JsonNode vector : Vectors.read("smoothed_points.json")) {
      final SmoothedPoints smoothed = new SmoothedPoints(vector.get("points_max").asInt());
      for (JsonNode added : vector.get("added")) {
        smoothed.add(added.get(0).asLong(), added.get(1).asLong(), added.get(2).asDouble());
      }
      checkPoints(vector.get("points"), smoothed.points());
    }
  }

  @Test
  public void heaviestKeys() throws Exception {
    for (JsonNode vector : Vectors.read("heaviest_keys.json")) {
      final int partitionCount = vector.get("partition_count").asInt();
      final HeaviestKeys heaviest =
          new HeaviestKeys(partitionCount, vector.get("lambda").asInt());
      for (JsonNode offered : vector.get("offered")) {
        heaviest.offer(
            offered.get(0).asInt(), Vectors.hash(offered.get(1)), offered.get(2).asLong(), 1);
      }
      for (JsonNode expected : vector.get("partitions")) {
        final PartitionKeys keys = heaviest.keysOf(expected.get("partition").asInt());
        assertEquals(expected.get("total_bytes").asLong(), keys.totalBytes);
        assertEquals(expected.get("implicit_key_count").asLong(), keys.implicitKeyCount);
        assertEquals(expected.get("implicit_bytes").asLong(), keys.implicitBytes);
        assertEquals(expected.get("explicit").size(), keys.explicitHashes.length);
        for (int i = 0; i < keys.explicitHashes.length; ++i) {
          final JsonNode key = expected.get("explicit").get(i);
          assertEquals(Vectors.hash(key.get(0)), keys.explicitHashes[i]);
          assertEquals(key.get(1).asLong(), keys.explicitBytes[i]);
        }
      }
    }
  }

  @Test
  public void ranksOfKeys() throws Exception {
    for (JsonNode vector : Vectors.read("sample_rank.json")) {
      assertEquals(
          Vectors.hash(vector.get("rank")), KeySampler.rank(Vectors.hash(vector.get("hash"))));
    }
  }

  @Test
  public void sampledKeys() throws Exception {
    for (JsonNode vector : Vectors.read("key_sample.json")) {
      final JsonNode offers = vector.get("offered");
      final HeaviestKeys heaviest = new HeaviestKeys(offers.size(), vector.get("lambda").asInt());
      final KeySampler sampler = new KeySampler(vector.get("capacity").asInt());
      for (JsonNode offered : offers) {
        final int partition = offered.get(0).asInt();
        final long hash = Vectors.hash(offered.get(1));
        heaviest.offer(partition, hash, offered.get(2).asLong(), offered.get(3).asLong());
        sampler.offer(partition, hash, offered.get(2).asLong(), offered.get(3).asLong());
      }
      assertEquals(Vectors.hash(vector.get("below")), sampler.below());
      for (JsonNode expected : vector.get("partitions")) {
        final PartitionKeys keys = heaviest.keysOf(expected.get("partition").asInt());
        sampler.addTo(keys);
        checkKeys(
            expected.get("explicit"), keys.explicitHashes, keys.explicitBytes, keys.explicitValues);
        checkKeys(
            expected.get("sampled"), keys.sampledHashes, keys.sampledBytes, keys.sampledValues);
      }
    }
  }

  /** Compares keys in any order, since their order is not specified. */
  private static void checkKeys(JsonNode expected, long[] hashes, long[] sizes, long[] values) {
    final Set<List<Long>> keys = new HashSet<>();
    for (int i = 0; i < hashes.length; ++i) {
      keys.add(Arrays.asList(hashes[i], sizes[i], values[i]));
    }
    final Set<List<Long>> expectedKeys = new HashSet<>();
    for (JsonNode key : expected) {
      expectedKeys.add(
          Arrays.asList(
              Vectors.hash(key.get(0)), key.get(1).asLong(), key.get(2).asLong()));
    }
    assertEquals(expectedKeys, keys);
    assertEquals(expected.size(), hashes.length);
  }

  @Test
  public void unitsOfAReduceTask() throws Exception {
    for (JsonNode vector : Vectors.read("reduce_units.json")) {
      final MeterSettings settings = new MeterSettings();
      settings.setBurstThresholdBytes(vector.get("burst_threshold_bytes").asLong());
      settings.setBurstGroupsMax(vector.get("burst_groups_max").asLong());
      settings.setSendPoints(true);
      final ReduceMeter meter = new ReduceMeter(settings);
      drive(meter, vector.get("calls"));
      final ReduceMeter.Taken taken = meter.take(true);
      final JsonNode expected = vector.get("profile");
      assertEquals(expected.get("groups_done").asLong(), taken.groupsDone);
      assertEquals(expected.get("bytes_done").asLong(), taken.bytesDone);
      assertEquals(expected.get("reduce_nanos").asLong(), taken.reduceNanos);
      checkPoints(expected.get("points"), taken.points);
      assertEquals(expected.get("named").size(), taken.named);
      for (int i = 0; i < taken.named; ++i) {
        final JsonNode key = expected.get("named").get(i);
        assertEquals(Vectors.hash(key.get(0)), taken.namedHashes[i]);
        assertEquals(key.get(1).asLong(), taken.namedSizes[i]);
        assertEquals(key.get(2).asLong(), taken.namedNanos[i]);
        assertEquals(key.get(3).asLong(), taken.namedEmitted[i]);
      }
    }
  }

  // ["begin", key] ["read", bytes] ["emit", bytes] ["end"] ["at", nanos] ["finish"].
  private static void drive(ReduceMeter meter, JsonNode calls) {
    long now = 0;
    long emitted = 0;
    meter.start(now);
    for (JsonNode call : calls) {
      final JsonNode value = call.get(1);
      switch (call.get(0).asText()) {
        case "at":
          now = value.asLong();
          break;
        case "begin":
          final byte[] key = Vectors.bytes(value.asText());
          emitted = 0;
          meter.begin(KeyHash.of(key, 0, key.length), 0);
          break;
        case "read":
          final boolean turnsLarge = meter.turnsLarge(value.asLong());
          meter.read(value.asLong());
          if (turnsLarge) {
            meter.turnLarge(now);
          }
          break;
        case "emit":
          emitted += value.asLong();
          break;
        case "end":
          if (meter.end(emitted)) {
            meter.closeUnit(now);
          }
          break;
        default:
          meter.finish(now);
      }
    }
  }

  private static void checkPoints(JsonNode expected, List<GroupPoint> points) {
    assertEquals(expected.size(), points.size());
    for (int i = 0; i < points.size(); ++i) {
      assertEquals(expected.get(i).get(0).asLong(), points.get(i).sizeBytes);
      assertEquals(expected.get(i).get(1).asLong(), points.get(i).count());
      assertEquals(
          expected.get(i).get(2).asDouble(), points.get(i).nanos(), NANO * points.get(i).count());
    }
  }

  private static long[] longs(JsonNode numbers) {
    final long[] values = new long[numbers.size()];
    for (int i = 0; i < values.length; ++i) {
      values[i] = numbers.get(i).asLong();
    }
    return values;
  }
}
