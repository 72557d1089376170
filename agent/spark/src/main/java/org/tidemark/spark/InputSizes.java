package org.tidemark.spark;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.spark.Dependency;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.NarrowDependency;
import org.apache.spark.OneToOneDependency;
import org.apache.spark.Partition;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.rdd.RDD;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.storage.StorageLevel;
import org.tidemark.jvm.wire.StageDescription;
import org.tidemark.jvm.wire.StageDescription.Precision;

/**
 * Determines the input size of each task of a stage when the stage is submitted. The driver's data
 * contains the sizes of map outputs, and of the files or splits of partitions. The size of a
 * partition is unknown if its RDD is cached or its source reports no sizes. The size of the stage
 * is then also unknown.
 *
 * <p>Reads objects of Spark's scheduler without its lock. If a stage was removed or a map output
 * has moved, the sizes are unknown. Belongs to one thread.
 */
final class InputSizes {
  /**
   * The maximum number of map output sizes to read for one stage, which takes about 50 ms. If there
   * are more, a sample of the map tasks represents all.
   */
  private static final long SAMPLES_MAX = 5_000_000;

  /** Tasks read only the requested columns of these files. */
  private static final Pattern COLUMNS = Pattern.compile("\\.(parquet|orc)$");

  private static final String SQL = "org.apache.spark.sql.execution.";

  /** Thrown if a size is unknown, which is expected. */
  private static final class Unknown extends Exception {
    Unknown(String what) {
      super(what, null, false, false);
    }
  }

  /** The sizes of partitions. */
  private static final class Sizes {
    final long[] bytes;
    final double[] records;
    boolean areRecordsKnown = true;

    Sizes(int partitions) {
      bytes = new long[partitions];
      records = new double[partitions];
    }

    void add(int partition, Sizes from, int fromPartition) {
      bytes[partition] += from.bytes[fromPartition];
      records[partition] += from.records[fromPartition];
    }
  }

  private final SparkContext context;
  private final Members members;
  private final ShuffleRecords shuffleRecords;
  private final WrittenSizes written;
  // The sizes of the current stage by RDD.
  private final Map<Integer, Sizes> known = new HashMap<>();
  private Precision precision;
  private long samplesLeft;

  InputSizes(
      SparkContext context,
      Members members,
      ShuffleRecords shuffleRecords,
      WrittenSizes written) {
    this.context = context;
    this.members = members;
    this.shuffleRecords = shuffleRecords;
    this.written = written;
  }

  /** Adds the sizes. Returns false if they are unknown. */
  boolean addTo(StageDescription stage) throws InterruptedException {
    try {
      final Object scheduled =
          Members.orNull(
              (scala.Option<?>)
                  members.call(context.dagScheduler().stageIdToStage(), "get", stage.number));
      if (scheduled == null) {
        return false;
      }
      precision = Precision.EXACT;
      samplesLeft = SAMPLES_MAX;
      final Sizes sizes = of((RDD<?>) members.call(scheduled, "rdd"));
      if (sizes.bytes.length != Math.max(stage.tasks, stage.indexes)) {
        return false;
      }
      stage.taskBytes = sizes.bytes;
      if (sizes.areRecordsKnown) {
        stage.taskRecords = Arrays.stream(sizes.records).mapToLong(Math::round).toArray();
      }
      stage.precision = precision;
      return true;
    } catch (Unknown | ReflectiveOperationException | RuntimeException notToBeHad) {
      return false;
    } finally {
      known.clear();
    }
  }

  private Sizes of(RDD<?> rdd)
      throws Unknown, ReflectiveOperationException, InterruptedException {
    final Sizes before = known.get(rdd.id());
    if (before != null) {
      return before;
    }
    if (!rdd.getStorageLevel().equals(StorageLevel.NONE())) {
      throw new Unknown("whether it is cached");
    }
    final Partition[] partitions = rdd.partitions();
    final Sizes sizes = new Sizes(partitions.length);
    boolean isSource = true;
    for (Object dependency : members.list(rdd, "dependencies")) {
      isSource = false;
      add((Dependency<?>) dependency, partitions, sizes);
    }
    if (isSource) {
      sizes.areRecordsKnown = false;
      for (int i = 0; i < partitions.length; ++i) {
        sizes.bytes[i] = ofSource(partitions[i]);
      }
    }
    known.put(rdd.id(), sizes);
    return sizes;
  }

