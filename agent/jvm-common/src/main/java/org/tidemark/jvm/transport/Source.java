package org.tidemark.jvm.transport;

/** The sender of events and its job (Source in ingest_service.proto). Immutable. */
public final class Source {
  final String program;
  final String sourceId;
  final String jobId;
  final String runUid;

  /** {@code program} is the connector's name, which is displayed but never interpreted. */
  public Source(String program, String sourceId, String jobId, String runUid) {
    this.program = program;
    this.sourceId = sourceId;
    this.jobId = jobId;
    this.runUid = runUid;
  }
}
