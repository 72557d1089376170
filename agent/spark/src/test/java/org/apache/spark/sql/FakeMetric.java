package org.apache.spark.sql;

import scala.Option;

/** Represents a metric of an operator. The connector recognizes metrics by their package. */
public final class FakeMetric {
  private final long id;
  private final String name;
  private final long value;

  public FakeMetric(long id, String name, long value) {
    this.id = id;
    this.name = name;
    this.value = value;
  }

  public long id() {
    return id;
  }

  public Option<String> name() {
    return Option.apply(name);
  }

  public long value() {
    return value;
  }
}
