package org.tidemark.hadoop;

/** The names of what a user can set, all in the job's configuration. docs/hadoop.md lists them. */
public final class Keys {
  /** host:port of the master; without it every plug-in only delegates. */
  public static final String MASTER = "tidemark.master";

  public static final String ENABLED = "tidemark.enabled";

  /** When the job has to have ended, such as 2026-11-26T07:30:00Z. */
  public static final String DEADLINE = "tidemark.deadline";

  /** The share of a map attempt's time that may go into reading its output again. percent */
  public static final String SCAN_PERCENT = "tidemark.map.scan.percent";

  /** What that reading may take even of a short attempt. milliseconds of processor time */
  public static final String SCAN_MIN_MILLIS = "tidemark.map.scan.min.ms";

  /** What it may take at most. milliseconds of processor time */
  public static final String SCAN_MAX_MILLIS = "tidemark.map.scan.max.ms";

  /** How many leading bytes of a serialized key a custom grouping comparator looks at. */
  public static final String GROUPING_PREFIX_BYTES = "tidemark.grouping.prefix.bytes";

  /** A file in PEM: one of these authorities has signed the master's certificate. Unset: no TLS. */
  public static final String TLS_CA = "tidemark.tls.ca";

  /** Files in PEM: what is shown to a master that asks for a certificate. */
  public static final String TLS_CERTIFICATE = "tidemark.tls.certificate";

  public static final String TLS_KEY = "tidemark.tls.key";

  /** What the master's certificate is for, if not the host of its address. */
  public static final String TLS_SERVER_NAME = "tidemark.tls.server.name";

  public static final String COLLECTOR_DELEGATE = "tidemark.collector.delegate";
  public static final String SHUFFLE_DELEGATE = "tidemark.shuffle.delegate";
  public static final String PREEMPTION_DELEGATE = "tidemark.preemption.delegate";

  /**
   * The name of the secret key among the job's credentials that holds the master's token: settings of
   * a job are for all to read, its credentials are not.
   */
  public static final String TOKEN = "tidemark.token";

  private Keys() {}
}
