package org.tidemark.jvm.guard;

import java.security.AccessController;
import java.security.PrivilegedAction;

/**
 * Creates daemon threads that inherit no context class loader, access control context or thread
 * group. On Java 9 and later, they do not inherit thread locals either. The threads therefore keep
 * no object of the job alive and act for no user.
 */
final class OwnThreads {
  private OwnThreads() {}

  static Thread make(String name, Runnable body, Thread.UncaughtExceptionHandler handler) {
    // A thread keeps the access control context in which it was created. doPrivileged() reduces
    // this context to the permissions of this class.
    return AccessController.doPrivileged(
        new PrivilegedAction<Thread>() {
          @Override
          public Thread run() {
            final Thread thread = bare(topGroup(), body, name);
            thread.setDaemon(true);
            thread.setContextClassLoader(OwnThreads.class.getClassLoader());
            thread.setUncaughtExceptionHandler(handler);
            return thread;
          }
        });
  }

  private static Thread bare(ThreadGroup group, Runnable body, String name) {
    try {
      return Thread.class
          .getConstructor(
              ThreadGroup.class, Runnable.class, String.class, long.class, boolean.class)
          .newInstance(group, body, name, 0L, false);
    } catch (ReflectiveOperationException javaEight) {
      return new Thread(group, body, name);
    }
  }

  private static ThreadGroup topGroup() {
    ThreadGroup group = Thread.currentThread().getThreadGroup();
    while (group.getParent() != null) {
      group = group.getParent();
    }
    return group;
  }
}
