package org.tidemark.spark;

import java.util.ArrayList;
import java.util.List;
import org.tidemark.jvm.wire.HeartbeatUpdate;

/**
 * Determines how much of its input a task has processed, if a counter shows it. Normally this is
 * the input read, since each record is processed before the next is read. With Python, it is the
 * number of returned rows, since records are sent far ahead of the work. It is unknown if all input
 * is read before the first result. Not thread-safe.
 */
final class InputDone {
  /** The number of samples after which it is clear how a task's rows return. */
  private static final int SAMPLES_MAX = 1_000;

  /** The number of rows that had returned from Python at one time. */
  private static final class Sample {
    final long nanos;
    final long rows;

    Sample(long nanos, long rows) {
      this.nanos = nanos;
      this.rows = rows;
    }
  }

  private final int stage;
  private final RowsFromPython python;
  private final List<Sample> samples = new ArrayList<>();
  private boolean isReadFirst;
  /** The ratio that this task uses, fixed at its first report; 0 if unknown. */
  private double rowsPerRecord;

  InputDone(int stage, RowsFromPython python) {
    this.stage = stage;
    this.python = python;
  }

  /**
   * {@code update} contains the input read after {@code nanos}. {@code isShuffle} is true if some
   * of the input came from a shuffle. {@code operators} is null if unknown.
   */
  void report(HeartbeatUpdate update, boolean isShuffle, Operators operators, long nanos) {
    if (operators == null || operators.sort) {
      isReadFirst = true;
    } else if (operators.rowsFromPython >= 0) {
      reportPythonInput(update, new Sample(nanos, operators.rowsFromPython));
    } else if (isShuffle && !operators.areThere) {
      // An RDD that reads a shuffle usually groups or sorts it first.
      isReadFirst = true;
    }
    update.isInputReadFirst = isReadFirst;
  }

  /** Records that the task finished after {@code nanos} and read {@code records} records. */
  void finished(long records, Operators operators, long nanos) {
    if (operators == null || operators.rowsFromPython <= 0) {
      return;
    }
    final double rows = operators.rowsFromPython;
    final double error =
        samples.stream()
            .mapToDouble(sample -> Math.abs(sample.rows / rows - (double) sample.nanos / nanos))
            .average()
            .orElse(Double.NaN);
    python.came(stage, records, operators.rowsFromPython, error);
  }

  /**
   * Reports progress by the number of rows that returned from Python. The number of rows per record
   * comes from finished tasks.
   */
  private void reportPythonInput(HeartbeatUpdate update, Sample sample) {
    if (samples.size() < SAMPLES_MAX) {
      samples.add(sample);
    }
    if (rowsPerRecord == 0 && !isReadFirst) {
      rowsPerRecord = python.perRecord(stage);
      isReadFirst = rowsPerRecord == 0;
    }
    if (!isReadFirst) {
      final double read = Math.max(1, update.recordsDone);
      final double done = Math.min(1, sample.rows / rowsPerRecord / read);
      update.recordsDone = (long) (update.recordsDone * done);
      update.bytesDone = (long) (update.bytesDone * done);
    }
  }
}
