package org.tidemark.jvm.transport;

import java.util.ArrayDeque;
import java.util.Iterator;
import org.tidemark.jvm.wire.Event.Importance;
import org.tidemark.jvm.wire.Event;
import org.tidemark.jvm.wire.ProtoWriter;

/**
 * The events that wait to be sent or acknowledged: bounded, in order, each sent until the master
 * answers for it (agent/outbox.h). When it is full, the least important of those that were not sent
 * yet are dropped, oldest first, and counted. What has a sequence number is never dropped, and
 * nothing is dropped for an event that would not fit even then. At most half of the bytes may be
 * unacknowledged, so a master that does not answer leaves room for what is new.
 *
 * <p>Thread-safe; nothing waits but {@link #waitUntilSettled}.
 */
public final class Outbox {
  /** Of StreamEventsRequest. */
  private static final int EVENTS = 7;

  /** In one batch (ingest_service.proto). */
  private static final int BATCH_EVENTS_MAX = 10_000;

  private static final class Item {
    final Event event;
    final long ordinal;
    long sequence;

    Item(Event event, long ordinal) {
      this.event = event;
      this.ordinal = ordinal;
    }
  }

  private final Source source;
  private final long bytesMax;

  @SuppressWarnings("unchecked")
  private final ArrayDeque<Item>[] waiting = new ArrayDeque[Importance.values().length];

  private final ArrayDeque<Item> unacknowledged = new ArrayDeque<>();
  private long waitingBytes;
  private long unacknowledgedBytes;
  private long newest;
  private long sequence;
  private long handed;
  private long dropped;
  private boolean isSourceOpen;

  public Outbox(Source source, long bytesMax) {
    this.source = source;
    this.bytesMax = bytesMax;
    for (int i = 0; i < waiting.length; ++i) {
      waiting[i] = new ArrayDeque<>();
    }
  }

  public synchronized void add(Event event) {
    final Item item = new Item(event, ++newest);
    if (isFull(event) && !canMakeRoom(event)) {
      ++dropped;
      return;
    }
    for (int rank = 0; rank <= event.importance.ordinal(); ++rank) {
      while (isFull(event) && !waiting[rank].isEmpty()) {
        waitingBytes -= waiting[rank].removeFirst().event.sizeBytes;
        ++dropped;
        notifyAll();
      }
    }
    waitingBytes += event.sizeBytes;
    waiting[event.importance.ordinal()].addLast(item);
  }

  /**
   * The next StreamEventsRequest, as sent at these instants: all that waits, but for what is more
   * than a batch may hold; null: nothing, or too many unanswered.
   */
  public synchronized byte[] next(long nowMillis, long nowNanos) {
    ProtoWriter batch = null;
    for (int events = 0; events < BATCH_EVENTS_MAX; ++events) {
      final Item item = nextUnsent();
      if (item == null) {
        break;
      }
      if (batch == null) {
        batch = newBatch(item.sequence, nowMillis);
      } else if (item.sequence != handed + 1) {
        break; // what was refused leaves a gap, which no batch spans
      }
      batch.message(EVENTS, item.event.encoded(nowNanos));
      handed = item.sequence;
    }
    return batch == null ? null : batch.toByteArray();
  }

  private ProtoWriter newBatch(long firstSequence, long nowMillis) {
    final ProtoWriter batch = new ProtoWriter();
    if (!isSourceOpen) {
      isSourceOpen = true;
      batch.message(
          2,
          new ProtoWriter()
              .string(2, source.sourceId)
              .string(3, source.jobId)
              .string(4, source.runUid)
              .string(5, source.program));
    }
    return batch
        .uint(4, firstSequence)
        .fixed64Always(5, nowMillis * 1_000_000L)
        .uint(6, dropped);
  }

  /** A new stream begins: next() opens the source and starts again with what was not answered. */
  public synchronized void rewind() {
    handed = 0;
    isSourceOpen = false;
  }

