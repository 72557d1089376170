#include "cli/alerts/lineage_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <regex>

#include "cli/alerts/run_name.h"
#include "tests/cli/some_jobs.h"

namespace tidemark::cli {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Snapshots of one job, each later than the one before.
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

TEST(LineageEvents, ARunStartsRunsAndEnds) {
  LineageEvents events({.interval = absl::Minutes(1)});
  Story job;
  EXPECT_THAT(Types(events.Look({job.Next()})), ElementsAre("START"));
  EXPECT_THAT(events.Look({job.Next(absl::Seconds(59))}), IsEmpty());
  const Snapshot later = job.Next();
  EXPECT_THAT(Types(events.Look({later})), ElementsAre("RUNNING"));
  EXPECT_THAT(events.Look({later}), IsEmpty());
  const Snapshot ended = job.Ended(JobState::kSucceeded);
  EXPECT_THAT(Types(events.Look({ended})), ElementsAre("COMPLETE"));
  EXPECT_THAT(events.Look({ended}), IsEmpty());
}

TEST(LineageEvents, ARunThatEndsBetweenTwoLooksHasBoth) {
  for (const auto& [state, type] :
       {std::pair(JobState::kFailed, "FAIL"), std::pair(JobState::kKilled, "ABORT"),
        std::pair(JobState::kAbandoned, "ABORT")}) {
    LineageEvents events({});
    events.Look({});
    Story job;
    EXPECT_THAT(Types(events.Look({job.Ended(state)})), ElementsAre("START", type));
  }
}

TEST(LineageEvents, WhatHadEndedBeforeTheFirstLookIsOldNews) {
  LineageEvents events({});
  Story job;
  EXPECT_THAT(events.Look({job.Ended(JobState::kFailed)}), IsEmpty());
}

TEST(LineageEvents, StartAndEndAreSentOnceAcrossARestartAndAnAbsence) {
  Story job;
  LineageEvents before({});
  const auto start = before.Look({job.Next()});
  ASSERT_EQ(start.size(), 1U);
  EXPECT_TRUE(start[0].is_once);
  before.Look({});
  EXPECT_THAT(before.Look({job.Next()}), IsEmpty());
  LineageEvents after({}, {start[0].id});
  EXPECT_THAT(after.Look({job.Next()}), IsEmpty());
}

// Beyond what the schema asks for: RFC 3339, RFC 9562.
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
  for (const char* name : {"fractionDone", "lateProbability"}) {
    if (facet.contains(name)) {
      EXPECT_GE(facet[name].get<double>(), 0) << body;
      EXPECT_LE(facet[name].get<double>(), 1) << body;
    }
  }
  // What the schema of the facet does not know.
  for (const auto& [name, value] : facet.items()) {
    EXPECT_THAT((std::set<std::string>{"_producer", "_schemaURL", "jobId", "fractionDone", "endsAt",
                                       "endsAtLower", "endsAtUpper", "deadlineAt",
                                       "lateProbability", "message"}),
                ::testing::Contains(name));
  }
}

TEST(LineageEvents, SayHowFarItIsAndWhenItEnds) {
  LineageEvents events({.name_space = "etl", .interval = absl::ZeroDuration()});
  Story job;
  events.Look({job.Next()});
  Snapshot now = job.Next();
  now.deadline = now.at + absl::Minutes(5);
  now.late_probability = 0.25;
  const auto running = events.Look({now});
  ASSERT_EQ(running.size(), 1U);
  ExpectValid(running[0].body);
  const json event = json::parse(running[0].body);
  EXPECT_EQ(event["job"]["namespace"], "etl");
  EXPECT_EQ(event["job"]["name"], "two-path");
  const json& facet = event["run"]["facets"]["tidemark_progress"];
  EXPECT_EQ(facet["jobId"], "job-1");
  EXPECT_EQ(facet["fractionDone"], 0.41);
  // 22:14:34 and 198, 171, 249 s.
  EXPECT_EQ(event["eventTime"], "2023-11-14T22:14:34.000Z");
  EXPECT_EQ(facet["endsAt"], "2023-11-14T22:17:52.000Z");
  EXPECT_EQ(facet["endsAtLower"], "2023-11-14T22:17:25.000Z");
  EXPECT_EQ(facet["endsAtUpper"], "2023-11-14T22:18:43.000Z");
  EXPECT_EQ(facet["deadlineAt"], "2023-11-14T22:19:34.000Z");
  EXPECT_EQ(facet["lateProbability"], 0.25);
}

TEST(LineageEvents, EventsOfARunHaveItsId) {
  LineageEvents events({});
  Story job;
  const json start = json::parse(events.Look({job.Next()})[0].body);
  const auto ended = events.Look({job.Ended(JobState::kFailed)});
  ExpectValid(ended[0].body);
  const json end = json::parse(ended[0].body);
  EXPECT_EQ(start["run"]["runId"], end["run"]["runId"]);
  EXPECT_EQ(end["run"]["facets"]["tidemark_progress"]["message"], "out of memory");
  Snapshot other = Story().Next();
  other.run_uid = "second";
  EXPECT_NE(UuidOf(RunOf(other)), start["run"]["runId"]);
}

TEST(LineageEvents, TakeAnyTextAndNumber) {
  LineageEvents events({.interval = absl::ZeroDuration()});
  Story job;
  events.Look({job.Next()});
  Snapshot odd = job.Next();
  odd.info->name = std::string("\xff\x1b", 2) + std::string(100'000, 'x');
  odd.estimate.fraction_done = std::numeric_limits<double>::quiet_NaN();
  odd.estimate.remaining =
      Range{absl::InfiniteDuration(), -absl::InfiniteDuration(), absl::Hours(1e9)};
  odd.deadline = absl::InfiniteFuture();
  odd.late_probability = std::numeric_limits<double>::quiet_NaN();
  const auto running = events.Look({odd});
  ASSERT_EQ(running.size(), 1U);
  EXPECT_LT(running[0].body.size(), 4000U);
  EXPECT_THAT(running[0].body, Not(HasSubstr("\x1b")));
  EXPECT_THAT(running[0].body, Not(HasSubstr("null")));
  ExpectValid(running[0].body);
}

TEST(LineageEvents, TellOfJobsByTheirNames) {
  LineageEvents events({.jobs = {"nightly-*"}});
  EXPECT_THAT(events.Look({Story().Next()}), IsEmpty());
}

}  // namespace
}  // namespace tidemark::cli
