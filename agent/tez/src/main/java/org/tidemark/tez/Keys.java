package org.tidemark.tez;

/** The names of the user settings in tez-site.xml or the DAG's own configuration (docs/tez.md). */
final class Keys {
  /** The common part of the names. {@link org.tidemark.jvm.transport.Endpoint#in} reads others. */
  static final String PREFIX = "tidemark";

  static final String ENABLED = "tidemark.enabled";

  /** The deadline of a DAG, such as 2026-11-26T07:30:00Z. */
  static final String DEADLINE = "tidemark.deadline";

  /** The id of the workflow that contains the DAGs. */
  static final String WORKFLOW_ID = "tidemark.workflow.id";

  /** The name of that workflow, which is the same in every run. */
  static final String WORKFLOW_NAME = "tidemark.workflow.name";

  /** The seconds without a running DAG after which the workflow ends. */
  static final String WORKFLOW_QUIET_SECONDS = "tidemark.workflow.quiet.seconds";

  /** The class that receives Tez's history as without the connector. Default: Tez's default. */
  static final String HISTORY_DELEGATE = "tidemark.history.delegate";

  /** The name of the secret key in the credentials that contains the master's token. */
  static final String TOKEN = "tidemark.token";

  private Keys() {}
}
