package org.tidemark.spark;

import java.util.Collection;
import org.tidemark.jvm.wire.Event;
import org.tidemark.jvm.wire.Events;

/**
 * Determines how an application ended from Spark's events about the application and its groups. A
 * group is a query, or a job outside queries. A failed job does not fail its query, which may have
 * abandoned or cancelled the job. The rules equal spark/translator.cc. Not thread-safe.
 */
final class ApplicationEnd {
  /**
   * The failure of the last group that ended before the application, or null if that group
   * succeeded.
   */
  private String failure;
  /** A group that failed after the application's end, because the application was stopped. */
  private String stopped;
  private boolean hasEnded;
  private long endMillis;
  private Integer exitCode;

  /** Records the end of a group. {@code why} is null if the group succeeded. */
  void groupEnded(String group, String why) {
    if (!hasEnded) {
      failure = why;
    } else if (why != null) {
      groupStopped(group);
    }
  }

  /** Records that a job of {@code group}, which has not ended, has failed. */
  void jobFailed(String group) {
    if (hasEnded) {
      groupStopped(group);
    }
  }

  /**
   * Records the end of the application. {@code code} is null before Spark 4, which does not report
   * exit codes.
   */
  void ended(long atMillis, Integer code) {
    hasEnded = true;
    endMillis = atMillis;
    exitCode = code;
  }

  boolean hasEnded() {
    return hasEnded;
  }

  /** Clamps a time to the end of the application, since its parts cannot end later. */
  long atMost(long atMillis) {
    return hasEnded ? Math.min(atMillis, endMillis) : atMillis;
  }

  /**
   * Returns the event that closes the job. {@code open} contains the groups whose end was not
   * reported. The application must have ended.
   */
  Event closing(Collection<String> open) {
    if (exitCode != null && exitCode != 0) {
      return closed(
          Events.Outcome.FAILED,
          (failure == null ? "" : failure + "; ") + "the driver exited with status " + exitCode);
    }
    if (stopped != null) {
      return closed(
          Events.Outcome.KILLED, "the application was stopped while " + stopped + " was running");
    }
    if (!open.isEmpty()) {
      return closed(
          Events.Outcome.UNKNOWN,
          "the application ended, but Spark did not report the end of "
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
