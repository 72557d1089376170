package org.tidemark.spark;

import java.util.Collection;
import org.tidemark.jvm.wire.Event;
import org.tidemark.jvm.wire.Events;

/**
 * Determines how an application ended, from Spark's events about it and its groups: queries, and
 * jobs outside of queries. A failed job does not fail its query, which may have abandoned or
 * cancelled it. The rules equal translator.cc. Not thread-safe.
 */
final class ApplicationEnd {
  /** The failure of the last group that ended before the application; null if it succeeded. */
  private String failure;
  /** A group that failed after the application's end, because the application was stopped. */
  private String stopped;
  private boolean hasEnded;
  private long endMillis;
  private Integer exitCode;

  /** {@code why}: null if the group succeeded. */
  void groupEnded(String group, String why) {
    if (!hasEnded) {
      failure = why;
    } else if (why != null) {
      groupStopped(group);
    }
  }

  /** A job of {@code group}, which has not ended, has failed. */
  void jobFailed(String group) {
    if (hasEnded) {
      groupStopped(group);
    }
  }

  /** {@code code}: null before Spark 4, which does not report it. */
  void ended(long atMillis, Integer code) {
    hasEnded = true;
    endMillis = atMillis;
    exitCode = code;
  }

  boolean hasEnded() {
    return hasEnded;
  }

  /** Limits times to the end of the application, since its parts cannot end later. */
  long atMost(long atMillis) {
    return hasEnded ? Math.min(atMillis, endMillis) : atMillis;
  }

  /** {@code open}: the groups without a reported end. Requires: the application has ended. */
  Event closing(Collection<String> open) {
    if (exitCode != null && exitCode != 0) {
      return closed(
          Events.Outcome.FAILED,
          (failure == null ? "" : failure + "; ") + "the driver exited with " + exitCode);
    }
    if (stopped != null) {
      return closed(
          Events.Outcome.KILLED, "the application was stopped while " + stopped + " ran");
    }
    if (!open.isEmpty()) {
      return closed(
          Events.Outcome.UNKNOWN,
          "the application ended, and Spark reported no end of "
              + open.iterator().next()
              + (open.size() == 1 ? "" : " and " + (open.size() - 1) + " more"));
    }
    if (exitCode == null && failure != null) {
      return closed(Events.Outcome.FAILED, failure);
    }
    return closed(Events.Outcome.SUCCEEDED, null);
  }

  private void groupStopped(String group) {
    stopped = stopped == null ? group : stopped;
  }

  private Event closed(Events.Outcome outcome, String message) {
    return Events.jobClosed(outcome, message, endMillis);
  }
}
