package org.tidemark.jvm.profile;

import java.util.Arrays;
import java.util.List;

/**
 * The measurements of a reduce task's thread, which the sender's thread reports.
 *
 * <p>Time consists of units without gaps, as in agent/reduce_recorder.h. A unit is one large key
 * group or a burst of small key groups. It lasts from the end of the previous unit to its own end.
 * A key group becomes large when it crosses the burst threshold, and the burst before it ends
 * there. Large groups that finish quickly count as small ({@link QuickGroups}).
 * tests/vectors/reduce_units.json checks that this class and the C++ agent form the same units.
 *
 * <p>One thread at a time calls {@link #start} to {@link #finish}: the task's thread, or the
 * holder of a lock. Any thread may call {@link #take}, {@link #running} and {@link #askForBurst}.
 * The lock is taken once per unit and never held during input or output.
 */
public final class ReduceMeter {
  /** The maximum number of groups in a burst, which bounds the size of a report. */
  private static final int BURST_GROUPS_MAX = 8192;

  /** Closing the output of a task takes less than a tenth of this time. */
  private static final long LONG_GROUP_NANOS = 2_000_000_000L;

  private static final int NAMES_MAX = 1 << 14;
  private static final int POINTS_MAX = 1 << 13;

  private final MeterSettings settings;
  private volatile boolean burstAskedFor;

  // The key group in progress. The task's thread owns it, but the sender's thread may read it
  // between two reads of the same odd version. The other fields are plain since they are written
  // for each record, so a reader may see recent writes slightly later.
  private volatile long version;
  private boolean named;
  private long key;
  private long startNanos;
  private long bytes;
  private long values;
  private long emittedBefore;

  // Owned by the task's thread.
  private final QuickGroups quick = new QuickGroups();
  private boolean inGroup;
  private boolean large;
  private long largeFromBytes;
  private long unitStartNanos;
  private int unitGroups;
  private boolean[] unitNamed = new boolean[128];
  private long[] unitHashes = new long[128];
  private long[] unitSizes = new long[128];
  private long[] unitEmitted = new long[128];

  // Guarded by this.
  private long groupsDone;
  private long bytesDone;
  private long reduceNanos;
  private long lastEndNanos;
  private long droppedPoints;
  private long namesTaken;
  private SmoothedPoints points = new SmoothedPoints(POINTS_MAX);
  private SizeHistogram bins = new SizeHistogram();
  private final NamedKeys names = new NamedKeys(NAMES_MAX);

  public ReduceMeter(MeterSettings settings) {
    this.settings = settings;
  }

  /** Starts timing the first key group. All input must have been fetched and sorted. */
  public void start(long nowNanos) {
    unitStartNanos = nowNanos;
  }

  /**
   * Returns true if the name of the next key group is needed. Otherwise {@link #beginUnnamed}
   * avoids computing the hash, which is a large part of the cost of a short key group.
   */
  public boolean asksForNames() {
    return !quick.areAny() || settings.sampledBelow() != 0;
  }

  /**
   * Begins a call of the reduce function. {@code emittedTotal} is the number of bytes that the task
   * has emitted so far.
   */
  public void begin(long keyHash, long emittedTotal) {
    key = keyHash;
    named = true;
    open(emittedTotal);
  }

  /**
   * Begins a call without computing the name of its key group. The key group gets its name if it
   * becomes large.
   */
  public void beginUnnamed(long emittedTotal) {
    named = false;
    open(emittedTotal);
  }

  private void open(long emittedTotal) {
    inGroup = true;
    large = false;
    largeFromBytes = quick.timedAloneFrom(settings.burstThresholdBytes());
    bytes = 0;
    values = 0;
    startNanos = unitStartNanos;
    emittedBefore = emittedTotal;
    turnVersion();
  }

  /** Sets the name of the key group in progress. */
  public void name(long keyHash) {
    turnVersion();
    key = keyHash;
    named = true;
    turnVersion();
  }

  public boolean isNamed() {
    return named;
  }

