package org.tidemark.jvm.wire;

/** What StageOpened says. Fields left as they are were not said. */
public final class StageNews {
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

  /** What the arrays may take, so that the event stays below the master's 1 MiB. bytes */
  private static final int SIZES_BYTES_MAX = 900_000;

  public final int number;
  public final Kind kind;
  public int attempt;
  public String name;
  public String signature;
  public long[] parents = {};
  public String group;
  /** How many tasks this attempt has; below zero: not known. */
  public int tasks = -1;
  /** Indexes of tasks are below it; below zero: there are as many as tasks. */
  public int indexes = -1;

  public boolean skipped;
  public String pool;
  /** By task, or empty. bytes */
  public long[] taskBytes = {};
  /** By task, or empty. */
  public long[] taskRecords = {};
  public Precision precision = Precision.UNSPECIFIED;
  /** Below zero: not known. */
  public int slots = -1;
  /** Null: not known. */
  public Boolean hasCombiner;
  public boolean isGroupingOpaque;
  /** 0: not known. */
  public long openedMillis;
  /** Equal for stages that do the same to other data; 0: not known. */
  public long work;

  public StageNews(int number, Kind kind) {
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

  /** Of all tasks or of none, as the master takes them; bytes alone where there is no room for both. */
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
