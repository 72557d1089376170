package org.tidemark.jvm.guard;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotSame;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;

import java.net.URL;
import java.net.URLClassLoader;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import javax.security.auth.Subject;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.Timeout;

public class GuardTest {
  @Rule public final Timeout patience = Timeout.seconds(60);

  private final List<String> log = new CopyOnWriteArrayList<>();
  private final Guard guard = new Guard(log::add);

  @Test
  public void anExceptionDisablesTheConnectorAndIsLoggedOnceWithItsPlace() {
    assertFalse(guard.isOff());
    guard.turnOff(new NoSuchMethodError("Task.getId"));
    guard.turnOff(new OutOfMemoryError("Java heap space"));
    assertTrue(guard.isOff());
    assertEquals(log.toString(), 1, log.size());
    assertTrue(
        log.get(0),
        log.get(0).startsWith("progress is no longer reported: NoSuchMethodError: Task.getId at "));
    assertTrue(log.get(0), log.get(0).contains("GuardTest.java"));
  }

  @Test
  public void messagesWithoutMemoryAreSentLater() {
    final int[] tries = {0};
    final Guard shortOfMemory =
        new Guard(
            line -> {
              if (++tries[0] < 3) {
                throw new OutOfMemoryError();
              }
              log.add(line);
            });
    shortOfMemory.turnOff(new OutOfMemoryError());
    for (int i = 0; i < 5; ++i) {
      assertTrue(shortOfMemory.isOff());
    }
    assertEquals(log.toString(), 1, log.size());
  }

  @Test
  public void aFailingLogIsNotCalledEachTime() {
    final int[] tries = {0};
    final Guard withoutLog =
        new Guard(
            line -> {
              ++tries[0];
              throw new NoClassDefFoundError("org/slf4j/Logger");
            });
    withoutLog.turnOff(new OutOfMemoryError());
    for (int record = 0; record < 100_000; ++record) {
      assertTrue(withoutLog.isOff());
    }
    assertTrue(tries[0] + " tries", tries[0] < 20);
  }

  @Test
  public void noThreadWaitsForAnotherInTheLog() throws Exception {
    final CountDownLatch inLog = new CountDownLatch(1);
    final CountDownLatch logGoesOn = new CountDownLatch(1);
    final Guard slow =
        new Guard(
            line -> {
              inLog.countDown();
              try {
                logGoesOn.await();
              } catch (InterruptedException testIsOver) {
                return;
              }
              log.add(line);
            });
    final Thread first = new Thread(() -> slow.turnOff(new OutOfMemoryError()));
    first.start();
    inLog.await();
    assertTrue(slow.isOff());
    slow.turnOff(new StackOverflowError());
    logGoesOn.countDown();
    first.join();
    assertTrue(slow.isOff());
    assertEquals(log.toString(), 1, log.size());
  }

  @Test
  public void aKilledTaskIsNoCauseOfFailure() {
    guard.turnOff(new InterruptedException());
    assertTrue(Thread.interrupted());
    assertFalse(guard.isOff());
  }

  @Test
  public void anErrorOnAConnectorThreadDoesNotSpread() throws Exception {
    final AtomicReference<Throwable> receivedByTheProcess = new AtomicReference<>();
    final Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> receivedByTheProcess.set(thrown));
    try {
      final Thread thread =
          guard.thread(
              "ours",
              () -> {
                throw new StackOverflowError();
              });
      thread.start();
      thread.join();
    } finally {
      Thread.setDefaultUncaughtExceptionHandler(before);
    }
    assertNull(receivedByTheProcess.get());
    assertTrue(guard.isOff());
    assertEquals(log.toString(), 1, log.size());
  }

  private static final InheritableThreadLocal<String> INHERITED = new InheritableThreadLocal<>();

  /**
   * Runs {@code work} on a thread of the guard. A thread with a task's class loader and name
   * creates that thread.
   */
  private static void onOurThread(Guard guard, Guard.Work work) throws InterruptedException {
    final List<Thread> made = new ArrayList<>();
    final Thread task =
        new Thread(
            new ThreadGroup("tasks"),
            () -> {
              INHERITED.set("a session of the task's");
              Thread.currentThread()
                  .setContextClassLoader(new URLClassLoader(new URL[0], null));
              final Subject user = new Subject();
              Subject.doAs(
                  user, (PrivilegedAction<Boolean>) () -> made.add(guard.thread("ours", work)));
            });
    task.start();
    task.join();
    made.get(0).start();
    made.get(0).join();
  }

  @Test
  public void aConnectorThreadInheritsNothing() throws Exception {
    final List<Object> values = new ArrayList<>();
    onOurThread(
        guard,
        () -> {
          values.add(Thread.currentThread().getContextClassLoader());
          values.add(Thread.currentThread().getThreadGroup().getName());
          values.add(Thread.currentThread().isDaemon());
          values.add(Subject.getSubject(AccessController.getContext()));
        });
    assertEquals(log.toString(), 4, values.size());
    assertSame(Guard.class.getClassLoader(), values.get(0));
    assertNotSame("tasks", values.get(1));
    assertEquals(true, values.get(2));
    assertNull("the task's user", values.get(3));
  }

  @Test
  public void aConnectorThreadInheritsNoThreadLocals() throws Exception {
    assumeTrue(
        "Java 8 knows no other threads", !System.getProperty("java.version").startsWith("1."));
    final List<Object> values = new ArrayList<>();
    onOurThread(guard, () -> values.add(INHERITED.get()));
    assertEquals(1, values.size());
    assertNull(values.get(0));
  }
}
