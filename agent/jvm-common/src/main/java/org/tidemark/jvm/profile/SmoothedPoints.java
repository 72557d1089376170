package org.tidemark.jvm.profile;

import java.util.ArrayList;
import java.util.List;

/**
 * The smoothed points of a reduce task. Key groups of equal size whose mean times differ by at most
 * 500 ms form one point. The rules, including those for more than {@code pointsMax} points, equal
 * streaming/smoothed_points.h; tests/vectors/smoothed_points.json checks both.
 *
 * <p>{@link #add} takes O(1) time for the previous size, O(log n) for another existing point, and
 * O(n) for a new point. Not thread-safe.
 */
public final class SmoothedPoints {
  private static final double TOLERANCE_NANOS = 500e6;

  private final int pointsMax;
  private ArrayList<GroupPoint> points = new ArrayList<>();
  /** The first point of the size that was added last. May be null. */
  private GroupPoint latest;

  public SmoothedPoints(int pointsMax) {
    this.pointsMax = Math.max(pointsMax, 2);
  }

  /** Ignores a count of zero. A negative time counts as zero. */
  public void add(long sizeBytes, long count, double nanos) {
    if (count == 0) {
      return;
    }
    final double time = Math.max(nanos, 0);
    if (latest != null && latest.sizeBytes == sizeBytes && isNear(latest, count, time)) {
      latest.add(count, time);
      return;
    }
    final int first = firstOfSize(sizeBytes);
    for (int at = first; at < points.size() && points.get(at).sizeBytes == sizeBytes; ++at) {
      final GroupPoint known = points.get(at);
      if (isNear(known, count, time)) {
        known.add(count, time);
        latest = at == first ? known : null;
        return;
      }
    }
    final GroupPoint added = new GroupPoint(sizeBytes, count, time);
    points.add(firstAfter(added), added);
    latest = null;
    if (points.size() > pointsMax) {
      shrink();
    }
  }

  /** Returns the points by increasing size, then mean time. */
  public List<GroupPoint> points() {
    return points;
  }

  /** Removes and returns the points. */
  public List<GroupPoint> take() {
    final List<GroupPoint> taken = points;
    points = new ArrayList<>();
    latest = null;
    return taken;
  }

  private static boolean isNear(GroupPoint known, long count, double nanos) {
    return Math.abs(known.meanNanos() - nanos / count) <= TOLERANCE_NANOS;
  }

  private int firstOfSize(long sizeBytes) {
    int low = 0;
    int high = points.size();
    while (low < high) {
      final int middle = (low + high) >>> 1;
      if (points.get(middle).sizeBytes < sizeBytes) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private int firstAfter(GroupPoint point) {
    int at = firstOfSize(point.sizeBytes);
    while (at < points.size()
        && points.get(at).sizeBytes == point.sizeBytes
        && points.get(at).meanNanos() <= point.meanNanos()) {
      ++at;
    }
    return at;
  }

  /** Removes at least half of the points, so that the cost is spread over many additions. */
  private void shrink() {
    for (double closeness = 0.01; points.size() > pointsMax / 2; closeness *= 2) {
      final ArrayList<GroupPoint> kept = new ArrayList<>(points.size());
      for (GroupPoint point : points) {
        final GroupPoint last = kept.isEmpty() ? null : kept.get(kept.size() - 1);
        if (last != null && point.sizeBytes <= (1 + closeness) * last.sizeBytes) {
          kept.set(kept.size() - 1, merged(last, point));
        } else {
          kept.add(point);
        }
      }
      points = kept;
    }
  }

  /** Adds counts and times. The size becomes the mean over key groups. */
  private static GroupPoint merged(GroupPoint a, GroupPoint b) {
    final double total = (double) a.count() + b.count();
    final double shift = (double) (b.sizeBytes - a.sizeBytes) * (b.count() / total);
    return new GroupPoint(a.sizeBytes + (long) shift, a.count() + b.count(), a.nanos() + b.nanos());
  }
}
