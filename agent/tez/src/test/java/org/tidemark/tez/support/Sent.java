package org.tidemark.tez.support;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.tidemark.jvm.support.Fields;
import org.tidemark.jvm.wire.Event;

/** The events for the master, decoded. event.proto declares the field numbers. */
public final class Sent implements Consumer<Event> {
  public static final int JOB_OPENED = 1;
  public static final int JOB_CLOSED = 2;
  public static final int STAGE_OPENED = 3;
  public static final int EXECUTOR_OPENED = 4;
  public static final int ATTEMPT_CHANGED = 5;
  public static final int TASK_HEARTBEAT = 6;
  public static final int STAGE_CLOSED = 9;
  public static final int EXECUTOR_CLOSED = 12;

  private final List<Fields> events = new ArrayList<>();

  @Override
  public synchronized void accept(Event event) {
    events.add(new Fields(event.encoded(0).toByteArray()));
  }

  /** Returns the events of one kind, in order. */
  public synchronized List<Fields> of(int kind) {
    return events.stream()
        .filter(event -> event.has(kind))
        .map(event -> event.message(kind))
        .collect(Collectors.toList());
  }

  public Fields last(int kind) {
    final List<Fields> all = of(kind);
    return all.get(all.size() - 1);
  }
}
