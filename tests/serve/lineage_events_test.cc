#include <nlohmann/json.hpp>
#include <regex>

#include "serve/alerts/alert_causes.h"
#include "serve/alerts/alert_messages.h"
#include "tests/console/some_jobs.h"
#include "tests/serve/documented_json.h"
#include "tests/test.h"

namespace tidemark::serve::lineage_events_test {
namespace {

using nlohmann::json;

// Successive snapshots of one job.
class Story {
 public:
  Snapshot Next(absl::Duration later = absl::Seconds(1)) {
    job_.sequence += 1;
    job_.at += later;
    return job_;
  }
  Snapshot Ended(JobState state) {
    Snapshot ended = Next();
    ended.is_final = true;
    ended.state = state;
    ended.ended_at = ended.at;
    ended.message = state == JobState::kSucceeded ? "" : "out of memory";
    return ended;
  }

 private:
  Snapshot job_ = console::SomeSnapshot();
};

std::vector<std::string> Types(const std::vector<LineageEvent>& events) {
  std::vector<std::string> types;
  for (const LineageEvent& event : events) types.push_back(event.type);
  return types;
}

TEST(LineageEvents, FollowARunFromStartToEnd) {
  LineageEvents events({.interval = absl::Minutes(1)});
  Story job;
  EXPECT_THAT(Types(events.Update({job.Next()})), ElementsAre("START"));
  EXPECT_THAT(events.Update({job.Next(absl::Seconds(59))}), IsEmpty());
  const Snapshot later = job.Next();
  EXPECT_THAT(Types(events.Update({later})), ElementsAre("RUNNING"));
  EXPECT_THAT(events.Update({later}), IsEmpty());
  const Snapshot ended = job.Ended(JobState::kSucceeded);
  EXPECT_THAT(Types(events.Update({ended})), ElementsAre("COMPLETE"));
  EXPECT_THAT(events.Update({ended}), IsEmpty());
}

TEST(LineageEvents, IncludeStartAndEndOfAShortRun) {
  for (const auto& [state, type] :
       {std::pair(JobState::kFailed, "FAIL"), std::pair(JobState::kKilled, "ABORT"),
        std::pair(JobState::kAbandoned, "ABORT")}) {
    LineageEvents events({});
    events.Update({});
    Story job;
    EXPECT_THAT(Types(events.Update({job.Ended(state)})), ElementsAre("START", type));
  }
}

TEST(LineageEvents, IgnoreJobsThatEndedBeforeTheFirstUpdate) {
  LineageEvents events({});
  Story job;
  EXPECT_THAT(events.Update({job.Ended(JobState::kFailed)}), IsEmpty());
}

TEST(LineageEvents, RepeatStartAndEndNeitherAfterARestartNorAnAbsence) {
  Story job;
  LineageEvents before({});
  const auto start = before.Update({job.Next()});
  ASSERT_EQ(start.size(), 1U);
  EXPECT_TRUE(start[0].is_once);
  before.Update({});
  EXPECT_THAT(before.Update({job.Next()}), IsEmpty());
  LineageEvents after({}, {start[0].id});
  EXPECT_THAT(after.Update({job.Next()}), IsEmpty());
}

const std::set<std::string> kFacetFields = {
    "_producer",         "_schemaURL",      "jobId",  "fractionDone", "fractionDoneLower",
    "fractionDoneUpper", "basis",           "endsAt", "endsAtLower",  "endsAtUpper",
    "deadlineAt",        "lateProbability", "message"};

// Checks the event against the schema, and against rules that the schema does not express (RFC
// 3339, RFC 9562).
void ExpectValid(const std::string& body) {
  const json event = json::parse(body);
  const std::regex instant(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)");
  const std::regex uuid("[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  const std::regex uri("(https?|urn):[!-~]+");
  for (const char* name : {"eventType", "eventTime", "producer", "schemaURL", "run", "job"}) {
    ASSERT_TRUE(event.contains(name)) << name << " in " << body;
  }
  EXPECT_TRUE(std::regex_match(event["eventTime"].get<std::string>(), instant)) << body;
  EXPECT_TRUE(std::regex_match(event["run"]["runId"].get<std::string>(), uuid)) << body;
  EXPECT_FALSE(event["job"]["namespace"].get<std::string>().empty());
  EXPECT_FALSE(event["job"]["name"].get<std::string>().empty());
  const json& facet = event["run"]["facets"]["tidemark_progress"];
  for (const json& address :
       {event["producer"], event["schemaURL"], facet["_producer"], facet["_schemaURL"]}) {
    EXPECT_TRUE(std::regex_match(address.get<std::string>(), uri)) << address;
  }
  for (const char* name : {"endsAt", "endsAtLower", "endsAtUpper", "deadlineAt"}) {
    if (facet.contains(name)) {
      EXPECT_TRUE(std::regex_match(facet[name].get<std::string>(), instant)) << name << body;
    }
  }
  for (const char* name :
       {"fractionDone", "fractionDoneLower", "fractionDoneUpper", "lateProbability"}) {
    if (facet.contains(name)) {
      EXPECT_GE(facet[name].get<double>(), 0) << body;
      EXPECT_LE(facet[name].get<double>(), 1) << body;
    }
  }
  for (const auto& [name, value] : facet.items()) EXPECT_TRUE(kFacetFields.contains(name)) << name;
}

TEST(LineageEvents, MatchTheirDocumentation) {
  const json documented = test::DocumentedJson("## Events of OpenLineage");
  ASSERT_TRUE(documented.is_object());
  ExpectValid(documented.dump());
}

TEST(LineageEvents, MatchTheSchemaOfTheFacet) {
  std::ifstream stream(TIDEMARK_SOURCE_DIR "/docs/openlineage/ProgressRunFacet.json");
  const json schema = json::parse(stream);
  for (const auto& [name, value] : schema["properties"].items()) {
    EXPECT_TRUE(kFacetFields.contains(name)) << name;
  }
  EXPECT_EQ(schema["properties"].size(), kFacetFields.size());
}

TEST(LineageEvents, ContainProgressAndForecast) {
  LineageEvents events({.name_space = "etl", .interval = absl::ZeroDuration()});
  Story job;
  events.Update({job.Next()});
  Snapshot now = job.Next();
  now.deadline = now.at + absl::Minutes(5);
  now.late_probability = 0.25;
  const auto running = events.Update({now});
  ASSERT_EQ(running.size(), 1U);
  ExpectValid(running[0].body);
  const json event = json::parse(running[0].body);
  EXPECT_EQ(event["job"]["namespace"], "etl");
  EXPECT_EQ(event["job"]["name"], "two-path");
  const json& facet = event["run"]["facets"]["tidemark_progress"];
  EXPECT_EQ(facet["jobId"], "job-1");
  EXPECT_EQ(facet["fractionDone"], 0.41);
  EXPECT_EQ(facet["fractionDoneLower"], 0.35);
  EXPECT_EQ(facet["fractionDoneUpper"], 0.5);
  EXPECT_EQ(facet["basis"], "this_run");
  // At 22:14:34, the estimate is 198 s (171–249 s).
  EXPECT_EQ(event["eventTime"], "2023-11-14T22:14:34.000Z");
  EXPECT_EQ(facet["endsAt"], "2023-11-14T22:17:52.000Z");
  EXPECT_EQ(facet["endsAtLower"], "2023-11-14T22:17:25.000Z");
  EXPECT_EQ(facet["endsAtUpper"], "2023-11-14T22:18:43.000Z");
  EXPECT_EQ(facet["deadlineAt"], "2023-11-14T22:19:34.000Z");
  EXPECT_EQ(facet["lateProbability"], 0.25);
}

TEST(LineageEvents, NameTheParentRun) {
  constexpr char kRun[] = "01977f2e-5b1c-7d3e-9a41-0c5f8e2b6d70";
  LineageEvents live({.parent = *ParseLineageParent(std::string("airflow/dag.task/") + kRun)});
  const auto start = live.Update({Story().Next()});
  ASSERT_EQ(start.size(), 1U);
  ExpectValid(start[0].body);
  const json parent = json::parse(start[0].body)["run"]["facets"]["parent"];
  EXPECT_EQ(parent["run"], json({{"runId", kRun}}));
  EXPECT_EQ(parent["job"], json({{"namespace", "airflow"}, {"name", "dag.task"}}));
  EXPECT_EQ(parent["_schemaURL"],
            "https://openlineage.io/spec/facets/1-0-1/ParentRunFacet.json#/$defs/ParentRunFacet");
  EXPECT_TRUE(parent.contains("_producer"));
}

TEST(LineageEvents, OmitAnUnknownParent) {
  const auto start = LineageEvents({}).Update({Story().Next()});
  EXPECT_FALSE(json::parse(start.at(0).body)["run"]["facets"].contains("parent"));
}

TEST(LineageParent, ParsesTheFormOfOpenLineageClients) {
  const std::string run = "01977F2E-5b1c-7d3e-9a41-0c5f8e2b6d70";
  const auto parent = ParseLineageParent("s3://bucket/x/dag.task/" + run);
  ASSERT_TRUE(parent.ok()) << parent.status();
  EXPECT_EQ(parent->name_space, "s3://bucket/x");
  EXPECT_EQ(parent->name, "dag.task");
  EXPECT_EQ(parent->run_id, "01977f2e-5b1c-7d3e-9a41-0c5f8e2b6d70");
  for (const std::string& text :
       {std::string(), run, "/" + run, "a/" + run, "a//" + run, "/a/" + run, "//" + run,
        std::string("a/b/"), std::string("a/b/c"), "a/b/" + run + "0",
        std::string("a/b/01977f2e-5b1c-7d3e-9a41-0c5f8e2b6d7g"),
        std::string(2000, 'a') + "/b/" + run}) {
    const auto none = ParseLineageParent(text);
    EXPECT_FALSE(none.ok()) << text;
    EXPECT_LT(none.status().message().size(), 200U);
  }
}

TEST(LineageParent, ComesFromTheEnvironmentUnlessItIsSet) {
  const char* const given = "airflow/dag.task/01977f2e-5b1c-7d3e-9a41-0c5f8e2b6d70";
  LineageSettings disabled;
  EXPECT_TRUE(SetParentFromEnvironment("nonsense", disabled).ok());
  EXPECT_FALSE(disabled.parent);
  LineageSettings enabled = {.url = "https://x"};
  EXPECT_TRUE(SetParentFromEnvironment(nullptr, enabled).ok());
  EXPECT_THAT(
      std::string(SetParentFromEnvironment("nonsense", enabled).message()),
      HasSubstr("OPENLINEAGE_PARENT_ID in the environment must be NAMESPACE/NAME/RUNID, where "
                "RUNID is a UUID, not `nonsense`"));
  EXPECT_TRUE(SetParentFromEnvironment(given, enabled).ok());
  ASSERT_TRUE(enabled.parent);
  EXPECT_EQ(ToString(*enabled.parent), given);
  EXPECT_TRUE(SetParentFromEnvironment("nonsense", enabled).ok()) << "the setting has precedence";
}

TEST(LineageEvents, ShareTheIdOfTheirRun) {
  LineageEvents events({});
  Story job;
  const json start = json::parse(events.Update({job.Next()})[0].body);
  const auto ended = events.Update({job.Ended(JobState::kFailed)});
  ExpectValid(ended[0].body);
  const json end = json::parse(ended[0].body);
  EXPECT_EQ(start["run"]["runId"], end["run"]["runId"]);
  EXPECT_EQ(end["run"]["facets"]["tidemark_progress"]["message"], "out of memory");
  Snapshot other = Story().Next();
  other.run_uid = "second";
  EXPECT_NE(UuidOf(RunOf(other)), start["run"]["runId"]);
}

TEST(LineageEvents, AcceptAnyTextAndNumber) {
  LineageEvents events({.interval = absl::ZeroDuration()});
  Story job;
  events.Update({job.Next()});
  Snapshot odd = job.Next();
  odd.info->name = std::string("\xff\x1b", 2) + std::string(100'000, 'x');
  odd.estimate.fraction_done = std::numeric_limits<double>::quiet_NaN();
  odd.estimate.fraction_done_upper = std::numeric_limits<double>::infinity();
  odd.estimate.remaining =
      Range{absl::InfiniteDuration(), -absl::InfiniteDuration(), absl::Hours(1e9)};
  odd.deadline = absl::InfiniteFuture();
  odd.late_probability = std::numeric_limits<double>::quiet_NaN();
  const auto running = events.Update({odd});
  ASSERT_EQ(running.size(), 1U);
  EXPECT_LT(running[0].body.size(), 4000U);
  EXPECT_THAT(running[0].body, Not(HasSubstr("\x1b")));
  EXPECT_THAT(running[0].body, Not(HasSubstr("null")));
  ExpectValid(running[0].body);
}

TEST(LineageEvents, SelectJobsByName) {
  LineageEvents events({.jobs = {"nightly-*"}});
  EXPECT_THAT(events.Update({Story().Next()}), IsEmpty());
}

}  // namespace
}  // namespace tidemark::serve::lineage_events_test
