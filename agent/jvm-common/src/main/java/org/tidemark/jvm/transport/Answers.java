package org.tidemark.jvm.transport;

import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import org.tidemark.jvm.profile.MeterSettings;
import org.tidemark.jvm.wire.ProtoReader;

/** Reads StreamEventsResponse. Invalid fields are ignored. */
final class Answers {
  private Answers() {}

  /**
   * Applies all fields except the acknowledgement. The caller acknowledges later, so that the
   * fields are in effect when waiting threads continue. {@code onRefusal} receives each rejection,
   * such as "rejected an event: INVALID_ARGUMENT: ...".
   *
   * @return the number for {@link Outbox#acknowledge}, or 0 if it has not changed
   */
  static long apply(
      byte[] response, Outbox outbox, MeterSettings settings, Consumer<String> onRefusal) {
    // The connector opens only source 0.
    if (handleOf(response) != 0) {
      return 0;
    }
    long accepted = 0;
    final ProtoReader fields = new ProtoReader(response);
    while (fields.next()) {
      switch (fields.field()) {
        case 2:
          accepted = fields.value();
          break;
        case 3:
          refuse(fields.content(), outbox, onRefusal);
          break;
        case 4:
          control(fields.content(), settings);
          break;
        case 6:
          onRefusal.accept("rejected " + fields.value() + " more events");
          break;
        default:
          break;
      }
    }
    return accepted;
  }

  private static long handleOf(byte[] response) {
    long handle = 0;
    final ProtoReader fields = new ProtoReader(response);
    while (fields.next()) {
      if (fields.field() == 1) {
        handle = fields.value();
      }
    }
    return handle;
  }

  private static void refuse(byte[] rejection, Outbox outbox, Consumer<String> onRefusal) {
    long sequence = 0;
    long code = 0;
    String reason = "";
    final ProtoReader fields = new ProtoReader(rejection);
    while (fields.next()) {
      switch (fields.field()) {
        case 1:
          sequence = fields.value();
          break;
        case 2:
          code = fields.value();
          break;
        case 3:
          reason = new String(fields.content(), StandardCharsets.UTF_8);
          break;
        default:
          break;
      }
    }
    onRefusal.accept("rejected an event: " + Trailers.codeName(code) + ": " + reason);
    outbox.reject(sequence);
  }

  private static void control(byte[] control, MeterSettings settings) {
    final ProtoReader fields = new ProtoReader(control);
    while (fields.next()) {
      switch (fields.field()) {
        case 1:
          settings.setFlushNanos(nanosOf(fields.content()));
          break;
        case 2:
          settings.setLambda(fields.value());
          break;
        case 3:
          settings.setBurstThresholdBytes(fields.value());
          break;
        case 4:
          settings.setBurstGroupsMax(fields.value());
          break;
        case 5:
          settings.setNamedGroupBytesMin(fields.value());
          break;
        case 6:
          settings.setPaused(fields.value() != 0);
          break;
        case 7:
          settings.setSampledBelow(fields.value());
          break;
        case 8:
          settings.setSendPoints(fields.value() != 0);
          break;
        default:
          break;
      }
    }
  }

  private static long nanosOf(byte[] duration) {
    long nanos = 0;
    final ProtoReader fields = new ProtoReader(duration);
    while (fields.next()) {
      if (fields.field() == 1) {
        nanos += Math.min(Math.max(fields.value(), 0), 3600) * 1_000_000_000L;
      } else if (fields.field() == 2) {
        nanos += Math.min(Math.max(fields.value(), 0), 999_999_999L);
      }
    }
    return nanos;
  }
}
