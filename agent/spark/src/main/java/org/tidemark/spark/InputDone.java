package org.tidemark.spark;

import java.util.ArrayList;
import java.util.List;
import org.tidemark.jvm.wire.HeartbeatNews;

/**
 * How much of its input a task is done with, where a counter tells it: what it has read, where each
 * record is done with when the next is read; what has come back from Python, to which records are
 * sent far ahead of its work; nothing, where all is read before the first result. Not thread-safe.
 */
final class InputDone {
  /** By then a task has shown how its rows come back. */
  private static final int LOOKS_MAX = 1_000;

  /** What had come back from Python after some time. */
  private static final class Look {
    final long nanos;
    final long rows;

    Look(long nanos, long rows) {
      this.nanos = nanos;
      this.rows = rows;
    }
  }

  private final int stage;
  private final RowsFromPython python;
  private final List<Look> looks = new ArrayList<>();
  private boolean isReadFirst;
  /** What this task is judged by from its first report on; 0: not known. */
  private double rowsPerRecord;

  InputDone(int stage, RowsFromPython python) {
    this.stage = stage;
    this.python = python;
  }

  /**
   * After {@code nanos} {@code news} says what has been read, {@code isShuffle} whether some of a
   * shuffle was. {@code operators}: null: not known.
   */
  void tell(HeartbeatNews news, boolean isShuffle, Operators operators, long nanos) {
    if (operators == null || operators.sort) {
      isReadFirst = true;
    } else if (operators.rowsFromPython >= 0) {
      tellByPython(news, new Look(nanos, operators.rowsFromPython));
    } else if (isShuffle && !operators.areThere) {
      // What reads a shuffle of an RDD usually puts it into groups or into an order first.
      isReadFirst = true;
    }
    news.isInputReadFirst = isReadFirst;
  }

  /** The task has finished after {@code nanos}, and has read so many records. */
  void finished(long records, Operators operators, long nanos) {
    if (operators == null || operators.rowsFromPython <= 0) {
      return;
    }
    final double rows = operators.rowsFromPython;
    final double error =
        looks.stream()
            .mapToDouble(look -> Math.abs(look.rows / rows - (double) look.nanos / nanos))
            .average()
            .orElse(Double.NaN);
    python.came(stage, records, operators.rowsFromPython, error);
  }

  /** Only a task that has finished tells how many rows there are to a record. */
  private void tellByPython(HeartbeatNews news, Look look) {
    if (looks.size() < LOOKS_MAX) {
      looks.add(look);
    }
    if (rowsPerRecord == 0 && !isReadFirst) {
      rowsPerRecord = python.perRecord(stage);
      isReadFirst = rowsPerRecord == 0;
    }
    if (!isReadFirst) {
      final double read = Math.max(1, news.recordsDone);
      final double done = Math.min(1, look.rows / rowsPerRecord / read);
      news.recordsDone = (long) (news.recordsDone * done);
      news.bytesDone = (long) (news.bytesDone * done);
    }
  }
}
