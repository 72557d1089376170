package org.tidemark.hadoop.support;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URL;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;

/** Polls the progress of all applications of a cluster, as Hadoop reports it. */
public final class YarnBars extends Thread {
  private final String address;
  private final List<Map<String, Double>> polled = new ArrayList<>();
  private final List<Double> at = new ArrayList<>();
  private final Set<String> earlier;
  private volatile boolean isOver;

  public YarnBars(Configuration conf) throws IOException {
    address = conf.get("yarn.resourcemanager.webapp.address");
    earlier = poll().keySet();
    setDaemon(true);
    start();
  }

  private Map<String, Double> poll() throws IOException {
    final URL url = new URL("http://" + address + "/ws/v1/cluster/apps");
    final Map<String, Double> progress = new HashMap<>();
    for (JsonNode each : new ObjectMapper().readTree(url).path("apps").path("app")) {
      final boolean hasEnded = each.path("state").asText().equals("FINISHED");
      progress.put(each.get("id").asText(), hasEnded ? 1 : each.path("progress").asDouble() / 100);
    }
    return progress;
  }

  @Override
  public void run() {
    while (!isOver) {
      try {
        Thread.sleep(500);
        final Map<String, Double> progress = poll();
        progress.keySet().removeAll(earlier);
        polled.add(progress);
        at.add((double) System.currentTimeMillis());
      } catch (IOException | InterruptedException busy) {
        continue;
      }
    }
  }

  public void close() throws InterruptedException {
    isOver = true;
    join();
  }

  private static double millis(JsonNode time) {
    return Instant.parse(time.asText()).toEpochMilli();
  }

  /** Returns the mean distance between the progress that Tidemark showed and the true progress. */
  public static double meanErrorOf(List<JsonNode> snapshots) {
    final JsonNode last = snapshots.get(snapshots.size() - 1);
    final double begin = millis(last.get("started_at"));
    final double end = millis(last.get("ended_at"));
    double sum = 0;
    int count = 0;
    for (JsonNode snapshot : snapshots) {
      final double time = millis(snapshot.get("at"));
      if (time < end) {
        final double shown = snapshot.get("estimate").path("fraction_done").asDouble();
        sum += Math.abs(shown - (time - begin) / (end - begin));
        ++count;
      }
    }
    return count == 0 ? 0 : sum / count;
  }

  /**
   * Returns the mean error of the sum of Hadoop's bars in the time of the snapshots, as if the
   * number of applications were known.
   */
  public double meanError(List<JsonNode> snapshots) {
    final JsonNode last = snapshots.get(snapshots.size() - 1);
    final double begin = millis(last.get("started_at"));
    final double end = millis(last.get("ended_at"));
    final int jobs = polled.isEmpty() ? 0 : polled.get(polled.size() - 1).size();
    double error = 0;
    int count = 0;
    for (int i = 0; i < polled.size(); ++i) {
      if (at.get(i) < begin || at.get(i) >= end) {
        continue;
      }
      final double sum = polled.get(i).values().stream().mapToDouble(each -> each).sum();
      error += Math.abs(sum / jobs - (at.get(i) - begin) / (end - begin));
      ++count;
    }
    return count == 0 ? 0 : error / count;
  }
}