  private void add(Dependency<?> dependency, Partition[] partitions, Sizes sizes)
      throws Unknown, ReflectiveOperationException, InterruptedException {
    if (dependency instanceof ShuffleDependency) {
      final ShuffleDependency<?, ?, ?> shuffle = (ShuffleDependency<?, ?, ?>) dependency;
      final long[] bytes = new long[partitions.length];
      addShuffled(shuffle, partitions, bytes);
      final double recordsPerByte = shuffleRecords.perByte(shuffle.shuffleId());
      sizes.areRecordsKnown &= recordsPerByte > 0;
      for (int i = 0; i < bytes.length; ++i) {
        sizes.bytes[i] += bytes[i];
        sizes.records[i] += bytes[i] * recordsPerByte;
      }
      return;
    }
    if (!(dependency instanceof NarrowDependency)) {
      throw new Unknown(dependency.getClass().getName());
    }
    final Sizes parent = of(dependency.rdd());
    sizes.areRecordsKnown &= parent.areRecordsKnown;
    for (int i = 0; i < partitions.length; ++i) {
      if (dependency instanceof OneToOneDependency) {
        sizes.add(i, parent, i);
      } else {
        for (Object from : members.list(dependency, "getParents", i)) {
          sizes.add(i, parent, (Integer) from);
        }
      }
    }
  }

  private void addShuffled(
      ShuffleDependency<?, ?, ?> dependency, Partition[] partitions, long[] bytes)
      throws Unknown, ReflectiveOperationException, InterruptedException {
    final MapStatus[] maps = mapsOf(dependency.shuffleId());
    final int reducers = dependency.partitioner().numPartitions();
    long[] totals = totalsAsWritten(dependency.shuffleId(), maps, reducers);
    if (totals == null) {
      worsenWhereAveraged(reducers);
    }
    for (int i = 0; i < partitions.length; ++i) {
      final String kind = partitions[i].getClass().getName();
      if (!kind.startsWith(SQL + "ShuffledRowRDDPartition")) {
        totals = totals == null ? totals(maps, reducers) : totals;
        bytes[i] += totals[partitions[i].index()];
        continue;
      }
      final Object spec = members.call(partitions[i], "spec");
      switch (spec.getClass().getSimpleName()) {
        case "CoalescedPartitionSpec":
          totals = totals == null ? totals(maps, reducers) : totals;
          for (int r = number(spec, "startReducerIndex"); r < number(spec, "endReducerIndex"); ++r) {
            bytes[i] += totals[r];
          }
          break;
        case "PartialReducerPartitionSpec":
          worsenWhereAveraged(reducers);
          bytes[i] +=
              sum(
                  maps,
                  number(spec, "startMapIndex"),
                  number(spec, "endMapIndex"),
                  number(spec, "reducerIndex"),
                  number(spec, "reducerIndex") + 1);
          break;
        case "PartialMapperPartitionSpec":
          worsenWhereAveraged(reducers);
          final int map = number(spec, "mapIndex");
          bytes[i] +=
              sum(
                  maps,
                  map,
                  map + 1,
                  number(spec, "startReducerIndex"),
                  number(spec, "endReducerIndex"));
          break;
        case "CoalescedMapperPartitionSpec":
          worsenWhereAveraged(reducers);
          bytes[i] +=
              sum(
                  maps,
                  number(spec, "startMapIndex"),
                  number(spec, "endMapIndex"),
                  0,
                  number(spec, "numReducers"));
          break;
        default:
          throw new Unknown(spec.getClass().getName());
      }
    }
  }

  private int number(Object spec, String name) throws ReflectiveOperationException {
    return (Integer) members.call(spec, name);
  }

