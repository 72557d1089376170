#include "whatif/find.h"

#include <initializer_list>

#include "tests/test.h"
#include "whatif/what_if.h"

namespace tidemark::whatif::find_test {
namespace {

PlannedStage StageWith(const std::string& name, std::uint64_t tasks,
                       std::initializer_list<double> seconds, std::vector<std::string> after = {}) {
  PlannedStage stage = {.name = name, .after = std::move(after), .task_count = tasks};
  for (const double time : seconds) stage.task_times.push_back(absl::Seconds(time));
  return stage;
}

RoughEnd EndOfStages(std::vector<PlannedStage> stages, std::uint32_t slots) {
  return RoughEndOf({.jobs = {{.stages = std::move(stages)}}}, slots);
}

// --- the end of a plan ----------------------------------------------------------------------

// Each of two tasks takes 1 or 3 s. The longest takes 1 s with a probability of 1/4, so the mean is
// 0.25 + 0.75 * 3.
TEST(LongestOf, IsTheExpectedLongest) {
  EXPECT_DOUBLE_EQ(LongestOf({3, 1}, 2), 2.5);
  EXPECT_DOUBLE_EQ(LongestOf({3, 1}, 1), 2);
  EXPECT_EQ(LongestOf({}, 2), 0);
  EXPECT_EQ(LongestOf({3}, 0), 0);
}

// Ten tasks of 10 s on four slots run in three waves and take 30 s. Without waves, all slots could
// do the work in 25 s.
TEST(RoughEndOf, CountsWavesOfTasks) {
  PlannedStage stage = StageWith("map", 10, {10});
  stage.lag = absl::Seconds(2);
  const RoughEnd end = EndOfStages({stage}, 4);
  EXPECT_DOUBLE_EQ(end.seconds, 32);
  EXPECT_DOUBLE_EQ(end.driver, 2);
  EXPECT_DOUBLE_EQ(end.work, 25);
  EXPECT_DOUBLE_EQ(end.idle, 5);
  EXPECT_EQ(end.idle_tasks, 2);
  EXPECT_EQ(end.idle_stage, "map");
}

// The mean is 3 s. The longest of four tasks takes 1 s with a probability of (3/4)^4, and otherwise
// 9 s, so its mean is 6.46875 s.
TEST(RoughEndOf, WaitsForTheLongestTask) {
  const RoughEnd end = EndOfStages({StageWith("map", 4, {1, 1, 1, 9})}, 4);
  EXPECT_DOUBLE_EQ(end.work, 3);
  EXPECT_DOUBLE_EQ(end.straggler, 3.46875);
  EXPECT_DOUBLE_EQ(end.straggler_seconds, 6.46875);
  EXPECT_DOUBLE_EQ(end.seconds, 6.46875);
}

TEST(RoughEndOf, FollowsTheLongestPathAndSharesSlots) {
  const PlannedStage scan = StageWith("scan", 4, {10});
  const RoughEnd chain = EndOfStages(
      {scan, StageWith("other", 1, {1}), StageWith("join", 8, {5}, {"scan", "other"})}, 4);
  EXPECT_DOUBLE_EQ(chain.seconds, 20.25) << "81 slot seconds; the path takes 20 s";
  const RoughEnd both = EndOfStages({scan, StageWith("scan 2", 4, {10})}, 4);
  EXPECT_DOUBLE_EQ(both.seconds, 20) << "80 slot seconds on four slots";
  EXPECT_DOUBLE_EQ(both.work, 20);
  EXPECT_EQ(EndOfStages({}, 4).seconds, 0);
  EXPECT_EQ(RoughEndOf({}, 4).seconds, 0);
}

TEST(BoundOf, NamesTheLargestPart) {
  const auto bound = [](const RoughEnd& end, std::optional<double> more_memory = {}) {
    return BoundOf(end, 8, "network", more_memory);
  };
  EXPECT_EQ(bound({.seconds = 10, .work = 9, .idle = 1}).name, "network");
  EXPECT_EQ(bound({.seconds = 10, .work = 9, .idle = 1}).sentence,
            "tasks on the critical path keep all 8 slots busy for 9.0 s of 10 s");
  EXPECT_EQ(bound({.seconds = 10, .work = 9, .idle = 1}, 4).name, "memory");
  const Bound waves =
      bound({.seconds = 30, .work = 10, .idle = 20, .idle_stage = "5 count", .idle_tasks = 2});
  EXPECT_EQ(waves.name, "tasks per wave");
  EXPECT_EQ(waves.sentence,
            "the last wave of stage 5 count has 2 tasks for 8 slots; slots are idle for 20 s of "
            "30 s");
  EXPECT_EQ(bound({.seconds = 9, .work = 3, .straggler = 6}).name, "straggler");
  EXPECT_EQ(bound({.seconds = 9, .work = 3, .driver = 6}).name, "driver");
  EXPECT_EQ(bound({}).name, "");
}

// --- the search -------------------------------------------------------------------------------

TEST(ParseLimits, ReadsTimesSizesAndNumbers) {
  const auto limits = ParseLimits({{"time", "20min"},
                                   {"core-hours", "2.5"},
                                   {"executors", "16"},
                                   {"cores", "64"},
                                   {"memory", "256g"}})
                          .value();
  EXPECT_EQ(limits.seconds, 1200);
  EXPECT_EQ(limits.core_hours, 2.5);
  EXPECT_EQ(limits.executors, 16);
  EXPECT_EQ(limits.cores, 64);
  EXPECT_EQ(limits.memory_bytes, 256.0 * 1024 * 1024 * 1024);
}

TEST(ParseLimits, RejectsOtherNamesAndValues) {
  const auto message = [](const char* name, const char* value) {
    return std::string(ParseLimits({{name, value}}).status().message());
  };
  EXPECT_THAT(message("cost", "1"), HasSubstr("--limit cost=1: unknown limit"));
  EXPECT_THAT(message("executor", "1"), HasSubstr("did you mean executors?"));
  EXPECT_THAT(message("time", "0s"), HasSubstr("not a positive time"));
  EXPECT_THAT(message("cores", "nan"), HasSubstr("\"nan\" is not a number from 1"));
  EXPECT_THAT(message("memory", "much"), HasSubstr("\"much\" is not a size"));
}

TEST(SpaceAround, HasValuesAroundTheRunWithinTheLimits) {
  const SearchedRun run = {.executors = 5, .cores = 4, .memory_bytes = 1u << 30, .partitions = 200};
  const SearchSpace space = SpaceAround(run, {.cores = 24});
  EXPECT_THAT(space.executors, ElementsAre(1u, 2u, 3u, 4u, 5u, 6u, 8u, 12u, 16u, 24u));
  EXPECT_THAT(space.cores, ElementsAre(1u, 2u, 4u, 8u, 16u));
  EXPECT_THAT(space.memory_bytes, ElementsAre(std::uint64_t{1} << 29, std::uint64_t{1} << 30,
                                              std::uint64_t{1} << 31, std::uint64_t{1} << 32));
  EXPECT_THAT(space.partitions, ElementsAre(50u, 100u, 200u, 400u, 800u));
  EXPECT_TRUE(Allows({.cores = 24}, {.executors = 12, .cores = 2}));
  EXPECT_FALSE(Allows({.cores = 24}, {.executors = 12, .cores = 4}));
  EXPECT_FALSE(Allows({}, {.executors = 1, .cores = 1, .cores_of_task = 2}));
}

// Returns figures whose end is earliest for the values 6, 2, 1 and 3. Choices of more than 24 cores
// are not possible.
std::optional<Figures> Bowl(const Choice& choice) {
  const double executors = static_cast<double>(choice[0]) + 1;
  const double cores = static_cast<double>(choice[1]) + 1;
  if (executors * cores > 24) return std::nullopt;
  double seconds = 100;
  constexpr double kBest[] = {6, 2, 1, 3};
  for (std::size_t at = 0; at < 4; ++at) {
    seconds += 10 * std::pow(static_cast<double>(choice[at]) - kBest[at], 2);
  }
  return Figures{seconds, seconds * executors * cores};
}

TEST(Search, EvaluatesAllChoicesOfASmallSpace) {
  EXPECT_EQ(Search({2, 2, 1, 3}, {}, {}, 12, Bowl).size(), 12u);
}

TEST(Search, FindsTheBestOfALargeSpaceInAFewEvaluations) {
  const std::vector<Tried> tried = Search({20, 5, 5, 5}, {1, 1, 0, 0}, {}, 120, Bowl);
  EXPECT_LE(tried.size(), 120u);
  double best = 1000;
  for (const Tried& choice : tried) best = std::min(best, choice.figures.seconds);
  EXPECT_EQ(best, 100);
  EXPECT_LE(Search({20, 5, 5, 5}, {1, 1, 0, 0}, {}, 7, Bowl).size(), 7u);
}

TEST(Search, ReturnsChoicesNearTheStartFirst) {
  const auto equal = [](const Choice&) { return std::optional(Figures{10, 1}); };
  const std::vector<Tried> tried = Search({3, 3, 3, 1}, {1, 1, 1, 0}, {}, 100, equal);
  ASSERT_EQ(tried.size(), 27u);
  EXPECT_EQ(tried[0].choice, (Choice{1, 1, 1, 0}));
  EXPECT_THAT(BestOf({{10, 1}, {9.95, 1}}, {}, 5), ElementsAre(0u)) << "a difference below 3 %";
}

TEST(Search, ReturnsNothingIfNoChoiceIsPossible) {
  const auto impossible = [](const Choice&) { return std::optional<Figures>(); };
  EXPECT_TRUE(Search({2, 2, 2, 2}, {}, {}, 100, impossible).empty());
  EXPECT_TRUE(Search({20, 20, 20, 20}, {}, {}, 100, impossible).empty());
}

// The second choice takes as long as the first and costs more. The fourth choice saves less than 3
// %.
TEST(BestOf, ReportsChoicesThatAreWorthTheirTime) {
  const std::vector<Figures> all = {{100, 8}, {100, 9}, {120, 4}, {130, 3.95}, {200, 3}};
  EXPECT_THAT(BestOf(all, {.goal = Goal::kTime}, 5), ElementsAre(0u, 2u, 4u));
  EXPECT_THAT(BestOf(all, {.goal = Goal::kTime}, 2), ElementsAre(0u, 2u));
  EXPECT_THAT(BestOf(all, {.goal = Goal::kCoreHours}, 5), ElementsAre(4u, 3u, 2u, 0u));
}

// 101 s exceed 100 s by less than the 3 % that count as equal.
TEST(BestOf, ReturnsAChoiceWithinTheLimitsBeforeACheaperOneJustBeyondThem) {
  const Find find = {.goal = Goal::kCoreHours, .limits = {.seconds = 100}};
  EXPECT_THAT(BestOf({{101, 4}, {60, 4.2}, {40, 5}}, find, 5), ElementsAre(1u, 2u));
}

TEST(BestOf, KeepsTheLimitsOrReturnsTheNearest) {
  const std::vector<Figures> all = {{100, 8}, {120, 4}, {200, 3}};
  const Find cheap = {.goal = Goal::kTime, .limits = {.core_hours = 5}};
  EXPECT_THAT(BestOf(all, cheap, 5), ElementsAre(1u, 2u));
  const Find impossible = {.goal = Goal::kCoreHours, .limits = {.seconds = 50}};
  EXPECT_THAT(BestOf(all, impossible, 5), ElementsAre(0u));
  EXPECT_TRUE(Exceeds(all[0], impossible.limits));
  EXPECT_TRUE(BestOf({}, cheap, 5).empty());
}

// --- answers ----------------------------------------------------------------------------------

absl::StatusOr<Answer> Found(const Question& question) {
  const std::string log = std::string(TIDEMARK_SPARK_LOGS) + "/local-1795466322781.zst";
  return AnswerFromLog(log, question, absl::UnixEpoch());
}

double SecondsOfRow(const Row& row) {
  const auto& remaining = row.outcome.snapshot.estimate.remaining;
  return remaining ? absl::ToDoubleSeconds(remaining->median) : 0;
}

TEST(AnswerFromLog, FindsTheFastestSettingsWithinALimitOfCores) {
  const auto answer = Found({.find = Find{.goal = Goal::kTime, .limits = {.cores = 8}}}).value();
  ASSERT_GE(answer.rows.size(), 2u);
  EXPECT_EQ(answer.rows[0].name, "as it is: 1 executor, 2 slots");
  EXPECT_FALSE(answer.rows[0].binding.empty());
  EXPECT_LT(SecondsOfRow(answer.rows[1]), SecondsOfRow(answer.rows[0]));
  for (std::size_t i = 1; i < answer.rows.size(); ++i) {
    const Row& row = answer.rows[i];
    EXPECT_THAT(row.name, HasSubstr("core"));
    EXPECT_LE(row.outcome.slots, 8u);
    EXPECT_FALSE(row.binding.empty()) << row.name;
  }
}

TEST(AnswerFromLog, FindsTheFewestCoreHoursThatAreNoSlower) {
  const auto answer = Found({.find = Find{.goal = Goal::kCoreHours}}).value();
  ASSERT_GE(answer.rows.size(), 2u);
  EXPECT_LE(SecondsOfRow(answer.rows[1]), 1.03 * SecondsOfRow(answer.rows[0]));
  EXPECT_LE(*answer.rows[1].core_hours, 1.001 * *answer.rows[0].core_hours);
  EXPECT_THAT(answer.rows[1].remarks, Contains(HasSubstr("at most 3 % slower than the run")));
}

TEST(AnswerFromLog, FoundRowsAreWithinTheLimits) {
  for (const double seconds : {50.0, 57.5, 60.0, 80.0}) {
    const auto answer =
        Found({.find = Find{.goal = Goal::kCoreHours, .limits = {.seconds = seconds}}});
    ASSERT_TRUE(answer.ok()) << answer.status();
    ASSERT_GE(answer->rows.size(), 2u);
    for (std::size_t i = 1; i < answer->rows.size(); ++i) {
      EXPECT_LE(SecondsOfRow(answer->rows[i]), seconds) << answer->rows[i].name;
      EXPECT_THAT(answer->rows[i].remarks, Not(Contains(HasSubstr("no settings meet"))));
    }
  }
}

TEST(AnswerFromLog, ARemarkNamesTheLimitThatNoSettingsKeep) {
  const auto answer =
      Found({.find = Find{.goal = Goal::kCoreHours, .limits = {.seconds = 1}}}).value();
  ASSERT_EQ(answer.rows.size(), 2u);
  EXPECT_THAT(answer.rows[1].remarks,
              Contains("no settings meet the limit of time; these exceed it least"));
  const auto both =
      Found({.find = Find{.goal = Goal::kTime, .limits = {.seconds = 1, .core_hours = 1e-6}}});
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_THAT(
      both->rows[1].remarks,
      Contains("no settings meet the limits of time and core-hours; these exceed them least"));
}

// The interval of the best row contains the time of the run if and only if there is a remark about
// it.
TEST(AnswerFromLog, ARemarkStatesThatTheBestRowMayBeNoFaster) {
  for (const double cores : {2.0, 3.0, 64.0}) {
    const auto answer =
        Found({.find = Find{.goal = Goal::kTime, .limits = {.cores = cores}}}).value();
    const Row& best = answer.rows[1];
    const auto& takes = *best.outcome.snapshot.estimate.remaining;
    const absl::Duration run =
        best.as_it_is.value_or(answer.rows[0].outcome.snapshot.estimate.remaining->median);
    const bool may_be_no_faster =
        takes.upper && *takes.upper >= run && takes.lower && *takes.lower <= run;
    const auto is_remark = [](const std::string& remark) {
      return remark.starts_with("may be no faster than the run");
    };
    EXPECT_EQ(std::any_of(best.remarks.begin(), best.remarks.end(), is_remark), may_be_no_faster)
        << cores;
  }
}

// The row of the run has the measured duration. All other rows have modelled durations.
TEST(AnswerFromLog, FoundRowsAreRankedBySpeedUp) {
  const auto answer = Found({.find = Find{.goal = Goal::kTime}}).value();
  ASSERT_GE(answer.rows.size(), 2U);
  const double run = SecondsOfRow(answer.rows[0]);
  double before = 0;
  for (std::size_t i = 1; i < answer.rows.size(); ++i) {
    const Row& row = answer.rows[i];
    const double same = row.as_it_is ? absl::ToDoubleSeconds(*row.as_it_is) : run;
    EXPECT_GE(SecondsOfRow(row) / same, before) << row.name;
    before = SecondsOfRow(row) / same;
  }
}

TEST(AnswerFromLog, SearchesTheGivenValuesOnly) {
  const auto answer = Found({.executors = {1, 3},
                             .settings = {{"spark.executor.cores", "2"}},
                             .find = Find{.goal = Goal::kTime}})
                          .value();
  for (std::size_t i = 1; i < answer.rows.size(); ++i) {
    EXPECT_THAT(answer.rows[i].outcome.executors, ::testing::AnyOf(1u, 3u));
    EXPECT_EQ(answer.rows[i].settings.at("spark.executor.cores"), "2");
  }
}

TEST(AnswerFromLog, RejectsASearchThatOtherOptionsContradict) {
  const auto message = [](Question question) {
    question.find = Find{.goal = Goal::kTime, .limits = question.find.value_or(Find()).limits};
    return std::string(Found(question).status().message());
  };
  EXPECT_THAT(message({.slots = {4}}), HasSubstr("--slots and --find"));
  EXPECT_THAT(message({.data_factor = 2}), HasSubstr("use --data"));
  EXPECT_THAT(message({.data = {1, 2}}), HasSubstr("one value each of --data"));
  EXPECT_THAT(message({.executors = {4}, .find = Find{.limits = {.executors = 2}}}),
              HasSubstr("no executors are within the limits"));
}

TEST(AnswerFromLog, RejectsASearchWithAValueThatNoChoiceCanHave) {
  const auto message = [](Question question) {
    question.find = Find{.goal = Goal::kTime};
    return std::string(Found(question).status().message());
  };
  EXPECT_THAT(message({.memory = {"4g", "foo"}}), HasSubstr("--memory: \"foo\" is not a size"));
  EXPECT_THAT(message({.memory = {"10m"}}), HasSubstr("--memory: 10 MiB are less than"));
  EXPECT_THAT(message({.cores = {1}, .settings = {{"spark.task.cpus", "2"}}}),
              HasSubstr("spark.task.cpus: 2 exceeds the 1 cores"));
  EXPECT_THAT(message({.executors = {1'000'000}, .cores = {2}}),
              HasSubstr("--executors: 1000000 executors"));
}

// Equal durations have the same text in the table and in a remark.
TEST(BoundOf, RoundsToTheNearestMinute) {
  const RoughEnd end = {.seconds = 3600 + 12 * 60 + 40, .work = 4000};
  EXPECT_THAT(BoundOf(end, 2, "", std::nullopt).sentence, HasSubstr("of 1 h 13 min"));
}

}  // namespace
}  // namespace tidemark::whatif::find_test
