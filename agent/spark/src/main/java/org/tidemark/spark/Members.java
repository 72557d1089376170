package org.tidemark.spark;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import scala.Option;

/**
 * Calls methods of Spark whose descriptors differ between versions of Spark or Scala (a Seq is not
 * the same class in 2.12 and 2.13), and methods of classes that this plug-in is not compiled
 * against. Looks up each method once. Thread-safe.
 */
final class Members {
  private static final class Key {
    final Class<?> owner;
    final String name;

    Key(Class<?> owner, String name) {
      this.owner = owner;
      this.name = name;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Key
          && ((Key) other).owner == owner
          && ((Key) other).name.equals(name);
    }

    @Override
    public int hashCode() {
      return 31 * owner.hashCode() + name.hashCode();
    }
  }

  private final ConcurrentMap<Key, Method> methods = new ConcurrentHashMap<>();

  /** Calls the method with this name and number of arguments. */
  Object call(Object target, String name, Object... arguments) throws ReflectiveOperationException {
    final Key key = new Key(target.getClass(), name);
    Method method = methods.get(key);
    if (method == null) {
      method = find(target.getClass(), name, arguments.length);
      methods.put(key, method);
    }
    return method.invoke(target, arguments);
  }

  /** Returns the elements of the Scala collection that the method returns. */
  List<Object> list(Object target, String name, Object... arguments)
      throws ReflectiveOperationException {
    return elements(call(target, name, arguments));
  }

  static List<Object> elements(Object collection) {
    final List<Object> elements = new ArrayList<>();
    final scala.collection.Iterator<?> all = ((scala.collection.Iterable<?>) collection).iterator();
    while (all.hasNext()) {
      elements.add(all.next());
    }
    return elements;
  }

  /** Returns the content, or null if it is empty. */
  static Object orNull(Option<?> option) {
    return option == null || option.isEmpty() ? null : option.get();
  }

  private static Method find(Class<?> owner, String name, int arguments)
      throws ReflectiveOperationException {
    for (Class<?> at = owner; at != null; at = at.getSuperclass()) {
      for (Method method : at.getDeclaredMethods()) {
        if (method.getName().equals(name) && method.getParameterCount() == arguments) {
          method.setAccessible(true);
          return method;
        }
      }
    }
    for (Method method : owner.getMethods()) {  // methods with bodies in interfaces
      if (method.getName().equals(name) && method.getParameterCount() == arguments) {
        method.setAccessible(true);
        return method;
      }
    }
    throw new NoSuchMethodException(owner.getName() + "." + name);
  }
}
