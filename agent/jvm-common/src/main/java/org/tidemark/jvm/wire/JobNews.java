package org.tidemark.jvm.wire;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

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
  /** What the program was told to do, by name. */
  public final Map<String, String> parameters = new TreeMap<>();
  public final List<StageNews> stages = new ArrayList<>();

  public JobNews(String engine) {
    this.engine = engine;
  }
}
