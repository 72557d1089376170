package org.tidemark.spark.jobs;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.memory.MemoryConsumer;
import org.apache.spark.memory.MemoryMode;

/**
 * Runs two tasks in local mode. The first task takes all execution memory, and releases it after
 * the given number of milliseconds. Meanwhile, the second task requests memory. Prints how many
 * microseconds the second task waited.
 */
public final class Starved {
  private static final long ALL = 1L << 40;
  private static final long SOME = 1L << 20;

  private static final CountDownLatch TAKEN = new CountDownLatch(1);

  private static final class Taker extends MemoryConsumer {
    Taker() {
      super(TaskContext.get().taskMemoryManager(), SOME, MemoryMode.ON_HEAP);
    }

    @Override
    public long spill(long size, MemoryConsumer trigger) {
      return 0;
    }
  }

  private Starved() {}

  public static void main(String[] arguments) {
    final long held = Long.parseLong(arguments[0]);
    try (JavaSparkContext context = new JavaSparkContext(new SparkConf().setAppName("starved"))) {
      System.out.println("APPLICATION " + context.sc().applicationId());
      final List<Long> waits =
          context
              .parallelize(Arrays.asList(0, 1), 2)
              .map(task -> task == 0 ? hold(held) : take())
              .collect();
      System.out.println("MICROS " + waits.get(1) / 1_000);
    }
  }

  private static long hold(long millis) throws InterruptedException {
    final Taker taker = new Taker();
    final long taken = taker.acquireMemory(ALL);
    TAKEN.countDown();
    Thread.sleep(millis);
    taker.freeMemory(taken);
    return 0;
  }

  private static long take() throws InterruptedException {
    TAKEN.await();
    final Taker taker = new Taker();
    final long start = System.nanoTime();
    final long taken = taker.acquireMemory(SOME);
    final long waited = System.nanoTime() - start;
    taker.freeMemory(taken);
    return waited;
  }
}
