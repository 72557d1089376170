package org.tidemark.spark;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.LinkedHashSet;
import java.util.Set;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkEnv;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.ShuffleManager;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.ShuffleWriter;
import org.tidemark.jvm.guard.Guard;

/**
 * Wraps the shuffle manager of a process, so that {@link KeyGroups} observes the records of RDD
 * shuffles that group values. All other calls go to Spark's own manager.
 *
 * <p>The wrapper cannot be set as spark.shuffle.manager, since Spark 3.5 loads that class before it
 * has the application's jars. It therefore replaces every field of SparkEnv that contains a
 * manager, regardless of the field's name.
 */
final class ShuffleTap implements InvocationHandler {
  private final ShuffleManager manager;
  private final KeyGroups groups;

  private ShuffleTap(ShuffleManager manager, KeyGroups groups) {
    this.manager = manager;
    this.groups = groups;
  }

  /** The wrapper remains installed as long as {@code env} exists. */
  static void install(SparkEnv env, KeyGroups groups) throws IllegalAccessException {
    for (Field field : SparkEnv.class.getDeclaredFields()) {
      if (!Modifier.isStatic(field.getModifiers())
          && ShuffleManager.class.isAssignableFrom(field.getType())) {
        field.setAccessible(true);
        final Object manager = field.get(env);
        if (manager != null) {
          field.set(env, over((ShuffleManager) manager, groups));
        }
      }
    }
  }

  private static Object over(ShuffleManager manager, KeyGroups groups) {
    return Proxy.newProxyInstance(
        ShuffleTap.class.getClassLoader(),
        interfacesOf(manager.getClass()),
        new ShuffleTap(manager, groups));
  }

  private static Class<?>[] interfacesOf(Class<?> manager) {
    final Set<Class<?>> all = new LinkedHashSet<>();
    for (Class<?> at = manager; at != null; at = at.getSuperclass()) {
      for (Class<?> known : at.getInterfaces()) {
        if (ShuffleManager.class.isAssignableFrom(known)) {
          all.add(known);
        }
      }
    }
    return all.toArray(new Class<?>[0]);
  }

  @Override
  public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
    final Object result;
    try {
      result = method.invoke(manager, arguments);
    } catch (InvocationTargetException sparks) {
      throw sparks.getCause();
    }
    final Guard guard = groups.guard();
    try {
      if (!guard.isOff() && result != null && isOfGroups(arguments)) {
        return observe(result, (BaseShuffleHandle<?, ?, ?>) arguments[0]);
      }
    } catch (Throwable ours) {
      guard.turnOff(ours);
    }
    return result;
  }

  @SuppressWarnings("unchecked")
  private Object observe(Object result, BaseShuffleHandle<?, ?, ?> handle) {
    if (result instanceof ShuffleReader) {
      return groups.reader((ShuffleReader<Object, Object>) result);
    }
    if (result instanceof ShuffleWriter) {
      return groups.writer(
          (ShuffleWriter<Object, Object>) result, handle.dependency().partitioner());
    }
    return result;
  }

  /**
   * Returns true for shuffles of groupByKey, which return each key with all its values. SQL has no
   * such shuffles, and values combined before the shuffle have no groups.
   */
  private static boolean isOfGroups(Object[] arguments) {
    if (arguments == null || !(arguments[0] instanceof BaseShuffleHandle)) {
      return false;
    }
    final ShuffleDependency<?, ?, ?> dependency =
        ((BaseShuffleHandle<?, ?, ?>) arguments[0]).dependency();
    return dependency.aggregator().isDefined() && !dependency.mapSideCombine();
  }
}
