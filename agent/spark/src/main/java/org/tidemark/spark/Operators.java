package org.tidemark.spark;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.executor.TaskMetrics;

/** The state of a task's SQL operators, from its accumulators. Immutable. */
final class Operators {
  // Names of metrics. The metrics of one operator have consecutive IDs.
  private static final String SORTS = "sort time";
  private static final String SENT_TO_PYTHON = "data sent to Python workers";
  private static final String SCANS = "scan time";
  private static final String ROWS_OUT = "number of output rows";

  private static final String SQL = "org.apache.spark.sql.";
  private static final long NONE = -1;

  /** True if the task runs SQL operators. */
  final boolean areThere;
  /** True if an operator reads all its input before returning its first result. */
  final boolean sort;
  /** The number of rows that returned from Python; negative if no operator runs Python. */
  final long rowsFromPython;
  /** The time to read and decode the input; negative if no operator measures it. */
  final long scanMillis;

  private Operators(boolean areThere, boolean sort, long rowsFromPython, long scanMillis) {
    this.areThere = areThere;
    this.sort = sort;
    this.rowsFromPython = rowsFromPython;
    this.scanMillis = scanMillis;
  }

  static Operators of(TaskMetrics task, Members members) throws ReflectiveOperationException {
    return of(members.list(task, "accumulators"), members);
  }

  static Operators of(List<Object> accumulators, Members members)
      throws ReflectiveOperationException {
    final List<Metric> metrics = new ArrayList<>();
    for (Object accumulator : accumulators) {
      if (accumulator.getClass().getName().startsWith(SQL)) {
        metrics.add(new Metric(accumulator, members));
      }
    }
    metrics.sort(Comparator.comparingLong(metric -> metric.number));
    boolean sort = false;
    long rows = NONE;
    boolean isOfPython = false;
    long scanMillis = NONE;
    for (Metric metric : metrics) {
      sort |= SORTS.equals(metric.name);
      if (SENT_TO_PYTHON.equals(metric.name)) {
        isOfPython = true;
        rows = Math.max(rows, 0);
      } else if (isOfPython && ROWS_OUT.equals(metric.name)) {
        isOfPython = false;
        rows += metric.value(members);
      } else if (SCANS.equals(metric.name)) {
        // A metric without a value is negative in some versions.
        scanMillis = Math.max(scanMillis, 0) + Math.max(metric.value(members), 0);
      }
    }
    return new Operators(!metrics.isEmpty(), sort, rows, scanMillis);
  }

  private static final class Metric {
    final Object accumulator;
    final long number;
    final Object name;

    Metric(Object accumulator, Members members) throws ReflectiveOperationException {
      this.accumulator = accumulator;
      number = ((Number) members.call(accumulator, "id")).longValue();
      name = Members.orNull((scala.Option<?>) members.call(accumulator, "name"));
    }

    long value(Members members) throws ReflectiveOperationException {
      return ((Number) members.call(accumulator, "value")).longValue();
    }
  }
}
