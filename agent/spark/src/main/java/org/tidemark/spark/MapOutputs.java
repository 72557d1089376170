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

/**
 * What map tasks of this process wrote for each partition, from the index files of their outputs,
 * where there are so many partitions that Spark tells its driver one average for most of them.
 * Thread-safe.
 */
final class MapOutputs {
  /** From so many partitions on, Spark keeps one average for most of a map output. */
  private static final int AVERAGED_FROM = 2_001;

  /** Of more, what a task would tell is not small any more: 80 kB. */
  static final int PARTITIONS_MAX = 10_000;

  /** Which tasks of this process wrote which shuffle: a field of Spark's own shuffle manager. */
  private static final String TASKS_OF_SHUFFLES = "taskIdMapsForShuffle";

  private static final int NOT_OF_USE = -1;

  private final SparkEnv env;
  private final Members members;
  /** Null: there is no such manager. */
  private final Map<?, ?> tasksOfShuffles;
  /** Or NOT_OF_USE. Guarded by itself. */
  private final Map<Integer, Integer> shuffleOfStage = new Latest<>();

  MapOutputs(SparkEnv env, Members members) throws IllegalAccessException {
    this.env = env;
    this.members = members;
    // There, a task's number may stand for another's output.
    final boolean isOld = env.conf().getBoolean("spark.shuffle.useOldFetchProtocol", false);
    tasksOfShuffles = isOld ? null : tasksOfShuffles(env);
  }

  /** Whether Spark tells its driver averages of a shuffle with so many partitions. */
  static boolean areAveraged(int partitions) {
    return partitions >= AVERAGED_FROM;
  }

  /** Whether tasks tell what they wrote of such a shuffle. */
  static boolean areTold(long partitions) {
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
          // Its outputs are elsewhere.
        }
      }
    }
    return null;
  }

  /**
   * The shuffle, the task, and the bytes of each partition; null: none, or Spark's own sizes will
   * do. {@code task}: its number in the application.
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
    // Without the lock: tasks do not wait for one another's files.
    final int shuffle = known == null ? shuffleOf(task) : known;
    final File index = shuffle == NOT_OF_USE ? null : indexOf(shuffle, task);
    final boolean isOfUse = index != null && areTold(index.length() / Long.BYTES - 1);
    synchronized (shuffleOfStage) {
      shuffleOfStage.put(stage, isOfUse ? shuffle : NOT_OF_USE);
    }
    return isOfUse ? told(shuffle, task, Files.readAllBytes(index.toPath())) : null;
  }

  /** {@code index}: where each partition begins, and where the last ends. */
  static long[] told(int shuffle, long task, byte[] index) {
    final LongBuffer offsets = ByteBuffer.wrap(index).asLongBuffer();
    final long[] told = new long[2 + offsets.remaining() - 1];
    told[0] = shuffle;
    told[1] = task;
    for (int p = 0; p < told.length - 2; ++p) {
      told[2 + p] = offsets.get(p + 1) - offsets.get(p);
    }
    return told;
  }

  private int shuffleOf(long task) throws ReflectiveOperationException {
    for (Map.Entry<?, ?> shuffle : tasksOfShuffles.entrySet()) {
      final Object tasks = shuffle.getValue();
      synchronized (tasks) { // as Spark does
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
