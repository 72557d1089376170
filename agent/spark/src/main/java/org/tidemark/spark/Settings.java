package org.tidemark.spark;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.function.BinaryOperator;
import org.slf4j.LoggerFactory;
import org.tidemark.jvm.guard.Guard;
import org.tidemark.jvm.guard.Log;
import org.tidemark.jvm.guard.OnceLog;
import org.tidemark.jvm.profile.MeterSettings;
import org.tidemark.jvm.transport.Endpoint;
import org.tidemark.jvm.transport.Sender;
import org.tidemark.jvm.transport.Source;
import org.tidemark.jvm.wire.Deadline;

/** The user settings. docs/spark.md lists them. Immutable. */
final class Settings {
  private static final String PREFIX = "spark.tidemark";
  static final String MASTER = PREFIX + ".master";
  static final String ENABLED = "spark.tidemark.enabled";
  /** True if key groups of RDD shuffles are measured. */
  static final String KEYS = "spark.tidemark.keys";
  /** True if the driver writes the application's id to standard error. */
  static final String ANNOUNCE = "spark.tidemark.announce";
  /** The deadline of the application, such as 2026-11-26T07:30:00Z. */
  static final String DEADLINE = "spark.tidemark.deadline";
  /** The parameters of the program, with names that users choose. */
  static final String PARAMETER_PREFIX = "spark.tidemark.param.";
  static final String TOKEN = "spark.tidemark.token";
  /** A file on the driver's machine that contains the token. */
  static final String TOKEN_FILE = "spark.tidemark.token.file";

  // The settings that the driver sends to its executors. Spark shows them to users who may see the
  // application's settings, but hides the values of names that contain "token".
  private static final String RUN = "run";
  private static final String TOKEN_KEY = "token";

  private static final int TOKEN_BYTES_MAX = 1 << 16;

  final boolean keys;
  final boolean isAnnounced;
  /** 0 if unset. */
  final long deadlineMillis;
  private final Endpoint master;
  private final String token;
  private final String run;

  private Settings(
      boolean keys,
      boolean isAnnounced,
      long deadlineMillis,
      Endpoint master,
      String token,
      String run) {
    this.keys = keys;
    this.isAnnounced = isAnnounced;
    this.deadlineMillis = deadlineMillis;
    this.master = master;
    this.token = token;
    this.run = run;
  }

  /**
   * Returns null if the connector must not report. Throws IllegalArgumentException or IOException
   * for an invalid setting. {@code conf} returns the value of a setting, or the given default.
   * {@code fromDriver} contains the settings sent by the driver, and is empty in the driver itself.
   */
  static Settings of(BinaryOperator<String> conf, Map<String, String> fromDriver) throws IOException {
    if (conf.apply(MASTER, "").trim().isEmpty()
        || !Boolean.parseBoolean(conf.apply(ENABLED, "true"))) {
      return null;
    }
    String token = conf.apply(TOKEN, fromDriver.getOrDefault(TOKEN_KEY, "")).trim();
    final File file = file(conf, TOKEN_FILE);
    if (token.isEmpty() && file != null && fromDriver.isEmpty()) {
      token = read(file);
    }
    final Endpoint master = Endpoint.in(key -> conf.apply(key, "").trim(), PREFIX, token);
    final String run = fromDriver.getOrDefault(RUN, UUID.randomUUID().toString());
    return new Settings(
        Boolean.parseBoolean(conf.apply(KEYS, "false")),
        Boolean.parseBoolean(conf.apply(ANNOUNCE, "false")),
        Deadline.millis(DEADLINE, conf.apply(DEADLINE, "")),
        master,
        token,
        run);
  }

  /** Returns the settings that an executor needs. */
  Map<String, String> toExecutors() {
    final Map<String, String> fromDriver = new HashMap<>();
    fromDriver.put(RUN, run);
    if (!token.isEmpty()) {
      fromDriver.put(TOKEN_KEY, token);
    }
    return fromDriver;
  }

  /**
   * Returns a connection for an application. It connects at the first event. {@code role} is
   * "driver" or the executor's id.
   */
  Sender open(String role, String applicationId, long bufferBytesMax, Log log, Guard guard) {
    return new Sender(
        master,
        new Source("tidemark-spark", role + "-" + UUID.randomUUID(), applicationId, run),
        bufferBytesMax,
        new MeterSettings(),
        log,
        guard);
  }

  static Log newLog() {
    return new OnceLog(
        what -> LoggerFactory.getLogger("org.tidemark.spark").warn("Tidemark: {}", what),
        what -> LoggerFactory.getLogger("org.tidemark.spark").info("Tidemark: {}", what));
  }

  private static File file(BinaryOperator<String> conf, String key) {
    final String name = conf.apply(key, "").trim();
    return name.isEmpty() ? null : new File(name);
  }

  private static String read(File file) throws IOException {
    if (file.length() > TOKEN_BYTES_MAX) {
      throw new IOException(TOKEN_FILE + ": " + file + " is too large for a token");
    }
    final String text = new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8);
    // Editors on Windows start a file with a byte order mark.
    return (text.startsWith("\uFEFF") ? text.substring(1) : text).trim();
  }
}
