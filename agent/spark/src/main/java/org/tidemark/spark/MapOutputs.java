package org.tidemark.spark;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.nio.file.Files;
import java.util.Map;
import org.apache.spark.SparkEnv;
import org.apache.spark.shuffle.ShuffleManager;
import org.tidemark.jvm.report.Latest;

/**
 * Reads the sizes of this process's map outputs for each partition from index files. Needed if a
 * shuffle has so many partitions that Spark reports only their average size to its driver.
 * Thread-safe.
 */
final class MapOutputs {
  /** With this many partitions or more, Spark keeps one average for most of a map output. */
  private static final int AVERAGED_FROM = 2_001;

  /** With more partitions, the report of a task would exceed 80 kB. */
  static final int PARTITIONS_MAX = 10_000;

  /** A field of Spark's shuffle manager that contains this process's tasks by shuffle. */
  private static final String TASKS_OF_SHUFFLES = "taskIdMapsForShuffle";

  private static final int NOT_OF_USE = -1;

  private final SparkEnv env;
  private final Members members;
  /** Null if the shuffle manager has no such field. */
  private final Map<?, ?> tasksOfShuffles;
  /** The shuffle of each stage, or NOT_OF_USE. Guarded by the map's own lock. */
  private final Map<Integer, Integer> shuffleOfStage = new Latest<>();

  MapOutputs(SparkEnv env, Members members) throws IllegalAccessException {
    this.env = env;
    this.members = members;
    // With the old protocol, a task's number may belong to another output.
    final boolean isOld = env.conf().getBoolean("spark.shuffle.useOldFetchProtocol", false);
    tasksOfShuffles = isOld ? null : tasksOfShuffles(env);
  }

  /** Returns true if Spark sends averages to its driver for this number of partitions. */
  static boolean areAveraged(int partitions) {
    return partitions >= AVERAGED_FROM;
  }

  /** Returns true if tasks report their output for this number of partitions. */
  static boolean areReported(long partitions) {
    return partitions >= AVERAGED_FROM && partitions <= PARTITIONS_MAX;
  }

  private static Map<?, ?> tasksOfShuffles(SparkEnv env) throws IllegalAccessException {
    for (Field holder : SparkEnv.class.getDeclaredFields()) {
      if (ShuffleManager.class.isAssignableFrom(holder.getType())) {
        holder.setAccessible(true);
        final Object manager = holder.get(env);
        try {
          final Field tasks = manager.getClass().getDeclaredField(TASKS_OF_SHUFFLES);
          tasks.setAccessible(true);
          return (Map<?, ?>) tasks.get(manager);
        } catch (NoSuchFieldException | RuntimeException anotherManager) {
          // The outputs are elsewhere.
        }
      }
    }
    return null;
  }

  /**
   * Returns the shuffle, the task, and the bytes of each partition, or null if there is no output
   * or if Spark's own sizes suffice. {@code task} is the task's number in the application.
   */
  long[] writtenBy(int stage, long task)
      throws IOException, ReflectiveOperationException {
    if (tasksOfShuffles == null) {
      return null;
    }
    final Integer known;
    synchronized (shuffleOfStage) {
      known = shuffleOfStage.get(stage);
    }
    // Reads the file without the lock, so that tasks do not wait for each other's files.
    final int shuffle = known == null ? shuffleOf(task) : known;
    final File index = shuffle == NOT_OF_USE ? null : indexOf(shuffle, task);
    final boolean isOfUse = index != null && areReported(index.length() / Long.BYTES - 1);
    synchronized (shuffleOfStage) {
      shuffleOfStage.put(stage, isOfUse ? shuffle : NOT_OF_USE);
    }
    return isOfUse ? readSizes(shuffle, task, Files.readAllBytes(index.toPath())) : null;
  }

  /** {@code index} contains the start of each partition, and the end of the last one. */
  static long[] readSizes(int shuffle, long task, byte[] index) {
    final LongBuffer offsets = ByteBuffer.wrap(index).asLongBuffer();
    final long[] sizes = new long[2 + offsets.remaining() - 1];
    sizes[0] = shuffle;
    sizes[1] = task;
    for (int p = 0; p < sizes.length - 2; ++p) {
      sizes[2 + p] = offsets.get(p + 1) - offsets.get(p);
    }
    return sizes;
  }

  private int shuffleOf(long task) throws ReflectiveOperationException {
    for (Map.Entry<?, ?> shuffle : tasksOfShuffles.entrySet()) {
      final Object tasks = shuffle.getValue();
      synchronized (tasks) {  // Spark uses the same lock.
        if ((Boolean) members.call(tasks, "contains", task)) {
          return (Integer) shuffle.getKey();
        }
      }
    }
    return NOT_OF_USE;
  }

  private File indexOf(int shuffle, long task) {
    return env.blockManager()
        .diskBlockManager()
        .getFile("shuffle_" + shuffle + "_" + task + "_0.index");
  }
}
