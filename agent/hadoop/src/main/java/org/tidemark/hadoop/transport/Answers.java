package org.tidemark.hadoop.transport;

import java.nio.charset.StandardCharsets;
import org.tidemark.hadoop.profile.MeterSettings;
import org.tidemark.hadoop.wire.ProtoReader;

/**
 * Reads StreamEventsResponse. Whatever a master sends, the worst it can do is not to be believed.
 */
final class Answers {
  private Answers() {}

  /** Applies control first, so that it holds for everyone who waited for the acknowledgement. */
  static void apply(byte[] response, Outbox outbox, MeterSettings settings) {
    String source = "";
    long accepted = 0;
    final ProtoReader fields = new ProtoReader(response);
    while (fields.next()) {
      switch (fields.field()) {
        case 1:
          source = new String(fields.content(), StandardCharsets.UTF_8);
          break;
        case 2:
          accepted = fields.value();
          break;
        case 3:
          outbox.reject(sequenceOf(fields.content()));
          break;
        case 4:
          control(fields.content(), settings);
          break;
        default:
          break;
      }
    }
    if (source.isEmpty() || source.equals(outbox.sourceId())) {
      outbox.acknowledge(accepted);
    }
  }

  private static long sequenceOf(byte[] rejection) {
    final ProtoReader fields = new ProtoReader(rejection);
    while (fields.next()) {
      if (fields.field() == 1) {
        return fields.value();
      }
    }
    return 0;
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