  /**
   * Returns true if the next record, of {@code recordBytes}, makes the key group large, which
   * requires a clock reading.
   */
  public boolean turnsLarge(long recordBytes) {
    return bytes + recordBytes >= largeFromBytes;
  }

  /** Adds one record. */
  public void read(long recordBytes) {
    readAll(recordBytes, 1);
  }

  /** Adds records with their total size. */
  public void readAll(long recordsBytes, long records) {
    bytes += recordsBytes;
    values += records;
  }

  /** Makes the key group in progress large. */
  public void turnLarge(long nowNanos) {
    largeFromBytes = Long.MAX_VALUE;
    if (unitGroups > 0) {
      closeUnit(nowNanos);
      startNanos = unitStartNanos;
    }
    large = true;
  }

  /**
   * Ends the call, which emitted {@code emittedBytes}. Returns true if the unit is complete; the
   * caller must then call closeUnit.
   */
  public boolean end(long emittedBytes) {
    if (!inGroup) {
      return false;
    }
    inGroup = false;
    turnVersion();
    if (unitGroups == unitHashes.length) {
      growUnit();
    }
    unitNamed[unitGroups] = named;
    unitHashes[unitGroups] = key;
    unitSizes[unitGroups] = bytes;
    unitEmitted[unitGroups++] = emittedBytes;
    final int groupsMax = Math.min(settings.burstGroupsMax(), BURST_GROUPS_MAX);
    return large || unitGroups >= groupsMax || burstAskedFor;
  }

  /** Ends the unit and splits its time over its key groups. */
  public void closeUnit(long nowNanos) {
    closeUnit(nowNanos, true);
  }

  private void closeUnit(long nowNanos, boolean isTimeTheirs) {
    if (unitGroups == 0) {
      return;
    }
    burstAskedFor = false;
    final long nanos = Math.max(0, nowNanos - unitStartNanos);
    if (large && unitGroups == 1) {
      quick.onTimedAlone(unitSizes[0], nanos);
    } else {
      quick.onTimedTogether(unitGroups, nanos);
    }
    final double[] times = unitGroups == 1 ? null : Burst.split(unitSizes, unitGroups, nanos);
    synchronized (this) {
      groupsDone += unitGroups;
      reduceNanos += nanos;
      lastEndNanos = nowNanos;
      if (!isTimeTheirs) {
        droppedPoints += unitGroups;
      }
      for (int first = 0, end; first < unitGroups; first = end) {
        end = endOfSize(first);
        addAlike(first, end, times == null ? nanos : times[first], isTimeTheirs);
      }
    }
    unitGroups = 0;
    unitStartNanos = nowNanos;
  }

  /** Returns the first key group of the unit after {@code first} that has a different size. */
  private int endOfSize(int first) {
    int end = first + 1;
    while (end < unitGroups && unitSizes[end] == unitSizes[first]) {
      ++end;
    }
    return end;
  }

  /** Adds groups of equal size. {@code nanos} is their part of the unit's time. */
  private void addAlike(int first, int end, double nanos, boolean isTimeTheirs) {
    final long sizeBytes = unitSizes[first];
    final int count = end - first;
    final long alone = unitGroups == 1 && isTimeTheirs ? (long) nanos : 0;
    final long namedBytesMin = settings.namedGroupBytesMin();
    final long sampledBelow = settings.sampledBelow();
    long emitted = 0;
    for (int i = first; i < end; ++i) {
      emitted += unitEmitted[i];
      if (unitNamed[i]) {
        names.add(
            unitHashes[i], sizeBytes, alone, unitEmitted[i], namedBytesMin, sampledBelow);
      } else {
        names.leaveOut(sizeBytes);
      }
    }
    bytesDone += sizeBytes * count;
    if (isTimeTheirs) {
      if (settings.sendPoints()) {
        points.add(sizeBytes, count, nanos * count);
      }
      bins.add(sizeBytes, count, nanos * count, emitted);
    }
  }

