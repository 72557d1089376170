package org.tidemark.tez;

import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.security.Credentials;
import org.tidemark.jvm.guard.Guard;
import org.tidemark.jvm.guard.Log;
import org.tidemark.jvm.profile.MeterSettings;
import org.tidemark.jvm.transport.Endpoint;
import org.tidemark.jvm.transport.Sender;
import org.tidemark.jvm.transport.Source;

/** The connection of an application master to Tidemark's master. */
final class Link {
  /** Holds the events of about 20,000 tasks. */
  private static final long BUFFER_BYTES_MAX = 8 << 20;

  private Link() {}

  /**
   * Returns a sender for a DAG, or null if the settings name no master or turn reports off. Throws
   * IllegalArgumentException for an invalid setting. {@code credentials} may be null.
   */
  static Sender of(
      Configuration conf, Credentials credentials, String dagId, Log log, Guard guard) {
    if (!conf.getBoolean(Keys.ENABLED, true)) {
      return null;
    }
    final Endpoint master =
        Endpoint.in(key -> conf.getTrimmed(key, ""), Keys.PREFIX, token(credentials));
    if (master == null) {
      return null;
    }
    // YARN never reuses an id, and all attempts of an application master have the same DAG ids.
    final Source source =
        new Source(
            "tidemark-tez", System.getenv("CONTAINER_ID") + "-" + UUID.randomUUID(), dagId, dagId);
    return new Sender(master, source, BUFFER_BYTES_MAX, new MeterSettings(), log, guard);
  }

  private static String token(Credentials credentials) {
    final byte[] token =
        credentials == null ? null : credentials.getSecretKey(new Text(Keys.TOKEN));
    return token == null ? "" : new String(token, StandardCharsets.UTF_8).trim();
  }
}
