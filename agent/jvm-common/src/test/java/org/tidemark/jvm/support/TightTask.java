package org.tidemark.jvm.support;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.tidemark.jvm.guard.Guard;
import org.tidemark.jvm.profile.MeterSettings;
import org.tidemark.jvm.transport.Endpoint;
import org.tidemark.jvm.transport.Sender;
import org.tidemark.jvm.transport.Source;
import org.tidemark.jvm.wire.Attempt;
import org.tidemark.jvm.wire.Events;

/**
 * A task that has exhausted its heap ("heap") or its threads ("threads"). Like a task on YARN, the
 * process exits with 255 after an uncaught Error. If it succeeds, it prints the connector's log
 * lines and exits with 0.
 */
public final class TightTask {
  private static final byte[] FULL = "full\n".getBytes();
  private static final List<String> LOG = new CopyOnWriteArrayList<>();
  private static final Guard GUARD = new Guard(LOG::add);

  private TightTask() {}

  /** {@code arguments} are the resource to exhaust and the address of the master. */
  public static void main(String[] arguments) throws Exception {
    Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> Runtime.getRuntime().halt(255));
    final Source source = new Source("test", "source", "job", "run");
    final Endpoint master = Endpoint.of(arguments[1], "", null);
    final Sender sender =
        new Sender(
            master, source, Sender.TASK_BUFFER_BYTES_MAX, new MeterSettings(), LOG::add, GUARD);
    if (arguments[0].equals("heap")) {
      shortOfHeap(sender);
    } else {
      shortOfThreads(sender);
    }
    GUARD.isOff();
    System.out.println("connector: " + LOG);
    System.out.println("the task has done its work");
  }

  private static void sendEvent(Sender sender) {
    try {
      if (!GUARD.isOff()) {
        sender.send(Events.heartbeat(Attempt.map(0, 0), 1, 2, 3));
      }
    } catch (Throwable ours) {
      GUARD.turnOff(ours);
    }
  }

  private static void shortOfHeap(Sender sender) throws Exception {
    sendEvent(sender);
    final Thread reader = reader();
    System.out.println("connected");
    byte[] aLittle = new byte[4096];
    Object most = fillHeap();
    aLittle = null;
    System.out.write(FULL, 0, FULL.length);
    System.out.flush();
    // The master now responds.
    reader.join();
    most = null;
    if (aLittle != most) {
      throw new AssertionError();
    }
  }

  private static Thread reader() throws InterruptedException {
    while (true) {
      for (Thread thread : Thread.getAllStackTraces().keySet()) {
        if (thread.getName().equals("tidemark-reader")) {
          return thread;
        }
      }
      Thread.sleep(10);
    }
  }

  private static Object fillHeap() {
    Object[] all = null;
    for (int bytes = 1 << 20; bytes >= 64; bytes /= 2) {
      try {
        while (true) {
          all = new Object[] {all, new byte[bytes]};
        }
      } catch (OutOfMemoryError full) {
        // Smaller allocations may still succeed.
      }
    }
    return all;
  }

  /** Creates as many threads as possible, and then the connector's threads. */
  private static void shortOfThreads(Sender sender) throws Exception {
    final Field field = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe");
    field.setAccessible(true);
    final sun.misc.Unsafe memory = (sun.misc.Unsafe) field.get(null);
    // Reserved for the JVM. Too small for the stack of another thread (-Xss).
    final long reserve = memory.allocateMemory(24 << 20);
    final CountDownLatch done = new CountDownLatch(1);
    final List<Thread> threads = new ArrayList<>();
    try {
      while (true) {
        final Thread thread =
            new Thread(
                () -> {
                  try {
                    done.await();
                  } catch (InterruptedException never) {
                    throw new AssertionError(never);
                  }
                });
        threads.add(thread);
        thread.start();
      }
    } catch (OutOfMemoryError noMoreThreads) {
      memory.freeMemory(reserve);
    }
    sendEvent(sender);
    done.countDown();
  }
}
