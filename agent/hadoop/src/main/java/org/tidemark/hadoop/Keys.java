package org.tidemark.hadoop;

/** The names of the user settings in the job's configuration. docs/hadoop.md lists them. */
public final class Keys {
  /** host:port of the master. If unset, every plug-in only delegates. */
  public static final String MASTER = "tidemark.master";

  public static final String ENABLED = "tidemark.enabled";

  /** The deadline of the job, such as 2026-11-26T07:30:00Z. */
  public static final String DEADLINE = "tidemark.deadline";

  /** The id of the workflow that contains the job. */
  public static final String WORKFLOW_ID = "tidemark.workflow.id";

  /** The name of that workflow, which is the same in every run. */
  public static final String WORKFLOW_NAME = "tidemark.workflow.name";

  /** The seconds without a running job after which the workflow ends. */
  public static final String WORKFLOW_QUIET_SECONDS = "tidemark.workflow.quiet.seconds";

  /** The share of a map attempt's time that may be used to read its output again, in percent. */
  public static final String SCAN_PERCENT = "tidemark.map.scan.percent";

  /**
   * The processor time in milliseconds that even a short map attempt may use to read its output
   * again.
   */
  public static final String SCAN_MIN_MILLIS = "tidemark.map.scan.min.ms";

  /**
   * The maximum processor time in milliseconds that a map attempt may use to read its output again.
   */
  public static final String SCAN_MAX_MILLIS = "tidemark.map.scan.max.ms";

  /**
   * The longest wait in milliseconds for the delivery of the last events at the end of a task, or
   * of a job in local mode.
   */
  public static final String FINAL_WAIT_MILLIS = "tidemark.final.wait.ms";

  /** The number of leading bytes of a serialized key that a custom grouping comparator uses. */
  public static final String GROUPING_PREFIX_BYTES = "tidemark.grouping.prefix.bytes";

  /**
   * A PEM file with the authorities for the master's certificate. TLS is used only if this file is
   * set.
   */
  public static final String TLS_CA = "tidemark.tls.ca";

  /**
   * PEM files with the client certificate and its key, for a master that requests client
   * certificates.
   */
  public static final String TLS_CERTIFICATE = "tidemark.tls.certificate";

  public static final String TLS_KEY = "tidemark.tls.key";

  /** The name in the master's certificate, if it differs from the host of the master's address. */
  public static final String TLS_SERVER_NAME = "tidemark.tls.server.name";

  public static final String COLLECTOR_DELEGATE = "tidemark.collector.delegate";
  public static final String SHUFFLE_DELEGATE = "tidemark.shuffle.delegate";
  public static final String PREEMPTION_DELEGATE = "tidemark.preemption.delegate";

  /**
   * The name of the secret key in the job's credentials that contains the master's token. A job's
   * settings are public, but its credentials are not.
   */
  public static final String TOKEN = "tidemark.token";

  private Keys() {}
}
