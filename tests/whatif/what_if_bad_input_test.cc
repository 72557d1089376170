// Tests answers from Spark logs in which facts are missing or impossible. The answer is either a
// clear error, or a wide interval with its reason.

#include <nlohmann/json.hpp>

#include "absl/strings/str_replace.h"
#include "tests/scratch_directory.h"
#include "tests/spark/some_log.h"
#include "tests/test.h"
#include "whatif/plan_estimate.h"
#include "whatif/spark_models.h"
#include "whatif/spark_parameters.h"
#include "whatif/spark_run.h"
#include "whatif/what_if.h"

namespace tidemark::whatif::what_if_bad_input_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Field;
using Changes = std::map<std::string, std::string>;

json Counters(std::uint64_t seconds) {
  return {{"Executor Run Time", 1000 * seconds - 100},
          {"Executor CPU Time", 900'000'000 * seconds},
          {"Executor Deserialize Time", 10u},
          {"Result Size", 1000u},
          {"Memory Bytes Spilled", 0u},
          {"Disk Bytes Spilled", 0u},
          {"Input Metrics", {{"Bytes Read", 1'000'000u}, {"Records Read", 10'000u}}},
          {"Shuffle Read Metrics",
           {{"Fetch Wait Time", 0u},
            {"Local Bytes Read", 0u},
            {"Remote Bytes Read", 0u},
            {"Total Records Read", 0u}}},
          {"Shuffle Write Metrics",
           {{"Shuffle Bytes Written", 500'000u},
            {"Shuffle Records Written", 10'000u},
            {"Shuffle Write Time", 50'000'000u}}}};
}

// Returns the counters of a task that fetches the output of another stage.
json Gathers() {
  json gathers = Counters(5);
  gathers["Input Metrics"] = {{"Bytes Read", 0u}, {"Records Read", 0u}};
  gathers["Shuffle Read Metrics"]["Local Bytes Read"] = 500'000u;
  gathers["Shuffle Read Metrics"]["Total Records Read"] = 10'000u;
  return gathers;
}

json WithExecutors(json properties) {
  properties["spark.executor.memory"] = "1g";
  properties["spark.executor.instances"] = "2";
  properties["spark.executor.cores"] = "1";
  return properties;
}

// The log of an application on two executors with one core each.
class ALog {
 public:
  explicit ALog(json properties = json::object(), bool has_version = true)
      : log_({.version = has_version ? "3.5.1" : "",
              .properties = WithExecutors(std::move(properties)),
              .executors = 2,
              .cores = 1}) {}
  // Adds a job with one stage, whose tasks run two at a time for `seconds` each.
  ALog& Stage(std::uint32_t number, std::uint64_t seconds, const json& counters,
              const std::vector<std::uint32_t>& parents = {}, std::uint32_t tasks = 4) {
    const json stage = test::SomeLog::StageInfo(number, tasks, parents);
    log_.StartJob(now_, number, {stage}).Submit(now_, stage);
    for (std::uint32_t task = 0; task < tasks; ++task) {
      if (task > 0 && task % 2 == 0) now_ += 1000 * seconds;
      log_.EndTask(now_, now_ + 1000 * seconds, number, task,
                   {.id = task_++, .executor = 1 + task % 2, .metrics = counters});
    }
    now_ += 1000 * seconds;
    log_.Complete(now_, stage).EndJob(now_, number);
    return *this;
  }
  ALog& Replace(const std::string& text, const std::string& other) {
    replaced_.emplace_back(text, other);
    return *this;
  }
  ALog& End() {
    log_.End(now_);
    return *this;
  }
  std::string text() const {
    std::string text = log_.text();
    for (const auto& replacement : replaced_) text = absl::StrReplaceAll(text, {replacement});
    return text;
  }

 private:
  test::SomeLog log_;
  std::vector<std::pair<std::string, std::string>> replaced_;
  std::uint64_t now_ = 0;
  std::uint64_t task_ = 0;
};

SparkRun Read(const ALog& log) {
  const test::ScratchDirectory directory;
  return ReadSparkRun(directory.Write("log", log.text())).value();
}

SparkRun TwoStages(const json& counters) {
  return Read(ALog().Stage(0, 5, counters).Stage(1, 5, counters, {0}).End());
}

// Returns a run of a new application with these parameters, and with one stage whose tasks take
// `seconds` each.
SparkRun RunWith(const Changes& parameters, std::uint64_t seconds) {
  json properties = json::object();
  for (const auto& [name, value] : parameters) properties["spark.tidemark.param." + name] = value;
  static int applications = 1;
  ++applications;
  return Read(ALog(properties)
                  .Stage(0, seconds, Counters(seconds))
                  .End()
                  .Replace("app-1", "app-" + std::to_string(applications)));
}

SparkRuns Learn(std::vector<SparkRun> runs, std::vector<std::string> paths = {}) {
  paths.resize(runs.size(), "log");
  return SparkRuns::Learn(std::move(runs), paths).value();
}

ModelledRun Asked(const SparkRuns& runs, const durations::Parameters& parameters,
                  const Changes& settings = {}, const StatedSizes& sizes = {}) {
  return runs.With(settings, /*data_factor=*/1, parameters, sizes).value();
}

absl::StatusOr<ModelledRun> With(const SparkRun& run, const Changes& changes) {
  const auto models = SparkRunModels::Learn(run);
  if (!models.ok()) return models.status();
  return models->With(changes);
}

std::string MessageOf(const absl::Status& status) { return std::string(status.message()); }

// Matches remarks of which one contains the text.
auto Names(const std::string& text) { return Contains(HasSubstr(text)); }

Range EndOf(const ModelledRun& other) {
  const auto outcome = EstimateRun(other, {.slots = other.slots}, absl::UnixEpoch()).value();
  return outcome.snapshot.estimate.remaining.value_or(Range());
}

double MedianOf(const ModelledRun& other) { return absl::ToDoubleSeconds(EndOf(other).median); }

// Expects a finite, ordered and positive interval.
void ExpectSensible(const ModelledRun& other) {
  const Range end = EndOf(other);
  ASSERT_TRUE(end.lower && end.upper);
  EXPECT_GT(end.median, absl::ZeroDuration());
  EXPECT_LE(*end.lower, end.median);
  EXPECT_LE(end.median, *end.upper);
  EXPECT_LT(*end.upper, absl::Hours(24 * 365 * 100));
  EXPECT_TRUE(std::isfinite(other.deviation));
}

const Changes kLittleMemory = {{"spark.executor.memory", "512m"}};
const Changes kMoreCores = {{"spark.executor.cores", "4"}};
const Changes kFourExecutors = {{"spark.executor.instances", "4"}};

TEST(WhatIfBadInput, ALogWithoutMetricsOfTasksIsAnError) {
  const SparkRun run = Read(ALog().Stage(0, 5, nullptr).End());
  EXPECT_THAT(MessageOf(With(run, kLittleMemory).status()), HasSubstr("no metrics of tasks"));
  EXPECT_THAT(
      MessageOf(SparkRuns::Learn({run}, {"the log"}).status()),
      AllOf(HasSubstr("the log: "), HasSubstr("no metrics of tasks"), HasSubstr("--slots")));
  // A question about slots needs no metrics.
  EXPECT_TRUE(EstimateStages(run.plan, {.slots = 4}, absl::UnixEpoch()).ok());
}

TEST(WhatIfBadInput, ARunWithoutMetricsOfTasksIsAcceptedBesideOthers) {
  const SparkRun without = Read(ALog().Stage(0, 5, nullptr).End());
  const ModelledRun known = Asked(Learn({RunWith({}, 5), without}), {}, kMoreCores);
  ExpectSensible(known);
  EXPECT_THAT(known.remarks, Not(Names("has no metrics of tasks")));
  const ModelledRun unknown = Asked(Learn({without, RunWith({}, 5)}), {}, kMoreCores);
  ExpectSensible(unknown);
  EXPECT_THAT(unknown.remarks, Names("has no metrics of tasks"));
  EXPECT_THAT(unknown.binding, IsEmpty()) << "what its time goes to is not known";
  EXPECT_GE(unknown.deviation, 0.5);
}

// The tasks have metrics, but no event describes their stages. Two stages have the same name.
TEST(WhatIfBadInput, ALogWithoutStartsOfJobsIsAnErrorThatNamesThem) {
  ALog log;
  log.Stage(0, 5, Counters(5)).Stage(1, 5, Counters(5), {0}).End();
  log.Replace("SparkListenerJobStart", "SparkListenerOther").Replace("stage 1", "stage 0");
  const SparkRun run = Read(log);
  for (const std::string& message : {MessageOf(With(run, kLittleMemory).status()),
                                     MessageOf(SparkRuns::Learn({run}, {"log"}).status())}) {
    EXPECT_THAT(message, AllOf(HasSubstr("SparkListenerJobStart"), HasSubstr("--slots"),
                               Not(HasSubstr("no metrics"))));
  }
  EXPECT_TRUE(EstimateStages(run.plan, {.slots = 4}, absl::UnixEpoch()).ok());
}

TEST(WhatIfBadInput, AnUnmodelledValueIsARemarkAndAWiderInterval) {
  const SparkRun usual = RunWith({}, 5);
  const json others = {{"spark.shuffle.manager", "org.apache.spark.shuffle.rss.RssShuffleManager"},
                       {"spark.sql.shuffle.partitions", "auto"},
                       {"spark.shuffle.sort.bypassMergeThreshold", "0"}};
  const SparkRun other =
      Read(ALog(others)
               .Stage(0, 5, Counters(5))
               .End()
               .Replace(R"("spark.executor.instances":"2")", R"("spark.executor.instances":"0")"));
  const auto width = [](const ModelledRun& run) {
    const Range end = EndOf(run);
    return absl::FDivDuration(*end.upper - *end.lower, end.median);
  };
  for (const bool learns : {false, true}) {
    const auto ask = [&](const SparkRun& run, const Changes& changes) {
      return learns ? Asked(Learn({run}), {}, changes) : With(run, changes).value();
    };
    const ModelledRun known = ask(usual, kLittleMemory);
    const ModelledRun unknown = ask(other, kLittleMemory);
    ExpectSensible(unknown);
    EXPECT_GT(width(unknown), width(known));
    EXPECT_THAT(unknown.remarks,
                AllOf(Names("spark.shuffle.manager="), Names("spark.sql.shuffle.partitions=auto"),
                      Not(Names("bypassMergeThreshold")), Not(Names("instances"))));
    for (const auto& [name, value] :
         Changes{{"spark.executor.instances", "0"},
                 {"spark.sql.shuffle.partitions", "auto"},
                 {"spark.shuffle.manager", "org.apache.spark.shuffle.rss.RssShuffleManager"}}) {
      const ModelledRun asked = ask(usual, {{name, value}});
      ExpectSensible(asked);
      EXPECT_THAT(asked.remarks, Names(name + "=" + value));
      EXPECT_EQ(asked.executors, 2u);
      EXPECT_GT(asked.deviation, 0.2);
    }
    EXPECT_THAT(ask(usual, {{"spark.shuffle.sort.bypassMergeThreshold", "0"}}).remarks,
                Not(Names("bypassMergeThreshold")));
  }
  EXPECT_THAT(With(other, {{"spark.shuffle.manager", "sort"}}).value().remarks,
              Names("spark.shuffle.manager=sort"));
  EXPECT_FALSE(With(usual, {{"spark.shuffle.manager", "hash"}}).ok()) << "Spark 3.5 refuses it";
}

TEST(WhatIfBadInput, ASettingThatNoModelCoversIsARemarkAndAWiderInterval) {
  const SparkRun run = RunWith({}, 5);
  for (const auto& [name, value] :
       Changes{{"spark.speculation", "TRUE"},
               {"spark.locality.wait", "3s"},
               {"spark.sql.adaptive.enabled", "false"},
               {"spark.dynamicAllocation.maxExecutors", "infinity"},
               {"spark.serializer", "org.apache.spark.serializer.KryoSerializer"},
               {"spark.io.compression.codec", "zstd"}}) {
    for (const ModelledRun& other :
         {With(run, {{name, value}}).value(), Asked(Learn({run}), {}, {{name, value}})}) {
      ExpectSensible(other);
      EXPECT_THAT(other.remarks,
                  Names(name + "=" + value + ": the effect of this setting is not modelled"));
      EXPECT_GE(other.deviation, kUnmodelledDeviation);
      EXPECT_EQ(other.executors, 2u);
    }
  }
}

TEST(WhatIfBadInput, TheDefaultCodecIsNoChange) {
  EXPECT_THAT(With(RunWith({}, 5), {{"spark.io.compression.codec", "lz4"}}).value().remarks,
              IsEmpty());
}

TEST(WhatIfBadInput, AValueThatTheRunHadIsNoChange) {
  const Changes properties = {{"spark.locality.wait", "3s"}, {"spark.shuffle.manager", "x.Rss"}};
  const SparkRun run = Read(ALog(properties).Stage(0, 5, Counters(5)).End());
  for (const auto& [name, value] : properties) {
    const auto same = SettingsOf(run.measured, {{name, value}}).value();
    EXPECT_THAT(same.of_changes, IsEmpty());
    EXPECT_EQ(same.other, same.ran);
    const auto other = SettingsOf(run.measured, {{name, value + "0"}}).value();
    EXPECT_THAT(other.of_changes, Names(name + "=" + value + "0: "));
  }
}

// The other program ran with the settings in the question, but its stages are different.
TEST(WhatIfBadInput, ALogOfAnotherProgramIsNamedAndLeftOut) {
  const Changes partitions = {{"spark.sql.shuffle.partitions", "32"}};
  const SparkRun run = RunWith({}, 5);
  const auto other_program = [&](std::uint64_t seconds) {
    return Read(ALog(partitions).Stage(8, seconds, Counters(seconds)).End());
  };
  const ModelledRun other =
      Asked(Learn({run, other_program(50), other_program(60)}, {"mine", "a", "b"}), {}, partitions);
  EXPECT_EQ(other.plan, Asked(Learn({run}), {}, partitions).plan);
  EXPECT_THAT(
      other.remarks,
      Contains("no stage of a, b matches mine: assumed to be a different program and omitted"));
}

// The log contains counters of 500 tasks. The stage takes 5,000 s on two executors, and half of
// that on four.
TEST(WhatIfBadInput, AStageWithMoreTasksThanAreCountedKeepsThemAll) {
  const SparkRun run = Read(ALog().Stage(0, 5, Counters(5), {}, 2000).End());
  EXPECT_EQ(TasksPerCounted(run, 0), 4);
  const ModelledRun other = Asked(Learn({run}), {}, kFourExecutors);
  EXPECT_EQ(other.plan.jobs[0].stages[0].task_count, 2000);
  EXPECT_NEAR(MedianOf(other), 2500, 250);
}

// The second stage has four tasks, which gather.
TEST(WhatIfBadInput, PartitionsThatNoStageFollowsAreNamed) {
  const auto run = [](const char* partitions) {
    const json properties = {{"spark.sql.shuffle.partitions", partitions}};
    return Read(ALog(properties).Stage(0, 5, Counters(5)).Stage(1, 5, Gathers(), {0}).End());
  };
  const Changes eight = {{"spark.sql.shuffle.partitions", "8"}};
  const auto is_named = Names("so all stages keep their numbers of tasks");
  const ModelledRun followed = Asked(Learn({run("4")}), {}, eight);
  const auto has_eight = Contains(Field(&PlannedStage::task_count, 8));
  EXPECT_THAT(followed.plan.jobs[0].stages, has_eight);
  EXPECT_THAT(followed.remarks, Not(is_named));
  const ModelledRun ignored = Asked(Learn({run("200")}), {}, eight);
  EXPECT_THAT(ignored.plan.jobs[0].stages, Not(has_eight));
  EXPECT_THAT(ignored.remarks, is_named);
  EXPECT_THAT(Asked(Learn({run("200")}), {}, kLittleMemory).remarks, Not(is_named));
  EXPECT_THAT(With(run("4"), eight).value().remarks,
              Names("to change them, use --partitions instead of --conf"));
}

TEST(WhatIfBadInput, ARunCountsOnceIfItsLogIsGivenSeveralTimes) {
  const SparkRun run = RunWith({}, 5);
  const SparkRun other = RunWith({}, 9);
  const ModelledRun expected = Asked(Learn({run, other}, {"mine", "a"}), {}, kFourExecutors);
  const ModelledRun counted = Asked(
      Learn({run, other, run, other}, {"mine", "a", "./mine", "copy of a"}), {}, kFourExecutors);
  EXPECT_EQ(counted.plan, expected.plan);
  EXPECT_EQ(counted.deviation, expected.deviation);
  EXPECT_THAT(counted.remarks, Contains("passed twice but used once: ./mine, copy of a"));
  EXPECT_THAT(expected.remarks, Not(Names("used once")));
  EXPECT_THAT(Asked(Learn({run, other, other}, {"mine", "a", "a"}), {}).remarks,
              Contains("passed twice but used once: a"));
  EXPECT_THAT(Asked(Learn({run, other, other, other}, {"mine", "a", "a", "a"}), {}).remarks,
              Contains("passed more than once but used once: a"));
}

TEST(WhatIfBadInput, RunsOfTheSameTimesAreTwoWhereAnythingElseDiffers) {
  const auto run = [](const json& properties, const char* id) {
    return Read(ALog(properties).Stage(0, 5, Counters(5)).End().Replace("app-1", id));
  };
  const json empty = json::object();
  EXPECT_TRUE(IsSameRun(run(empty, "app-1"), run(empty, "app-1")));
  EXPECT_FALSE(IsSameRun(run(empty, "app-1"), run(empty, "app-2")));
  EXPECT_FALSE(IsSameRun(run(empty, "app-1"), run({{"spark.shuffle.compress", "false"}}, "app-1")));
  EXPECT_FALSE(IsSameRun(run(empty, "app-1"), run({{"spark.tidemark.param.k", "1"}}, "app-1")));
}

TEST(WhatIfBadInput, ALogThatHasFewOfTheStagesIsNamed) {
  const auto log = [](const std::vector<std::uint32_t>& stages) {
    ALog written;
    for (const std::uint32_t stage : stages) written.Stage(stage, 5, Counters(5));
    return Read(written.End());
  };
  const auto remarks = [](const SparkRun& one, const SparkRun& other) {
    return Asked(Learn({one, other}, {"mine", "other"}), {}).remarks;
  };
  EXPECT_THAT(remarks(log({0, 1, 2}), log({0, 8, 9})),
              Names("fewer than half of the stages of other match mine"));
  EXPECT_THAT(remarks(log({0, 1, 2}), log({0, 1, 9})), IsEmpty());
  EXPECT_THAT(remarks(log({0}), log({0, 1, 2, 3})), IsEmpty()) << "more iterations";
  EXPECT_THAT(remarks(log({0, 1, 2, 3}), log({0})), IsEmpty()) << "fewer";
}

TEST(WhatIfBadInput, AMissingVersionOfSparkIsAnErrorThatNamesTheLog) {
  const SparkRun run = Read(ALog(json::object(), false).Stage(0, 5, Counters(5)).End());
  EXPECT_THAT(MessageOf(SparkRuns::Learn({run}, {"the log"}).status()),
              AllOf(HasSubstr("the log: "), HasSubstr("Spark version")));
}

TEST(WhatIfBadInput, OneRunAloneGivesWideIntervalsForChanges) {
  const SparkRuns runs = Learn({RunWith({}, 10)});
  const ModelledRun same = Asked(runs, {});
  ExpectSensible(same);
  EXPECT_THAT(same.remarks, IsEmpty());
  const ModelledRun other = Asked(runs, {}, kMoreCores);
  ExpectSensible(other);
  EXPECT_THAT(other.remarks,
              Contains("different from the past run: cores"));  // and the memory of the run
  EXPECT_GT(other.deviation, 2 * same.deviation);
  EXPECT_GT(other.deviation, 0.2);
}

TEST(WhatIfBadInput, AParameterThatNeverVariedWidensOtherValues) {
  const SparkRuns runs =
      Learn({RunWith({{"k", "10"}}, 10), RunWith({{"k", "10"}}, 11), RunWith({{"k", "10"}}, 10)});
  const ModelledRun same = Asked(runs, {{"k", "10"}});
  EXPECT_THAT(same.remarks, IsEmpty());
  const ModelledRun other = Asked(runs, {{"k", "40"}});
  ExpectSensible(other);
  EXPECT_THAT(other.remarks,
              Contains("parameters outside the range of all runs: k (40; runs had 10)"));
  EXPECT_GT(other.deviation, 2 * same.deviation);
}

TEST(WhatIfBadInput, ParametersThatVariedTogetherAreNamedIfTheyPart) {
  const SparkRuns runs =
      Learn({RunWith({{"k", "1"}, {"m", "2"}}, 5), RunWith({{"k", "7"}, {"m", "14"}}, 10),
             RunWith({{"k", "31"}, {"m", "62"}}, 20)});
  const ModelledRun together = Asked(runs, {{"k", "7"}, {"m", "14"}});
  EXPECT_THAT(together.remarks, IsEmpty());
  const ModelledRun apart = Asked(runs, {{"k", "7"}, {"m", "62"}});
  ExpectSensible(apart);
  EXPECT_THAT(apart.remarks, Names("varied together in all runs: k, m"));
  EXPECT_GT(apart.deviation, 2 * together.deviation);
}

TEST(WhatIfBadInput, AParameterBeyondThoseOfAllRunsIsNamedAndWidensBelowAndAbove) {
  const SparkRuns runs =
      Learn({RunWith({{"k", "10"}}, 10), RunWith({{"k", "20"}}, 20), RunWith({{"k", "40"}}, 40)});
  const ModelledRun within = Asked(runs, {{"k", "30"}});
  EXPECT_THAT(within.remarks, IsEmpty());
  for (const char* k : {"80", "2.5"}) {
    const ModelledRun beyond = Asked(runs, {{"k", k}});
    ExpectSensible(beyond);
    EXPECT_THAT(beyond.remarks,
                Contains(std::string("parameters outside the range of all runs: k (") + k +
                         "; runs had 10 to 40)"));
    EXPECT_GT(beyond.deviation, within.deviation);
  }
}

TEST(WhatIfBadInput, SettingsBeyondThoseOfAllRunsAreNamedBelowAndAbove) {
  const SparkRuns runs = Learn({RunWith({}, 10), RunWith({}, 12)});  // two executors of 1 GB
  const auto expect_named = [&](const char* setting, const char* value, const std::string& name) {
    EXPECT_THAT(Asked(runs, {}, {{setting, value}}).remarks,
                Contains("outside the range of past runs: " + name))
        << value;
  };
  for (const char* number : {"1", "3"}) {
    expect_named("spark.executor.instances", number, "executors");
  }
  for (const char* memory : {"512m", "4g"}) expect_named("spark.executor.memory", memory, "memory");
}

TEST(WhatIfBadInput, AnUnknownParameterIsAnErrorThatNamesTheKnownOnes) {
  const auto message = [](const SparkRuns& runs, const char* name) {
    const auto other = runs.With(kMoreCores, 1, {{name, "3"}});
    EXPECT_TRUE(absl::IsInvalidArgument(other.status())) << other.status();
    return MessageOf(other.status());
  };
  const SparkRuns known = Learn({RunWith({{"iterations", "10"}}, 10), RunWith({}, 20)});
  EXPECT_EQ(message(known, "iteration"),
            "--param iteration=3: none of the runs has iteration, so its effect is unknown; did "
            "you mean iterations?");
  EXPECT_THAT(message(known, "colour"), HasSubstr("so its effect is unknown; known: iterations"));
  EXPECT_THAT(message(Learn({RunWith({}, 10)}), "k"),
              HasSubstr("; set spark.tidemark.param.k in runs, and pass their logs to --learn"));
}

// Returns a run with letters=a,f and k=10, whose stage 1 fetches the output of stage 0.
SparkRun RunThatFetches() {
  return Read(ALog({{"spark.tidemark.param.letters", "a,f"}, {"spark.tidemark.param.k", "10"}})
                  .Stage(0, 5, Counters(5))
                  .Stage(1, 5, Gathers(), {0})
                  .End());
}

// Returns a run of another application whose stage has tasks of `seconds`.
SparkRun Probe(std::uint64_t seconds) {
  return Read(ALog().Stage(0, seconds, Counters(seconds)).End().Replace("app-1", "app-probe"));
}

const durations::Parameters kForty = {{"k", "40"}};

TEST(WhatIfBadInput, StatedSizesAreRatiosOfFormulas) {
  const SparkRun run = RunThatFetches();
  const std::string signature = run.signatures[1];
  const auto factor = [&](const std::string& formula) {
    return StatedFactors({{"stage 1", formula}}, run, {{"letters", "a,b,c"}, {"k", "40"}})
        .value()
        .at(signature);
  };
  EXPECT_DOUBLE_EQ(factor("k"), 4);
  EXPECT_DOUBLE_EQ(factor("letters.count"), 1.5);
  // The factor is (1 - 0.1) / (1 - 0.1 - 0.4).
  EXPECT_DOUBLE_EQ(factor("1 - 0.1 * letters.a - 0.4 * letters.f"), 1.8);
  EXPECT_DOUBLE_EQ(factor("table(k, 10, 2, 50, 10)"), 4);
}

TEST(WhatIfBadInput, AStatedSizeChangesTheTimeOfItsStage) {
  const SparkRuns runs = Learn({RunThatFetches()});
  const auto seconds = [&runs](const StatedSizes& sizes) {
    return Asked(runs, kForty, {}, sizes).plan.jobs[0].stages[1].task_times[0];
  };
  EXPECT_GT(seconds({{"stage 1", "k"}}), 1.5 * seconds({}));
  EXPECT_LT(seconds({{"stage 1", "1 / k"}}), seconds({}));
  const ModelledRun stated = Asked(runs, kForty, {}, {{"stage 1", "k"}});
  EXPECT_THAT(stated.remarks, Names("the parameters affect only the sizes of --size"));
  EXPECT_LT(stated.deviation, Asked(runs, kForty).deviation);
}

// Tasks of stage 0 take 5 s, of which 2 s pass before the probe. Four times the data of its shuffle
// take 2 + 3 x 4 = 14 s.
TEST(WhatIfBadInput, AProbeRunSplitsAStage) {
  SparkRuns runs = Learn({RunThatFetches()});
  const auto seconds = [&runs] {
    const ModelledRun other = Asked(runs, kForty, {}, {{"stage 1", "k"}});
    const auto& times = other.plan.jobs[0].stages[0].task_times;
    absl::Duration sum;
    for (const absl::Duration time : times) sum += time;
    return absl::ToDoubleSeconds(sum) / static_cast<double>(times.size());
  };
  EXPECT_LT(seconds(), 12);
  ASSERT_TRUE(runs.Split({{"stage 0", Probe(2)}}).ok());
  EXPECT_NEAR(seconds(), 14, 1);
}

TEST(WhatIfBadInput, AProbeOfAStageWithoutAStatedSizeHasARemark) {
  SparkRuns runs = Learn({RunThatFetches()});
  ASSERT_TRUE(runs.Split({{"stage 0", Probe(2)}}).ok());
  const auto is_named = Names("--size describes no shuffle of this stage");
  EXPECT_THAT(Asked(runs, kForty, {}, {{"stage 1", "k"}}).remarks, Not(is_named));
  EXPECT_THAT(Asked(runs, kForty, {}, {{"stage 0", "k"}}).remarks, is_named);
}

TEST(WhatIfBadInput, AProbeThatDoesNotFitTheStageIsAnError) {
  struct Case {
    const char* why;
    std::vector<SparkRun> runs;
    const char* stage;
    SparkRun probe;
    const char* message;
  };
  const SparkRun of_three_tasks = Read(ALog().Stage(0, 2, Counters(2), {}, 3).End());
  for (const Case& one :
       {Case{"took longer than the stage",
             {RunThatFetches()},
             "stage 0",
             Probe(9),
             "--probe stage 0: the probe's tasks took 9 s"},
        Case{"has no such stage",
             {RunThatFetches()},
             "stage 0",
             of_three_tasks,
             "--probe stage 0: the probe run has no stage with 4 tasks and metrics"},
        Case{"is of no stage of the run",
             {RunThatFetches()},
             "join",
             of_three_tasks,
             "--probe join: no stage of the run has a name that contains these words"},
        Case{"is of runs with different parameters",
             {RunWith({{"k", "1"}}, 5), RunWith({{"k", "2"}}, 5)},
             "stage 0",
             RunThatFetches(),
             "--probe stage 0: the runs have different parameters"}}) {
    EXPECT_THAT(MessageOf(Learn(one.runs).Split({{one.stage, one.probe}})), HasSubstr(one.message))
        << one.why;
  }
}

TEST(WhatIfBadInput, AWrongSizeIsAnErrorThatNamesTheStage) {
  const SparkRun run = RunThatFetches();
  const auto expect_error = [&](const char* stage, const char* formula, const char* message,
                                const durations::Parameters& parameters) {
    EXPECT_THAT(MessageOf(StatedFactors({{stage, formula}}, run, parameters).status()),
                HasSubstr(message))
        << formula;
  };
  const durations::Parameters own = run.measured.parameters();
  expect_error("stage 1", "k +", "--size stage 1: character 4: expected a number, a name or '('",
               own);
  expect_error("stage 1", "m",
               "--size stage 1: the run has no parameter m; set spark.tidemark.param.m", own);
  expect_error("stage 1", "letters",
               "has the value a,f, which is not a number; use letters.count or letters.WORD", own);
  expect_error("stage 1", "k - 10", "--size stage 1: the size is 0, but must be positive", own);
  expect_error("join", "k", "--size join: no stage of the run has a name that contains these words",
               own);
  for (const char* formula : {"1e-300 + (k - 10) * 1e300", "10 ^ (7 * (k - 10))"}) {
    expect_error("stage 1", formula, "must be from 1e-6 to 1e6", {{"k", "11"}});
  }
}

TEST(WhatIfBadInput, AnUnknownWordIsNamedAndWidens) {
  const auto runs = Learn({RunWith({{"letters", "a,b"}}, 10), RunWith({{"letters", "a,c"}}, 20)});
  const ModelledRun known = Asked(runs, {{"letters", "a,b"}});
  EXPECT_THAT(known.remarks, IsEmpty());
  const ModelledRun unknown = Asked(runs, {{"letters", "a,z"}});
  ExpectSensible(unknown);
  EXPECT_THAT(unknown.remarks,
              Contains("no run has these values, so their effect is unknown: letters.z"));
  EXPECT_GT(unknown.deviation, known.deviation);
}

TEST(WhatIfBadInput, AWordInPlaceOfANumberIsAnErrorThatNamesTheParameter) {
  const SparkRuns runs = Learn(
      {RunWith({{"k", "10"}, {"mode", "fast"}}, 10), RunWith({{"k", "20"}, {"mode", "slow"}}, 20)});
  for (const char* value : {"nan", "inf", "-inf", "1e999", "many", ""}) {
    const auto other = runs.With({}, /*data_factor=*/1, {{"k", value}});
    EXPECT_TRUE(absl::IsInvalidArgument(other.status())) << value;
    EXPECT_THAT(MessageOf(other.status()),
                HasSubstr(std::string("--param k=") + value + ": must be a finite number"));
  }
  ExpectSensible(Asked(runs, {{"mode", "inf"}}));
}

// The number of stages of one work is 10 + 8 a - 4 b. Each pair of parameters runs twice.
TEST(WhatIfBadInput, StagesStayTheSameIfParametersAreTooLargeToCountThem) {
  constexpr std::uint64_t kWork = 7;
  std::vector<SparkRun> runs;
  for (const int a : {1, 2, 1, 2}) {
    for (const int b : {1, 2}) {
      runs.push_back(RunWith({{"a", std::to_string(a)}, {"b", std::to_string(b)}}, 5));
      runs.back().works.assign(static_cast<std::size_t>(10 + 8 * a - 4 * b), kWork);
    }
  }
  const auto learnt = SparkParameters::Learn(runs, std::vector<double>(runs.size())).value();
  EXPECT_EQ(learnt.Counts({{"a", "3"}, {"b", "1"}}).at(kWork), 30);
  EXPECT_THAT(learnt.Counts({{"a", "1e308"}, {"b", "1e308"}}), IsEmpty());
}

TEST(WhatIfBadInput, TasksWithoutRecordsKeepTheirTime) {
  json nothing = Counters(5);
  nothing["Input Metrics"] = {{"Bytes Read", 0u}, {"Records Read", 0u}};
  nothing["Shuffle Write Metrics"] = {{"Shuffle Bytes Written", 0u},
                                      {"Shuffle Records Written", 0u}};
  const SparkRun run = TwoStages(nothing);
  const auto other = With(run, kLittleMemory).value();
  ExpectSensible(other);
  EXPECT_NEAR(MedianOf(other), 20, 3);
  ExpectSensible(Asked(Learn({run}), {}, {{"spark.default.parallelism", "8"}}));
}

TEST(WhatIfBadInput, ImpossibleCountersGiveAnErrorOrASensibleAnswer) {
  for (const json& absurd : {json(-5), json(0u), json("many"), json(1e300),
                             json(std::uint64_t{18'446'744'073'709'551'615u})}) {
    for (const char* counter : {"Executor Run Time", "Executor CPU Time", "Memory Bytes Spilled",
                                "Result Size", "Peak Execution Memory"}) {
      json counters = Counters(5);
      counters[counter] = absurd;
      counters["Input Metrics"]["Bytes Read"] = absurd;
      counters["Shuffle Read Metrics"]["Total Records Read"] = absurd;
      const SparkRun run = TwoStages(counters);
      const auto other = With(run, kLittleMemory);
      if (other.ok()) ExpectSensible(*other);
      EXPECT_EQ(other.ok(), MessageOf(other.status()).empty());
      const auto learnt = SparkRuns::Learn({run}, {"log"});
      if (learnt.ok()) ExpectSensible(Asked(*learnt, {}, kLittleMemory));
    }
  }
}

// Each of four tasks has two impossible counters, in two stages.
TEST(WhatIfBadInput, ImpossibleCountersAreCountedAndNamedOnce) {
  json counters = Counters(5);
  counters["Memory Bytes Spilled"] = -5;
  counters["Shuffle Read Metrics"]["Total Records Read"] = 1e300;
  EXPECT_THAT(TwoStages(counters).remarks,
              ElementsAre(testing::EndsWith(
                  "/log: skipped 16 counters of tasks (the first: Total Records Read), "
                  "because their values were negative, fractional or too large")));
  EXPECT_THAT(RunWith({}, 5).remarks, IsEmpty());
}

TEST(WhatIfBadInput, SpilledBytesOnOneSideAloneCountAsNoSpill) {
  for (const char* side : {"Memory Bytes Spilled", "Disk Bytes Spilled"}) {
    json counters = Counters(5);
    counters[side] = 1'000'000'000u;
    const SparkRun run = TwoStages(counters);
    EXPECT_EQ(With(run, {}).value().plan, run.plan) << side;
    const Changes more_memory = {{"spark.executor.memory", "8g"}};
    ExpectSensible(With(run, more_memory).value());
    ExpectSensible(Asked(Learn({run}), {}, more_memory));
  }
}

TEST(WhatIfBadInput, TooManySlotsAreAnError) {
  const SparkRun run = Read(ALog().Stage(0, 5, Counters(5)).End());
  const auto asked = [](const char* executors) {
    return Changes{{"spark.executor.instances", executors}, {"spark.executor.cores", "4"}};
  };
  EXPECT_EQ(With(run, asked("250000")).value().slots, 1'000'000u);
  const std::string expected =
      "spark.executor.instances: 250001 executors with 4 slots each are too many: at most 1000000 "
      "slots are supported; use at most 250000 executors";
  EXPECT_EQ(MessageOf(With(run, asked("250001")).status()), expected);
  EXPECT_EQ(MessageOf(Learn({run}).With(asked("250001"), 1, {}).status()), expected);
}

// The stages run sequentially with four tasks of 5 s each. A stage takes 10 s on two slots and 5 s
// on four.
TEST(WhatIfBadInput, APlanOf5000StagesIsEstimated) {
  SparkRun run = Read(ALog().Stage(0, 5, Counters(5)).End());
  std::vector<PlannedStage>& stages = run.plan.jobs[0].stages;
  ASSERT_EQ(stages.size(), 1u);
  for (int stage = 1; stage < 5000; ++stage) {
    PlannedStage next = stages.front();
    next.name = std::to_string(stage);
    next.after = {stages.back().name};
    stages.push_back(std::move(next));
  }
  run.numbers.resize(stages.size(), run.numbers[0]);
  run.took.reset();
  EXPECT_NEAR(MedianOf(With(run, kFourExecutors).value()), 25'000, 2'500);
}

TEST(WhatIfBadInput, StagesThatWaitForEachOtherAreEstimated) {
  const SparkRun run = Read(ALog()
                                .Stage(0, 5, Counters(5), {2})
                                .Stage(1, 5, Counters(5), {0})
                                .Stage(2, 5, Counters(5), {1, 2})
                                .End());
  ASSERT_EQ(run.plan.jobs[0].stages.size(), 3u);
  ExpectSensible(With(run, kFourExecutors).value());
}

// The parameters equal the run's parameters, so no row uses the sizes.
TEST(WhatIfBadInput, AWrongSizeIsAnErrorEvenWithoutChangedParameters) {
  const test::ScratchDirectory directory;
  const json properties = {{"spark.tidemark.param.k", "10"}};
  const std::string path =
      directory.Write("log", ALog(properties).Stage(0, 5, Counters(5)).End().text());
  const auto answer = AnswerFromLog(
      path, {.parameters = {{"k", "10"}}, .sizes = {{"stage 0", "k +"}}}, absl::UnixEpoch());
  EXPECT_THAT(MessageOf(answer.status()), HasSubstr("--size stage 0: character 4"));
}

}  // namespace
}  // namespace tidemark::whatif::what_if_bad_input_test
