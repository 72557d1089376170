package org.tidemark.jvm.support;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Reads a job's event log (docs/internals/event-log.md), even while the master appends to it. */
public final class LogReader {
  public interface Taker {
    /** Receives an encoded event and its sender. */
    void event(String source, byte[] event);

    /** Called for an event that the master rejected. */
    default void refusal() {}
  }

  /** The magic, and the key twice. */
  private static final int START_BYTES = 24;

  /** Length, checksum and guard of a record. */
  private static final int FRAME_BYTES = 12;

  private static final int JOB_CLOSED = 2;

  private LogReader() {}

  public static void read(byte[] file, Taker taker) {
    if (file.length < START_BYTES) {
      return;  // The log was just created.
    }
    final ByteBuffer in = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
    in.position(START_BYTES);
    byte[] before = {};
    while (in.remaining() >= FRAME_BYTES) {
      final int length = in.getInt();
      in.position(in.position() + FRAME_BYTES - Integer.BYTES);
      if (length > in.remaining()) {
        break;
      }
      final byte[] record = new byte[length];
      in.get(record);
      // The first record of a log is stored twice.
      if (!Arrays.equals(record, before)) {
        takeRecord(new Fields(record), taker);
      }
      before = record;
    }
  }

  static boolean isOfEndedJob(byte[] file) {
    final boolean[] ended = {false};
    read(file, (source, event) -> ended[0] |= new Fields(event).has(JOB_CLOSED));
    return ended[0];
  }

  private static void takeRecord(Fields record, Taker taker) {
    final Fields logged = record.message(2);
    if (logged.has(7)) {
      taker.event(logged.text(2), logged.content(7));
    }
    if (record.has(3)) {
      taker.refusal();
    }
  }
}
