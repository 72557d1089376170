package org.tidemark.hadoop.profile;

import java.util.ArrayList;
import java.util.List;

/**
 * The points of a reduce task, smoothed: key groups of one size whose mean times differ by at most
 * 500 ms are one point. The rules, and what happens to more than {@code pointsMax} points, are those
 * of streaming/smoothed_points.h; tests/vectors/smoothed_points.json holds the two together.
 *
 * <p>Add is O(log n) to search and O(n) to insert. Not thread-safe.
 */
public final class SmoothedPoints {
  private static final double TOLERANCE_NANOS = 500e6;

  private final int pointsMax;
  private ArrayList<GroupPoint> points = new ArrayList<>();

  public SmoothedPoints(int pointsMax) {
    this.pointsMax = Math.max(pointsMax, 2);
  }

  /** Ignores a count of zero; a negative time counts as zero. */
  public void add(long sizeBytes, long count, double nanos) {
    if (count == 0) {
      return;
    }
    final GroupPoint added = new GroupPoint(sizeBytes, count, Math.max(nanos, 0));
    int at = firstOfSize(sizeBytes);
    for (; at < points.size() && points.get(at).sizeBytes == sizeBytes; ++at) {
      final GroupPoint known = points.get(at);
      if (Math.abs(known.meanNanos() - added.meanNanos()) <= TOLERANCE_NANOS) {
        points.set(
            at, new GroupPoint(sizeBytes, known.count + count, known.nanos + added.nanos));
        return;
      }
    }
    points.add(firstAfter(added), added);
    if (points.size() > pointsMax) {
      shrink();
    }
  }

  /** By increasing size, then mean time. */
  public List<GroupPoint> points() {
    return points;
  }

  /** Empties it and returns what it held. */
  public List<GroupPoint> take() {
    final List<GroupPoint> taken = points;
    points = new ArrayList<>();
    return taken;
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

  /** Halves the number of points at least, so that its cost is spread over the additions since. */
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

  /** Counts and times add up; the size becomes the mean over key groups. */
  private static GroupPoint merged(GroupPoint a, GroupPoint b) {
    final double total = (double) a.count + b.count;
    final double shift = (double) (b.sizeBytes - a.sizeBytes) * (b.count / total);
    return new GroupPoint(a.sizeBytes + (long) shift, a.count + b.count, a.nanos + b.nanos);
  }
}