  private MapStatus[] mapsOf(int shuffle) throws Unknown, ReflectiveOperationException {
    final Object tracker = SparkEnv.get().mapOutputTracker();
    final Object status =
        Members.orNull(
            (scala.Option<?>)
                members.call(
                    ((MapOutputTrackerMaster) tracker).shuffleStatuses(), "get", shuffle));
    if (status == null) {
      throw new Unknown("the shuffle");
    }
    return (MapStatus[]) members.call(status, "mapStatuses");
  }

  /**
   * Returns the totals by reducer, or null if only Spark's own sizes are known, which suffice for
   * fewer reducers.
   */
  private long[] totalsAsWritten(int shuffle, MapStatus[] maps, int reducers)
      throws Unknown, InterruptedException {
    if (!MapOutputs.areReported(reducers)) {
      return null;
    }
    final long[] tasks = new long[maps.length];
    for (int m = 0; m < maps.length; ++m) {
      tasks[m] = present(maps[m]).mapId();
    }
    final long[] totals = written.of(shuffle, tasks);
    return totals == null || totals.length != reducers ? null : totals;
  }

  /**
   * Returns the totals by reducer. If there are too many outputs, a sample of the map tasks
   * represents all.
   */
  private long[] totals(MapStatus[] maps, int reducers) throws Unknown {
    final long samples = (long) maps.length * reducers;
    final int step = (int) Math.max(1, (samples + samplesLeft - 1) / Math.max(1, samplesLeft));
    if (step > 1) {
      worsen(Precision.ESTIMATED);
    }
    samplesLeft = Math.max(1, samplesLeft - samples / step);
    final long[] totals = new long[reducers];
    int sampled = 0;
    for (int m = 0; m < maps.length; m += step) {
      final MapStatus map = present(maps[m]);
      ++sampled;
      for (int r = 0; r < reducers; ++r) {
        totals[r] += map.getSizeForBlock(r);
      }
    }
    for (int r = 0; step > 1 && r < reducers; ++r) {
      totals[r] = (long) ((double) totals[r] * maps.length / sampled);
    }
    return totals;
  }

  private long sum(MapStatus[] maps, int firstMap, int endMap, int firstReducer, int endReducer)
      throws Unknown {
    samplesLeft -= (long) (endMap - firstMap) * (endReducer - firstReducer);
    if (samplesLeft <= 0) {
      throw new Unknown("it would take too long");
    }
    long bytes = 0;
    for (int m = firstMap; m < endMap; ++m) {
      for (int r = firstReducer; r < endReducer; ++r) {
        bytes += present(maps[m]).getSizeForBlock(r);
      }
    }
    return bytes;
  }

  private static MapStatus present(MapStatus map) throws Unknown {
    if (map == null) {
      throw new Unknown("a map output");
    }
    return map;
  }

  private long ofSource(Partition partition) throws Unknown, ReflectiveOperationException {
    switch (partition.getClass().getSimpleName()) {
      case "HadoopPartition":
        worsen(Precision.ROUNDED);
        return lengthOf(members.call(members.call(partition, "inputSplit"), "value"));
      case "NewHadoopPartition":
        worsen(Precision.ROUNDED);
        return lengthOf(members.call(members.call(partition, "serializableHadoopSplit"), "value"));
      case "FilePartition":
        worsen(Precision.ROUNDED);
        return lengthOfFiles((Object[]) members.call(partition, "files"));
      default:
        throw new Unknown(partition.getClass().getName());
    }
  }

  private long lengthOfFiles(Object[] files) throws Unknown, ReflectiveOperationException {
    long bytes = 0;
    for (Object file : files) {
      if (COLUMNS.matcher(String.valueOf(members.call(file, "filePath"))).find()) {
        throw new Unknown("how many columns are read");
      }
      bytes += (Long) members.call(file, "length");
    }
    return bytes;
  }

  private long lengthOf(Object split) throws ReflectiveOperationException {
    return (Long) members.call(split, "getLength");
  }

  /**
   * Lowers the precision of averaged sizes. Only Spark's own data contains the output of single map
   * tasks.
   */
  private void worsenWhereAveraged(int reducers) {
    worsen(MapOutputs.areAveraged(reducers) ? Precision.ESTIMATED : Precision.ROUNDED);
  }

  private void worsen(Precision to) {
    precision = precision.compareTo(to) < 0 ? to : precision;
  }
}
