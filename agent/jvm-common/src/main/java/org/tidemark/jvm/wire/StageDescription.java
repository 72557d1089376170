package org.tidemark.jvm.wire;

/** The fields of StageOpened. Unset fields have their default values. */
public final class StageDescription {
  /** StageKind of event.proto. */
  public enum Kind {
    UNSPECIFIED,
    MAP,
    REDUCE,
    GENERIC
  }

  /** SizePrecision of event.proto. */
  public enum Precision {
    UNSPECIFIED,
    EXACT,
    ROUNDED,
    ESTIMATED
  }

  /**
   * The maximum size of the arrays in bytes. It keeps the event below the master's limit of 1 MiB.
   */
  private static final int SIZES_BYTES_MAX = 900_000;

  public final int number;
  public final Kind kind;
  public int attempt;
  public String name;
  public String signature;
  public long[] parents = {};
  public String group;
  /** The number of tasks of this attempt; negative if unknown. */
  public int tasks = -1;
  /** Task indexes are below this number. Negative if it equals the number of tasks. */
  public int indexes = -1;

  public boolean skipped;
  public String pool;
  /** The input of each task in bytes, or empty. */
  public long[] taskBytes = {};
  /** The input of each task in records, or empty. */
  public long[] taskRecords = {};
  public Precision precision = Precision.UNSPECIFIED;
  /** Negative if unknown. */
  public int slots = -1;
  /** Null if unknown. */
  public Boolean hasCombiner;
  public boolean isGroupingOpaque;
  /** 0 if unknown. */
  public long openedMillis;
  /** Equal for stages that do the same work on different data; 0 if unknown. */
  public long work;

  public StageDescription(int number, Kind kind) {
    this.number = number;
    this.kind = kind;
  }

  ProtoWriter encoded() {
    final ProtoWriter stage =
        new ProtoWriter()
            .uint(1, number)
            .uint(2, attempt)
            .text(3, name)
            .string(4, signature)
            .packedUints(5, parents)
            .text(6, group)
            .uint(7, kind.ordinal());
    if (tasks >= 0) {
      stage.uintAlways(8, tasks);
    }
    stage.bool(9, skipped).text(10, pool);
    addSizes(stage);
    if (slots >= 0) {
      stage.uintAlways(14, slots);
    }
    if (hasCombiner != null) {
      stage.uintAlways(16, hasCombiner ? 1 : 0);
    }
    if (isGroupingOpaque) {
      stage.uintAlways(17, 1);
    }
    if (openedMillis > 0) {
      stage.fixed64Always(18, openedMillis * Events.NANOS_PER_MILLI);
    }
    if (indexes >= 0) {
      stage.uintAlways(19, indexes);
    }
    if (work != 0) {
      stage.fixed64Always(20, work);
    }
    return stage;
  }

  /**
   * Adds the sizes of all tasks or of none, since the master accepts nothing else. If there is no
   * space for both arrays, writes only the bytes.
   */
  private void addSizes(ProtoWriter stage) {
    final ProtoWriter bytes = new ProtoWriter().packedUints(11, taskBytes);
    final ProtoWriter both = new ProtoWriter().append(bytes.toByteArray());
    both.packedUints(12, taskRecords);
    final ProtoWriter sizes = both.size() <= SIZES_BYTES_MAX ? both : bytes;
    if (sizes.size() > 0 && sizes.size() <= SIZES_BYTES_MAX) {
      stage.append(sizes.toByteArray()).uint(13, precision.ordinal());
    }
  }
}