  /**
   * Ends the last call after the task has closed its output, so the call may have returned some
   * time ago. The key group counts, but its time counts only if the work since then is negligible
   * compared with the group.
   */
  public void endLast(long emittedBytes, long nowNanos) {
    if (inGroup) {
      end(emittedBytes);
      final boolean alone = unitGroups == 1;
      closeUnit(nowNanos, alone && nowNanos - unitStartNanos >= LONG_GROUP_NANOS);
    }
  }

  /** Ends the task. Drops a key group in progress. */
  public void finish(long nowNanos) {
    if (inGroup) {
      inGroup = false;
      turnVersion();
    }
    closeUnit(nowNanos);
  }

  /** Ends the current burst with its next key group, so that slow groups are reported in time. */
  public void askForBurst() {
    burstAskedFor = true;
  }

  /**
   * Returns the measurements since the last call. Without {@code withDetails}, returns only totals.
   */
  public synchronized Taken take(boolean withDetails) {
    final Taken taken = new Taken();
    taken.groupsDone = groupsDone;
    taken.bytesDone = bytesDone;
    taken.reduceNanos = reduceNanos;
    taken.lastEndNanos = lastEndNanos;
    taken.droppedPoints = droppedPoints;
    if (!withDetails) {
      return taken;
    }
    final long unspent = NameBudget.finishedNames(bytesDone) - namesTaken;
    names.settle(settings.namedGroupBytesMin(), (int) Math.max(unspent, 0));
    namesTaken += names.count();
    taken.points = points.take();
    taken.bins = bins;
    bins = new SizeHistogram();
    taken.named = names.count();
    taken.namedBytesMin = names.bytesMin();
    taken.namedHashes = names.hashes();
    taken.namedSizes = names.sizes();
    taken.namedNanos = names.nanos();
    taken.namedEmitted = names.emitted();
    names.clear();
    return taken;
  }

  /**
   * Returns the key group in progress. Returns null between two groups, and while a group begins or
   * ends. {@code emittedTotal} is the number of bytes that the task has emitted so far.
   */
  public Running running(long emittedTotal) {
    final long before = version;
    if (before % 2 == 0) {
      return null;
    }
    final Running group = new Running();
    group.isNamed = named;
    group.key = key;
    group.startNanos = startNanos;
    group.bytesRead = bytes;
    group.valuesRead = values;
    group.bytesEmitted = Math.max(0, emittedTotal - emittedBefore);
    return version == before ? group : null;
  }

  /**
   * Increments the version, which is odd while a key group is in progress. One thread at a time
   * writes it.
   */
  private void turnVersion() {
    final long next = version + 1;
    version = next;
  }

  private void growUnit() {
    final int room = unitHashes.length * 2;
    unitNamed = Arrays.copyOf(unitNamed, room);
    unitHashes = Arrays.copyOf(unitHashes, room);
    unitSizes = Arrays.copyOf(unitSizes, room);
    unitEmitted = Arrays.copyOf(unitEmitted, room);
  }

  /** Totals since the start of the attempt, and details since the last call. */
  public static final class Taken {
    public long groupsDone;
    public long bytesDone;
    public long reduceNanos;
    /** On the monotonic clock. Meaningless while groupsDone is 0. */
    public long lastEndNanos;
    /** The number of groups in groupsDone without a known time. */
    public long droppedPoints;
    /** Null if no details were requested. */
    public SizeHistogram bins;
    /** Empty unless the master requests points. */
    public List<GroupPoint> points;
    public int named;
    public long namedBytesMin;
    public long[] namedHashes;
    public long[] namedSizes;
    public long[] namedNanos;
    public long[] namedEmitted;
  }

  /** The running call of the reduce function. */
  public static final class Running {
    public boolean isNamed;
    public long key;
    /** On the monotonic clock. While the group is small, this is the start of its burst. */
    public long startNanos;
    public long bytesRead;
    public long valuesRead;
    public long bytesEmitted;
  }
}