  /** Everything up to {@code accepted} was answered; false if that was never sent. */
  public synchronized boolean acknowledge(long accepted) {
    if (accepted > sequence || accepted < 0) {
      return false;
    }
    while (!unacknowledged.isEmpty() && unacknowledged.peekFirst().sequence <= accepted) {
      unacknowledgedBytes -= unacknowledged.removeFirst().event.sizeBytes;
    }
    notifyAll();
    return true;
  }

  /** The event will not be taken: no need to send it again. */
  public synchronized void reject(long refused) {
    for (Iterator<Item> items = unacknowledged.iterator(); items.hasNext(); ) {
      final Item item = items.next();
      if (item.sequence == refused) {
        unacknowledgedBytes -= item.event.sizeBytes;
        items.remove();
        notifyAll();
        return;
      }
    }
  }

  /** Whether nothing waits, sent or not. */
  public synchronized boolean isEmpty() {
    return oldestOutstanding() == Long.MAX_VALUE;
  }

  public synchronized boolean hasUnacknowledged() {
    return !unacknowledged.isEmpty();
  }

  /** Whether so much waits that what can wait elsewhere should. */
  public synchronized boolean isCongested() {
    return waitingBytes > bytesMax / 4;
  }

  public synchronized long newest() {
    return newest;
  }

  public synchronized long dropped() {
    return dropped;
  }

  /** Waits until every event up to {@code ordinal} was answered or dropped; whether it was in time. */
  public synchronized boolean waitUntilSettled(long ordinal, long deadlineNanos)
      throws InterruptedException {
    while (oldestOutstanding() <= ordinal) {
      final long left = deadlineNanos - System.nanoTime();
      if (left <= 0) {
        return false;
      }
      wait(Math.max(1, left / 1_000_000L));
    }
    return true;
  }

  private boolean isFull(Event more) {
    return waitingBytes + unacknowledgedBytes + more.sizeBytes > bytesMax;
  }

  /** Whether it fits once everything that is not more important is dropped. */
  private boolean canMakeRoom(Event event) {
    long stayingBytes = unacknowledgedBytes;
    for (int rank = event.importance.ordinal() + 1; rank < waiting.length; ++rank) {
      for (Item item : waiting[rank]) {
        stayingBytes += item.event.sizeBytes;
      }
    }
    return stayingBytes + event.sizeBytes <= bytesMax;
  }

  private Item nextUnsent() {
    // Only a new stream has something to repeat: usually there is nothing to search.
    if (!unacknowledged.isEmpty() && unacknowledged.peekLast().sequence > handed) {
      for (Item item : unacknowledged) {
        if (item.sequence > handed) {
          return item;
        }
      }
    }
    if (!unacknowledged.isEmpty() && unacknowledgedBytes >= bytesMax / 2) {
      return null;
    }
    final ArrayDeque<Item> lane = oldestLane();
    if (lane == null) {
      return null;
    }
    final Item item = lane.removeFirst();
    item.sequence = ++sequence;
    waitingBytes -= item.event.sizeBytes;
    unacknowledgedBytes += item.event.sizeBytes;
    unacknowledged.addLast(item);
    return item;
  }

  private ArrayDeque<Item> oldestLane() {
    ArrayDeque<Item> oldest = null;
    for (ArrayDeque<Item> lane : waiting) {
      if (!lane.isEmpty()
          && (oldest == null || lane.peekFirst().ordinal < oldest.peekFirst().ordinal)) {
        oldest = lane;
      }
    }
    return oldest;
  }

  private long oldestOutstanding() {
    long oldest = unacknowledged.isEmpty() ? Long.MAX_VALUE : unacknowledged.peekFirst().ordinal;
    for (ArrayDeque<Item> lane : waiting) {
      if (!lane.isEmpty()) {
        oldest = Math.min(oldest, lane.peekFirst().ordinal);
      }
    }
    return oldest;
  }
}
