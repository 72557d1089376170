package org.tidemark.spark;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.tidemark.jvm.guard.Guard;
import org.tidemark.jvm.transport.Sender;
import org.tidemark.jvm.wire.Events;
import org.tidemark.jvm.wire.StageDescription;

/**
 * Determines and reports the input sizes of the tasks of submitted stages on its own thread.
 * Thread-safe.
 */
final class SizeReporter {
  /** Further stages are skipped, so their sizes stay unknown. */
  private static final int WAITING_MAX = 100;

  private static final StageDescription END = new StageDescription(0, StageDescription.Kind.UNSPECIFIED);

  private final BlockingQueue<StageDescription> waiting = new ArrayBlockingQueue<>(WAITING_MAX);
  private final InputSizes sizes;
  private final Sender sender;
  private final Guard guard;
  private boolean isStarted;
  private volatile boolean isClosed;

  SizeReporter(InputSizes sizes, Sender sender, Guard guard) {
    this.sizes = sizes;
    this.sender = sender;
    this.guard = guard;
  }

  /** Reports the attempt at the stage with the sizes of its tasks. */
  synchronized void report(StageDescription stage) {
    if (!isStarted) {
      isStarted = true;
      guard.thread("tidemark-sizes", this::run).start();
    }
    waiting.offer(stage);
  }

  /** Ends the thread. */
  void close() {
    isClosed = true;
    waiting.clear();
    waiting.offer(END);
  }

  private void run() throws InterruptedException {
    while (!isClosed && !guard.isOff()) {
      final StageDescription stage = waiting.take();
      if (stage != END && sizes.addTo(stage)) {
        sender.send(Events.stageOpened(stage));
      }
    }
  }
}
