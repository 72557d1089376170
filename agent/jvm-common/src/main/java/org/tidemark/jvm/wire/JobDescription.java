package org.tidemark.jvm.wire;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The fields of JobOpened. Unset fields have their default values. */
public final class JobDescription {
  public String name;
  public final String engine;
  public String applicationId;
  public String user;
  public String queue;
  public long submittedMillis;
  public int masterAttempt;
  public long deadlineMillis;
  /** The parameters of the program, by name. */
  public final Map<String, String> parameters = new TreeMap<>();
  public final List<StageDescription> stages = new ArrayList<>();
  /** Null if the job belongs to no workflow. */
  public WorkflowDescription workflow;

  public JobDescription(String engine) {
    this.engine = engine;
  }
}
