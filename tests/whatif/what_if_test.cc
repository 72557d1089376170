#include "whatif/what_if.h"

#include <nlohmann/json.hpp>

#include "tests/matchers.h"
#include "tests/scratch_directory.h"
#include "tests/spark/some_log.h"
#include "tests/test.h"
#include "whatif/keep_results.h"

namespace tidemark::whatif::what_if_test {
namespace {

using ::testing::Pair;

std::vector<SettingsRow> Rows(const Question& question) {
  auto rows = SettingsRowsOf(question);
  EXPECT_TRUE(rows.ok()) << rows.status();
  return rows.ok() ? *std::move(rows) : std::vector<SettingsRow>();
}

std::string Message(const Question& question) {
  const auto rows = SettingsRowsOf(question);
  EXPECT_TRUE(absl::IsInvalidArgument(rows.status())) << rows.status();
  return std::string(rows.status().message());
}

TEST(SettingsRows, HaveOneRowWithoutChanges) {
  const SettingsRow row = Only(Rows({}));
  EXPECT_THAT(row.parts, IsEmpty());
  EXPECT_THAT(row.settings, IsEmpty());
}

TEST(SettingsRows, HaveOneRowForEachCombination) {
  const std::vector<SettingsRow> rows = Rows({.executors = {1, 4},
                                              .cores = {1},
                                              .data = {2},
                                              .settings = {{"spark.memory.fraction", "0.5"}}});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_THAT(rows[0].parts,
              ElementsAre("1 executor", "1 core", "2x data", "spark.memory.fraction=0.5"));
  EXPECT_THAT(rows[1].parts,
              ElementsAre("4 executors", "1 core", "2x data", "spark.memory.fraction=0.5"));
  EXPECT_THAT(rows[1].settings, UnorderedElementsAre(Pair("spark.executor.instances", "4"),
                                                     Pair("spark.executor.cores", "1"),
                                                     Pair("spark.memory.fraction", "0.5")));
  EXPECT_EQ(rows[1].data_factor, 2);
}

TEST(SettingsRows, SetPartitionsOfSqlAndOfOtherShuffles) {
  const SettingsRow row = Only(Rows({.partitions = {8}, .compress = {"false"}}));
  EXPECT_THAT(row.settings, UnorderedElementsAre(Pair("spark.sql.shuffle.partitions", "8"),
                                                 Pair("spark.default.parallelism", "8"),
                                                 Pair("spark.shuffle.compress", "false")));
}

TEST(SettingsRows, RejectASettingThatIsSetTwice) {
  EXPECT_EQ(
      Message({.cores = {2}, .settings = {{"spark.executor.cores", "4"}}}),
      "--cores and --conf spark.executor.cores=4 both set spark.executor.cores; omit one of them");
  const std::map<std::string, std::string> conf = {{"spark.executor.instances", "2"},
                                                   {"spark.executor.memory", "1g"},
                                                   {"spark.shuffle.compress", "true"},
                                                   {"spark.default.parallelism", "8"}};
  EXPECT_THAT(Message({.executors = {2}, .settings = conf}),
              HasSubstr("--executors and --conf spark.executor.instances=2"));
  EXPECT_THAT(Message({.memory = {"2g"}, .settings = conf}),
              HasSubstr("--memory and --conf spark.executor.memory=1g"));
  EXPECT_THAT(Message({.partitions = {32}, .settings = conf}),
              HasSubstr("--partitions and --conf spark.default.parallelism=8"));
  EXPECT_THAT(Message({.compress = {"false"}, .settings = conf}),
              HasSubstr("--compress and --conf spark.shuffle.compress=true"));
}

TEST(SettingsRows, RejectSlotsAndDataThatAreSetTwice) {
  EXPECT_THAT(Message({.slots = {8}, .cores = {2}}),
              HasSubstr("--slots and --cores both set the number of slots"));
  EXPECT_THAT(Message({.slots = {8}, .settings = {{"spark.task.cpus", "2"}}}),
              HasSubstr("--slots and --conf spark.task.cpus=2 both set"));
  EXPECT_THAT(Message({.data_factor = 3, .data = {2}}),
              HasSubstr("--data and --data-factor both set the amount of data"));
  EXPECT_EQ(Rows({.slots = {8}, .settings = {{"spark.executor.memory", "2g"}}}).size(), 1u);
}

TEST(SettingsRows, ErrorsNameTheOptionOfTheSetting) {
  const auto message = [](const char* error, const Question& question) {
    const absl::Status status = InOptions(absl::InvalidArgumentError(error), question);
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    return std::string(status.message());
  };
  constexpr char kError[] = "spark.executor.memory: \"4x\" is not a size";
  EXPECT_EQ(message(kError, {.memory = {"4x"}}), "--memory: \"4x\" is not a size");
  EXPECT_EQ(message(kError, {.settings = {{"spark.executor.memory", "4x"}}}), kError);
  EXPECT_EQ(message("spark.default.parallelism: too many", {.partitions = {8}}),
            "--partitions: too many");
  EXPECT_EQ(message("spark.executor.memoryOverhead: no", {.memory = {"4g"}}),
            "spark.executor.memoryOverhead: no");
}

TEST(SettingsRows, RejectASizeOfMemoryThatIsGivenTwice) {
  EXPECT_EQ(Message({.memory = {"1g", "2g", "2048m"}}),
            "--memory: 2g and 2048m are the same size; omit one of them");
  EXPECT_EQ(Message({.memory = {"512", "512M"}}),  // in MiB, as in Spark
            "--memory: 512 and 512M are the same size; omit one of them");
  EXPECT_EQ(Rows({.memory = {"2g", "2047m"}}).size(), 2u);
  EXPECT_EQ(Rows({.memory = {"2g", "4x"}}).size(), 2u) << "no size: refused with its row";
}

// The combinations may exceed the memory.
TEST(SettingsRows, RejectMoreThan1000Rows) {
  EXPECT_EQ(Rows({.partitions = std::vector<std::uint32_t>(1000, 8)}).size(), 1000u);
  EXPECT_EQ(Message({.partitions = std::vector<std::uint32_t>(1001, 8)}),
            "1001 combinations of settings; pass at most 1000");
  const std::vector<std::uint32_t> many(10'000, 8);
  EXPECT_THAT(Message({.executors = many,
                       .cores = many,
                       .memory = std::vector<std::string>(10'000, "1g"),
                       .partitions = many}),
              HasSubstr("pass at most 1000"));
}

std::string Log(const std::string& name) { return std::string(TIDEMARK_SPARK_LOGS) + "/" + name; }

std::vector<Row> RowsFor(const Question& question) {
  return AnswerFromLog(Log("local-1795466322781.zst"), question, absl::UnixEpoch()).value().rows;
}

TEST(AnswerFromLog, HasTheUnchangedRunAndARowForEachScenario) {
  const std::vector<Row> slots = RowsFor({.slots = {1, 8}});
  ASSERT_EQ(slots.size(), 3u);
  EXPECT_EQ(slots[0].name, "as it is: 2 slots");
  EXPECT_EQ(slots[1].name, "1 slot");
  EXPECT_EQ(slots[2].outcome.slots, 8u);
  const std::vector<Row> executors = RowsFor({.executors = {4}, .data_factor = 2});
  ASSERT_EQ(executors.size(), 2u);
  EXPECT_EQ(executors[0].name, "as it is: 1 executor, 2 slots");
  EXPECT_EQ(executors[1].name, "4 executors, 2x data");
  EXPECT_EQ(executors[1].outcome.executors, 4u);
  EXPECT_TRUE(executors[1].core_hours.has_value());
}

// The application ended 3 min 18 s after its last stage.
TEST(AnswerFromLog, StatesThatTheApplicationEndedLater) {
  for (const Question& question : {Question{.slots = {8}}, Question{.executors = {4}}}) {
    const auto answer =
        AnswerFromLog(Log("app-20180109111548-0000.zst"), question, absl::UnixEpoch());
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_THAT(answer->rows[0].remarks,
                ElementsAre("measured until the last stage ended; the application ended 3 min 18 s "
                            "later"));
    EXPECT_THAT(answer->rows[1].remarks, Not(Contains(HasSubstr("ended"))));
  }
}

// The last stage ended 57.2 s after the start of the run.
TEST(AnswerFromLog, TheUnchangedRunTookWhatItTook) {
  for (const Question& question : {Question{.slots = {8}}, Question{.executors = {4}}}) {
    const std::vector<Row> rows = RowsFor(question);
    ASSERT_EQ(rows.size(), 2u);
    const Range& took = *rows[0].outcome.snapshot.estimate.remaining;
    EXPECT_NEAR(absl::ToDoubleSeconds(took.median), 57.2, 0.05);
    EXPECT_FALSE(took.lower || took.upper);
    const Range& other = *rows[1].outcome.snapshot.estimate.remaining;
    ASSERT_TRUE(other.lower && other.upper);
    EXPECT_LT(*other.lower, other.median);
    EXPECT_LT(other.median, *other.upper);
    EXPECT_LT(other.median, took.median);
  }
}

// 2 executors with 1 core each run 4 tasks of 5 s, after 300 s that no task explains.
TEST(AnswerFromLog, TimeThatNoTaskExplainsStaysOnOtherSlots) {
  test::SomeLog log({.executors = 2, .cores = 1});
  const nlohmann::json stage = test::SomeLog::StageInfo(0, 4);
  log.StartJob(300'000, 0, {stage}).Submit(300'000, stage);
  for (std::uint32_t task = 0; task < 4; ++task) {
    const std::uint64_t start = 300'000 + 5000 * (task / 2);
    log.EndTask(start, start + 5000, 0, task, {.executor = 1 + task % 2});
  }
  log.Complete(310'000, stage).EndJob(310'000, 0).End(310'000);
  const test::ScratchDirectory directory;
  const auto answer =
      AnswerFromLog(directory.Write("log", log.text()), {.slots = {4}}, absl::UnixEpoch());
  ASSERT_TRUE(answer.ok()) << answer.status();
  const auto seconds = [&answer](std::size_t row) {
    return absl::ToDoubleSeconds(answer->rows[row].outcome.snapshot.estimate.remaining->median);
  };
  EXPECT_GT(seconds(0), 300);
  EXPECT_LT(seconds(1), seconds(0));
  EXPECT_GT(seconds(1), seconds(0) - 6);
}

TEST(AnswerFromLog, MoreSlotsNeverTakeLonger) {
  const std::vector<Row> rows = RowsFor({.slots = {2, 3, 4, 8, 100, 1000, 100'000}});
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_LE(rows[i].outcome.snapshot.estimate.remaining->median,
              rows[i - 1].outcome.snapshot.estimate.remaining->median)
        << rows[i].name;
  }
}

// The run was in local mode, so it had one executor.
TEST(AnswerFromLog, ARowWithTheValuesOfTheRunIsTheRun) {
  const auto rows = RowsFor({.executors = {1}, .learn = {Log("local-1795466322781.zst")}});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].outcome.snapshot.estimate.remaining,
            rows[0].outcome.snapshot.estimate.remaining);
  EXPECT_THAT(rows[1].remarks, ElementsAre(HasSubstr("this row is the run itself")));
}

TEST(AnswerFromLog, TheFirstRowNamesWhatBindsItIfOthersDo) {
  const std::vector<Row> rows = RowsFor({.partitions = {8}});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_FALSE(rows[1].binding.empty());
  EXPECT_FALSE(rows[0].binding.empty());
}

TEST(AnswerFromLog, TheFirstRowIsBoundByTheSameForAllOptions) {
  const auto bound_by = [](const Question& question) -> std::string {
    return AnswerFromLog(Log("eventlog_v2_local-1795466270213"), question, absl::UnixEpoch())
        .value()
        .rows[0]
        .binding;
  };
  const std::vector<std::string> learn = {Log("local-1795466322781.zst")};
  EXPECT_EQ(bound_by({.find = Find{.goal = Goal::kTime}}), "driver");
  EXPECT_EQ(bound_by({.data = {1}}), "driver");
  EXPECT_EQ(bound_by({.partitions = {4}}), "driver");
  EXPECT_EQ(bound_by({.slots = {8}, .partitions = {4}}), "driver");
  EXPECT_EQ(bound_by({.executors = {2}, .learn = learn}), "driver");
}

// SPEED-UP compares with the modelled duration of the run, so a row may exceed 1 and yet take
// longer than the run did.
TEST(AnswerFromLog, ARemarkStatesThatAFasterRowMayBeNoFaster) {
  const std::vector<Row> rows =
      RowsFor({.executors = {2, 4, 8}, .learn = {Log("eventlog_v2_local-1795466270213")}});
  ASSERT_EQ(rows.size(), 4u);
  for (const Row& row : rows) {
    const Range& takes = *row.outcome.snapshot.estimate.remaining;
    const absl::Duration run =
        row.as_it_is.value_or(rows[0].outcome.snapshot.estimate.remaining->median);
    const bool may_be_no_faster =
        takes.median < run && takes.lower && *takes.lower <= run && *takes.upper >= run;
    const auto has_remark = Contains(HasSubstr("may be no faster than the run"));
    if (may_be_no_faster) {
      EXPECT_THAT(row.remarks, has_remark) << row.name;
    } else {
      EXPECT_THAT(row.remarks, Not(has_remark)) << row.name;
    }
  }
}

TEST(AnswerFromLog, ResourcesHaveNoEffectInLocalMode) {
  const std::vector<Row> rows =
      RowsFor({.settings = {{"spark.task.resource.gpu.amount", "2"},
                            {"spark.executor.resource.gpu.amount", "2"}}});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].outcome.snapshot.estimate.remaining,
            rows[0].outcome.snapshot.estimate.remaining);
  EXPECT_THAT(rows[1].remarks, Contains(HasSubstr("resource amounts have no effect")));
}

Row RowOfJob(std::uint32_t slots, Basis basis) {
  Row row = {.outcome = {.slots = slots}};
  row.outcome.snapshot.estimate.remaining = Range{.median = absl::Seconds(10)};
  row.outcome.snapshot.estimate.basis = basis;
  return row;
}

TEST(AddRemarksOnJob, NamesGuessesAndAssumedProcessors) {
  std::vector<Row> rows = {RowOfJob(2, Basis::kGuess), RowOfJob(4, Basis::kGuess)};
  AddRemarksOnJob(rows);
  constexpr char kGuess[] =
      "a guess: no job has past runs or has started; the rows cannot be compared";
  EXPECT_THAT(rows[0].remarks, ElementsAre(kGuess));
  EXPECT_THAT(rows[1].remarks, ElementsAre(kGuess, "each slot is assumed to have a processor"));
}

TEST(AddRemarksOnJob, NamesTheGainOfTasksOfEqualSize) {
  std::vector<Row> rows = {RowOfJob(2, Basis::kThisRun), RowOfJob(2, Basis::kThisRun)};
  rows[0].outcome.skew_gain = SkewGain{1, absl::Seconds(3.2), absl::Seconds(20.1)};
  rows[0].outcome.snapshot.stage_infos = {{.id = {.stage = 1}, .name = "reduce"}};
  AddRemarksOnJob(rows);
  EXPECT_THAT(rows[0].remarks,
              ElementsAre("tasks of equal size would end stage reduce 3–21 s earlier"));
  EXPECT_THAT(rows[1].remarks, IsEmpty());
}

// A job with executors has their cores. A plan with nodes has the cores of the nodes.
TEST(AddRemarksOnJob, AddsNothingIfProcessorsAreKnown) {
  std::vector<Row> rows = {RowOfJob(2, Basis::kThisRun), RowOfJob(4, Basis::kThisRun),
                           RowOfJob(4, Basis::kThisRun), RowOfJob(1, Basis::kThisRun)};
  rows[1].outcome.executors = 2;
  rows[2].outcome.states.resize(1);
  AddRemarksOnJob(rows);
  for (const Row& row : rows) EXPECT_THAT(row.remarks, IsEmpty());
}

TEST(AnswerFromLog, RejectsQuestionsWithoutAnEffect) {
  const std::string log = Log("local-1795466322781.zst");
  EXPECT_EQ(Message({.sizes = {{"sum", "k"}}}),
            "--size describes the effect of parameters; pass their new values with --param");
  EXPECT_THAT(Message({.parameters = {{"k", "2"}}, .probes = {{"sum", log}}}),
              HasSubstr("pass the size of the shuffle that the stage writes with --size"));
  EXPECT_THAT(AnswerFromLog(log, {.learn = {log}}, absl::UnixEpoch()).status().message(),
              HasSubstr("--learn has no effect on the unchanged run"));
  EXPECT_THAT(
      AnswerFromLog(log, {.slots = {1, 2}, .memory = {"2g"}}, absl::UnixEpoch()).status().message(),
      HasSubstr("--slots accepts one number"));
}

TEST(AdviseFromLogs, WarnsOfOtherFilesAndOfCopies) {
  const test::ScratchDirectory directory;
  directory.Write("README", "nothing");
  for (const char* name : {"a", "b"}) {
    std::filesystem::copy_file(Log("local-1642039451826.zst"), directory / name);
  }
  const KeepAnswer answer = AdviseFromLogs({directory.path()}, {});
  ASSERT_TRUE(answer.advice.ok()) << answer.advice.status();
  EXPECT_EQ(answer.advice->applications, 1u);
  EXPECT_FALSE(answer.is_damaged);
  EXPECT_THAT(
      answer.warnings,
      ElementsAre(HasSubstr("README is neither a Spark event log nor a Hadoop history file"),
                  HasSubstr("b: omitted, since ")));
}

}  // namespace
}  // namespace tidemark::whatif::what_if_test
