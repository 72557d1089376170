package org.tidemark.spark;

import java.util.Collection;
import org.tidemark.jvm.wire.Event;
import org.tidemark.jvm.wire.Events;

/**
 * How an application ended, from what Spark reported of it and of its groups: queries, and jobs
 * outside of queries. A job that fails does not fail its query, which may have left or cancelled it.
 * The same as in translator.cc. Not thread-safe.
 */
final class ApplicationEnd {
  /** The failure of the last group that ended before the application; null if it succeeded. */
  private String failure;
  /** A group that failed after the application's end, since the application was stopped. */
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

  /** No part of an application ends after it. */
  long atMost(long atMillis) {
    return hasEnded ? Math.min(atMillis, endMillis) : atMillis;
  }

  /** {@code open}: the groups whose end Spark has not reported. Requires: it has ended. */
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
