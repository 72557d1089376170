package org.tidemark.jvm.wire;

import java.util.ArrayList;
import java.util.List;

/** What JobOpened says. Fields left as they are were not said. */
public final class JobNews {
  public String name;
  public final String engine;
  public String applicationId;
  public String user;
  public String queue;
  public long submittedMillis;
  public int masterAttempt;
  public long deadlineMillis;
  public final List<StageNews> stages = new ArrayList<>();

  public JobNews(String engine) {
    this.engine = engine;
  }
}
