package org.tidemark.spark;

import static org.junit.Assert.assertArrayEquals;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.junit.Test;
import org.tidemark.jvm.Vectors;

/** Tests that stages agree with spark/planned_stages.h for the same plans. */
public class PlannedStagesTest {
  /** A fake SparkPlanInfo that reads its values from JSON. */
  static final class Node {
    private final JsonNode json;

    Node(JsonNode json) {
      this.json = json;
    }

    String nodeName() {
      return json.get("nodeName").asText();
    }

    String simpleString() {
      return json.get("simpleString").asText();
    }

    scala.collection.Iterable<Node> children() {
      final List<Node> children = new ArrayList<>();
      json.get("children").forEach(child -> children.add(new Node(child)));
      return scala.collection.JavaConverters.iterableAsScalaIterable(children);
    }
  }

  @Test
  public void everyPlanHasTheStagesOfItsVector() throws Exception {
    for (JsonNode vector : Vectors.read("spark_plans.json")) {
      final List<Long> expected = new ArrayList<>();
      vector.get("task_counts").forEach(count -> expected.add(count.asLong()));
      assertArrayEquals(
          vector.get("what").asText(),
          expected.stream().mapToLong(count -> count).toArray(),
          PlannedStages.of(new Node(vector.get("plan")), new Members()));
    }
  }

  @Test
  public void aPlanOfAnotherVersionIsNotReported() {
    assertArrayEquals(PlannedStages.NONE, PlannedStages.of("no plan", new Members()));
  }
}
