package org.tidemark.jvm.profile;

import java.util.Arrays;
import java.util.List;

/**
 * What a reduce task's thread measures and the sender's thread reports.
 *
 * <p>Time is cut into units without gaps, as in agent/reduce_recorder.h: a unit is one large key
 * group or a burst of small ones, and its time runs from the end of the unit before to its own end.
 * A key group turns large when it crosses the burst threshold, and the burst before it ends there.
 * Large ones that are over in no time count as small ({@link QuickGroups}).
 * tests/vectors/reduce_units.json holds both to the same units.
 *
 * <p>{@link #start} to {@link #finish} belong to the task's thread; {@link #take}, {@link #running}
 * and {@link #askForBurst} to any. The lock is taken once a unit and never held for input or output.
 */
public final class ReduceMeter {
  /** When there are more, a burst ends: what one lock protects stays small. */
  private static final int BURST_GROUPS_MAX = 8192;

  /** Closing the output of a task takes less than a tenth of it. */
  private static final long LONG_GROUP_NANOS = 2_000_000_000L;

  private static final int NAMES_MAX = 1 << 14;
  private static final int POINTS_MAX = 1 << 13;

  private final MeterSettings settings;
  private volatile boolean burstAskedFor;

  // The key group in progress. The task's own, but the sender's thread may look at it between two
  // looks at the same odd version. Plain fields otherwise, since they are written for each record:
  // what was written lately may show a little later.
  private volatile long version;
  private boolean named;
  private long key;
  private long startNanos;
  private long bytes;
  private long values;
  private long emittedBefore;

  // The task's own.
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

  /** All input is here and sorted: the time of the first key group begins. */
  public void start(long nowNanos) {
    unitStartNanos = nowNanos;
  }

  /**
   * Whether it matters how the next key group is called; if not, {@link #beginUnnamed} saves the hash,
   * which is a good part of what a key group costs that is over in no time.
   */
  public boolean asksForNames() {
    return !quick.areAny() || settings.sampledBelow() != 0;
  }

  /** A reduce function call begins; {@code emittedTotal} is what the task has emitted so far. */
  public void begin(long keyHash, long emittedTotal) {
    key = keyHash;
    named = true;
    open(emittedTotal);
  }

  /** The same; the key group gets its name when it turns large, if it does. */
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

  /** How the key group in progress is called. */
  public void name(long keyHash) {
    turnVersion();
    key = keyHash;
    named = true;
    turnVersion();
  }

  public boolean isNamed() {
    return named;
  }

  /** Whether the next record of so many bytes makes the key group a large one: it needs a clock. */
  public boolean turnsLarge(long recordBytes) {
    return bytes + recordBytes >= largeFromBytes;
  }

  /** One record was read. */
  public void read(long recordBytes) {
    readAll(recordBytes, 1);
  }

  /** So many records were read, of so many bytes in all. */
  public void readAll(long recordsBytes, long records) {
    bytes += recordsBytes;
    values += records;
  }

  /** The key group in progress is large from here on. */
  public void turnLarge(long nowNanos) {
    largeFromBytes = Long.MAX_VALUE;
    if (unitGroups > 0) {
      closeUnit(nowNanos);
      startNanos = unitStartNanos;
    }
    large = true;
  }

  /** The call returned, having emitted so much; true if its unit is complete: call closeUnit. */
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

  /** Ends the unit: its time is split over its key groups. */
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
      quick.tookAlone(unitSizes[0], nanos);
    } else {
      quick.tookTogether(unitGroups, nanos);
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

  /** The first key group of the unit after {@code first} that is of another size. */
  private int endOfSize(int first) {
    int end = first + 1;
    while (end < unitGroups && unitSizes[end] == unitSizes[first]) {
      ++end;
    }
    return end;
  }

  /** Those from first to end are of one size, so each has this part of the unit's time. */
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
   * The last call returned some time ago, and the task closed its output since. The key group counts,
   * but unless it is so long that the rest hardly matters, the time is not believed to be its own.
   */
  public void endLast(long emittedBytes, long nowNanos) {
    if (inGroup) {
      end(emittedBytes);
      final boolean alone = unitGroups == 1;
      closeUnit(nowNanos, alone && nowNanos - unitStartNanos >= LONG_GROUP_NANOS);
    }
  }

  /** The task is over; a key group in progress is given up. */
  public void finish(long nowNanos) {
    if (inGroup) {
      inGroup = false;
      turnVersion();
    }
    closeUnit(nowNanos);
  }

  /** The current burst shall end with its next key group, so that slow ones show in time. */
  public void askForBurst() {
    burstAskedFor = true;
  }

  /** What was measured since the last call. {@code withDetails}: totals alone without. */
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
   * The key group in progress; null between two, or when one begins or ends right now. {@code
   * emittedTotal} is what the task has emitted so far.
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

  /** Odd while a key group is in progress. One thread writes it. */
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

  /** Totals since the start of the attempt, and details since the last take. */
  public static final class Taken {
    public long groupsDone;
    public long bytesDone;
    public long reduceNanos;
    /** By the monotonic clock; meaningless while groupsDone is 0. */
    public long lastEndNanos;
    /** Key groups among groupsDone whose time is not known. */
    public long droppedPoints;
    /** Null: no details. */
    public SizeHistogram bins;
    /** Empty unless the master asks for them. */
    public List<GroupPoint> points;
    public int named;
    public long namedBytesMin;
    public long[] namedHashes;
    public long[] namedSizes;
    public long[] namedNanos;
    public long[] namedEmitted;
  }

  /** The reduce function call that is running. */
  public static final class Running {
    public boolean isNamed;
    public long key;
    /** By the monotonic clock; of its burst, while it is small. */
    public long startNanos;
    public long bytesRead;
    public long valuesRead;
    public long bytesEmitted;
  }
}
