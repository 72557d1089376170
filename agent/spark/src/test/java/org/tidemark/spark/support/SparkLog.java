package org.tidemark.spark.support;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The parts of Spark's own event log of an application, in its own folder, that the tests need. */
public final class SparkLog {
  private final Map<String, Long> submitted = new TreeMap<>();
  private final Map<String, Long> waits = new TreeMap<>();

  public static SparkLog of(File folder) throws IOException {
    final SparkLog log = new SparkLog();
    final ObjectMapper json = new ObjectMapper();
    try (Stream<Path> files = Files.walk(folder.toPath())) {
      for (Path file : files.filter(SparkLog::isOfEvents).collect(Collectors.toList())) {
        for (String line : Files.readAllLines(file, StandardCharsets.UTF_8)) {
          log.take(json.readTree(line));
        }
      }
    }
    return log;
  }

  private static boolean isOfEvents(Path file) {
    // Excludes checksums.
    return Files.isRegularFile(file) && !file.getFileName().toString().startsWith(".");
  }

  /**
   * Returns the milliseconds from the submission of the stage to the launch of each attempt, by
   * stage.attempt.partition.attempt.
   */
  public Map<String, Long> schedulerWaits() {
    return waits;
  }

  private void take(JsonNode event) {
    final String kind = event.path("Event").asText();
    if (kind.equals("SparkListenerStageSubmitted")) {
      final JsonNode stage = event.path("Stage Info");
      submitted.put(
          stage.path("Stage ID") + "." + stage.path("Stage Attempt ID"),
          stage.path("Submission Time").asLong());
    } else if (kind.equals("SparkListenerTaskStart")) {
      final String stage = event.path("Stage ID") + "." + event.path("Stage Attempt ID");
      final JsonNode task = event.path("Task Info");
      waits.put(
          stage + "." + task.path("Partition ID") + "." + task.path("Attempt"),
          task.path("Launch Time").asLong() - submitted.get(stage));
    }
  }
}
