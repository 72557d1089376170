package org.tidemark.spark;

import static org.junit.Assert.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.junit.Test;
import org.tidemark.jvm.Vectors;
import org.tidemark.jvm.wire.StageDescription;

/** Tests that signatures agree with spark/signature.h for the same applications. */
public class SignatureTest {
  private static void addNames(JsonNode node, StringBuilder names) {
    names.append(node.get("nodeName").asText()).append('(');
    node.get("children").forEach(child -> addNames(child, names));
    names.append(')');
  }

  private static StageFacts facts(JsonNode stage) {
    final List<String> steps = new ArrayList<>();
    stage
        .get("rdds")
        .forEach(rdd -> steps.add(rdd.get("name").asText() + " " + rdd.get("scope").asText()));
    final String name = stage.get("name").asText();
    return new StageFacts(
        stage.get("number").asInt(), 0, name, 1, 1, new int[0], steps, 0);
  }

  @Test
  public void everyStageHasTheSignatureOfItsVector() throws Exception {
    for (JsonNode vector : Vectors.read("spark_signatures.json")) {
      if (vector.has("plan")) {
        final StringBuilder names = new StringBuilder();
        addNames(vector.get("plan"), names);
        assertEquals(vector.get("plan_name").asText(), Signature.ofPlan(names.toString()));
      }
      final Stages.Work work =
          new Stages.Work(
              vector.has("plan") ? "sql/1" : "job/1", "", vector.get("group").asText(), "");
      final List<JsonNode> stages = new ArrayList<>();
      vector.get("stages").forEach(stages::add);
      stages.sort(Comparator.comparingInt(stage -> stage.get("number").asInt()));
      final Stages known = new Stages(false);
      for (JsonNode stage : stages) {
        final StageDescription update = known.listed(facts(stage), work);
        assertEquals(stage.get("signature").asText(), update.signature);
      }
    }
  }
}
