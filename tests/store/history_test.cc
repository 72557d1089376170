#include "master/store/history.h"

#include <sqlite3.h>

#include "absl/strings/str_cat.h"
#include "tests/facts/events.h"
#include "tests/scratch_directory.h"
#include "tests/test.h"

namespace tidemark::store::history_test {
namespace {

FinishedJob Ended(const std::string& job_id, double ended, const std::string& name = "nightly") {
  FinishedJob job;
  job.final = {.job_id = job_id, .at = At(ended), .state = JobState::kSucceeded, .is_final = true};
  job.final.info = JobInfo{.name = name, .engine = "local"};
  job.final.started_at = At(ended - 60);
  job.final.ended_at = At(ended);
  job.final.stage_infos = {{.id = {0, kMapStage}, .kind = StageKind::kMap},
                           {.id = {0, kReduceStage}, .kind = StageKind::kReduce}};
  job.final.stages = {{.id = {0, kMapStage}, .started_at = At(ended - 60), .ended_at = At(ended)},
                      {.id = {0, kReduceStage}}};
  job.final.errors = {{"tidemark", 1.5, 3, 2, 4, 0.9, std::nullopt},
                      {"hadoop", 20, 60, 10, 30, std::nullopt, std::nullopt}};
  job.summary = {.name = name,
                 .engine = "local",
                 .map_tasks = 3,
                 .reduce_tasks = 2,
                 .map_input_bytes = 1000,
                 .map_output_bytes = 3000,
                 .reduce_groups = 50,
                 .reduce_input_bytes = 3000,
                 .reduce_output_bytes = 1500,
                 .reduce_time = absl::Seconds(42.5),
                 .bins = {{.bin = 5, .count = 50, .size_bytes = 3000, .seconds = 42.5}}};
  return job;
}

class HistoryTest : public ::testing::Test {
 protected:
  std::string path() const { return scratch_ / "history.sqlite"; }
  std::unique_ptr<History> Open(const HistoryOptions& options = {}) {
    auto history = History::Open(path(), options);
    EXPECT_TRUE(history.ok()) << history.status();
    return *std::move(history);
  }
  // Converts the file to a file of an earlier version.
  void Undo(const std::string& statements) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, statements.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
  }
  // Returns the job as a later process reads it.
  FinishedJob Stored(const FinishedJob& job) {
    EXPECT_TRUE(Open()->Add(job).ok());
    const auto found = Open()->SucceededOfName(job.summary.name, 10);
    EXPECT_TRUE(found.ok()) << found.status();
    EXPECT_THAT(*found, SizeIs(1));
    return found->front();
  }
  static std::vector<std::string> IdsOf(const std::vector<FinishedJob>& jobs) {
    std::vector<std::string> ids;
    for (const FinishedJob& job : jobs) ids.push_back(job.final.job_id);
    return ids;
  }

  const test::ScratchDirectory scratch_;
};

TEST_F(HistoryTest, StoresTheReportedEndOfAJob) {
  FinishedJob job = Ended("a", 100);
  job.final.at = At(100.2);
  EXPECT_EQ(Stored(job).final.ended_at, At(100));
}

TEST_F(HistoryTest, ContainsAJobOfAnyOutcome) {
  const auto history = Open();
  FinishedJob failed = Ended("a", 100);
  failed.final.state = JobState::kFailed;
  ASSERT_TRUE(history->Add(failed).ok());
  EXPECT_EQ(history->Contains("a").value(), true);
  EXPECT_EQ(history->Contains("b").value(), false);
}

// Twenty runs of one program follow three of another under the same name.
TEST_F(HistoryTest, KeepsEqualSharesOfProgramsOfOneName) {
  const auto history = Open();
  for (int n = 0; n < 23; ++n) {
    FinishedJob job = Ended("run-" + std::to_string(n), 100 + n);
    job.summary.run.stages = {{.name = n < 3 ? "join" : "scan", .tasks = 1}};
    ASSERT_TRUE(history->Add(job).ok());
  }
  const auto runs = history->SucceededOfName("nightly", 6).value();
  EXPECT_THAT(IdsOf(runs), ElementsAre("run-22", "run-21", "run-20", "run-2", "run-1", "run-0"));
}

TEST_F(HistoryTest, ComputesSelectivities) {
  const JobSummary summary = Stored(Ended("a", 100)).summary;
  EXPECT_EQ(summary.map_selectivity(), 3.0);
  EXPECT_EQ(summary.reduce_selectivity(), 0.5);
}

struct Detail {
  const char* name;
  void (*add)(FinishedJob& job);
};
class StoredDetail : public HistoryTest, public ::testing::WithParamInterface<Detail> {};

TEST_P(StoredDetail, IsReturned) {
  FinishedJob job = Ended("a", 100);
  GetParam().add(job);
  const FinishedJob stored = Stored(job);
  EXPECT_EQ(stored.final, job.final);
  EXPECT_EQ(stored.summary, job.summary);
}

INSTANTIATE_TEST_SUITE_P(
    All, StoredDetail,
    ::testing::Values(
        Detail{"Summary", [](FinishedJob&) {}},
        Detail{"Profile",
               [](FinishedJob& job) {
                 job.summary.profile = JobProfile{.slots = 4,
                                                  .map_tasks = 3,
                                                  .reduce_tasks = 2,
                                                  .split_bytes = 333.5,
                                                  .map_selectivity = 3,
                                                  .reduce_selectivity = 0.5,
                                                  .map_task_time = absl::Seconds(1.5),
                                                  .reduce_task_time = absl::Seconds(20.25),
                                                  .map_task_variation = 0.25,
                                                  .reduce_task_variation = 0.5,
                                                  .map_cpu_time = absl::Seconds(1.25),
                                                  .reduce_cpu_time = absl::Seconds(12.5),
                                                  .map_start_cpu_time = absl::Seconds(0.5),
                                                  .reduce_start_cpu_time = absl::Seconds(1.5),
                                                  .slot_idle_time = absl::Seconds(0.75),
                                                  .reduce_sort_time = absl::Seconds(2.5)};
               }},
        Detail{"TaskTimesOfStages",
               [](FinishedJob& job) {
                 job.summary.run = {
                     .slots = 8,
                     .stages = {{.name = "scan",
                                 .fetches = false,
                                 .tasks = 3,
                                 .seconds = {{{2.5}, {}, {1.5, 4}}}},
                                {.name = "join", .parents = {0}, .tasks = 1, .lag = 0.25}}};
               }},
        Detail{
            "LongTasks",
            [](FinishedJob& job) {
              PastStage stage = {.name = "join", .tasks = 200, .long_tasks = {{7, 2.5}, {199, 40}}};
              stage.seconds[2] = {1, 40};
              job.summary.run.stages = {stage};
            }},
        Detail{"TitleOfAStage",
               [](FinishedJob& job) {
                 job.summary.run.stages = {{.name = "0f-1", .title = "join at a.py:7", .tasks = 1}};
               }},
        Detail{"ParametersAndInputSizes",
               [](FinishedJob& job) {
                 job.summary.run = {.parameters = {{"k", "80"}, {"letters", "a,f"}},
                                    .stages = {{.name = "0f-1",
                                                .work = 0xfedcba9876543210,
                                                .tasks = 1,
                                                .read_bytes = 1e12}}};
               }},
        Detail{"FetchWaits",
               [](FinishedJob& job) {
                 job.summary.run.stages = {{.name = "join", .tasks = 1, .fetch_seconds = 8.25}};
               }},
        Detail{"TimesOfKeyGroups",
               [](FinishedJob& job) {
                 job.summary.run.timed_groups = {{{{2, 100, 100, 3, 5}}, {{2, 2500, 100, 3, 5}}}};
               }},
        Detail{"WidthOfIntervals",
               [](FinishedJob& job) { job.final.errors.front().interval_width = 0.25; }},
        Detail{"ScoreOfIntervals", [](FinishedJob& job) { job.summary.interval_score = 1.25; }},
        Detail{"SizeAboveTheRangeOfSignedNumbers",
               [](FinishedJob& job) { job.summary.map_input_bytes = ~std::uint64_t{0}; }}),
    [](const auto& row) { return std::string(row.param.name); });

TEST_F(HistoryTest, StoresNoStagesOfOtherEngines) {
  FinishedJob job = Ended("a", 100);
  job.final.stage_infos = {{.id = {0, 7}, .kind = StageKind::kReduce}};
  job.final.stages = {{.id = {0, 7}, .started_at = At(40), .ended_at = At(100)}};
  EXPECT_THAT(Stored(job).final.stages, IsEmpty());
}

TEST_F(HistoryTest, ReturnsTheNodeThatWasMeasuredLast) {
  EXPECT_EQ(*Open()->NewestNode(), std::nullopt);
  const ResourceProfile slow = {.disk_read = 1, .network = 2, .cores = 3};
  const ResourceProfile fast = {
      .disk_read = 4.5, .disk_write = 5, .dfs_read = 6, .dfs_write = 7, .network = 8, .cores = 9};
  ASSERT_TRUE(Open()->AddNode("a", At(10), slow).ok());
  ASSERT_TRUE(Open()->AddNode("b", At(20), slow).ok());
  ASSERT_TRUE(Open()->AddNode("a", At(30), fast).ok());
  EXPECT_EQ(*Open()->NewestNode(), fast);
}

// Statements that convert a file of this version to a file of an earlier version.
constexpr const char* kUndoSixth =
    "UPDATE job SET state = state - 2; "
    "CREATE TABLE phase (job INTEGER, phase INTEGER, started_at INTEGER, finished_at INTEGER); "
    "INSERT INTO phase SELECT job, 2 * stage, started_at, ended_at FROM stage; "
    "INSERT INTO phase SELECT job, 1, started_at, ended_at FROM stage WHERE stage = 0; "
    "DROP TABLE stage; "
    "ALTER TABLE indicator_error RENAME TO errors_after; "
    "CREATE TABLE indicator_error (job INTEGER NOT NULL REFERENCES job ON DELETE CASCADE, "
    "position INTEGER NOT NULL, indicator TEXT NOT NULL, reduce_avg REAL NOT NULL, "
    "reduce_max REAL NOT NULL, job_avg REAL NOT NULL, job_max REAL NOT NULL, "
    "interval_coverage REAL, PRIMARY KEY (job, position)) WITHOUT ROWID; "
    "INSERT INTO indicator_error SELECT job, position, indicator, ifnull(reduce_avg, 0), "
    "ifnull(reduce_max, 0), job_avg, job_max, interval_coverage FROM errors_after; "
    "DROP TABLE errors_after; ";
constexpr const char* kUndoEleventh =
    "ALTER TABLE job_profile DROP COLUMN map_start_cpu_seconds; "
    "ALTER TABLE job_profile DROP COLUMN reduce_start_cpu_seconds; "
    "ALTER TABLE job_profile DROP COLUMN slot_idle_seconds; ";
constexpr const char* kUndoTenth = "ALTER TABLE job_profile DROP COLUMN reduce_sort_seconds; ";
constexpr const char* kUndoNinth =
    "ALTER TABLE job_profile DROP COLUMN map_cpu_seconds; "
    "ALTER TABLE job_profile DROP COLUMN reduce_cpu_seconds; ";
constexpr const char* kUndoEighth = "ALTER TABLE job DROP COLUMN interval_score; ";
constexpr const char* kUndoFifth = "DROP TABLE run_profile; ";
constexpr const char* kUndoFourth =
    "DROP TABLE run_profile; DROP INDEX job_by_name; ALTER TABLE job DROP COLUMN name_space; "
    "CREATE INDEX job_by_name ON job (name, ended_at); ";

struct Version {
  int number;
  std::vector<const char*> undo;
};
class HistoryOfVersion : public HistoryTest, public ::testing::WithParamInterface<Version> {};

TEST_P(HistoryOfVersion, IsUpgraded) {
  FinishedJob old = Ended("a", 100);
  // The job had no update during the reduce stage.
  old.final.errors.push_back({.indicator = "jobratio", .job_avg_points = 10, .job_max_points = 30});
  ASSERT_TRUE(Open()->Add(old).ok());
  std::string undo = absl::StrCat(kUndoEleventh, kUndoTenth, kUndoNinth, kUndoEighth);
  for (const char* statements : GetParam().undo) undo += statements;
  Undo(undo + "PRAGMA user_version = " + std::to_string(GetParam().number));

  const auto history = Open();
  const auto found = history->SucceededOfName("nightly", 10).value();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found.front().final, old.final);
  EXPECT_EQ(found.front().summary, old.summary);
  EXPECT_EQ(found.front().name_space, "*") << "visible to all clients";
  EXPECT_EQ(*history->NewestNode(), std::nullopt);
  FinishedJob job = Ended("b", 200);
  job.summary.profile = JobProfile{.slots = 4, .map_tasks = 3, .reduce_tasks = 2};
  ASSERT_TRUE(history->Add(job).ok());
  EXPECT_EQ(history->SucceededOfName("nightly", 1)->front().summary, job.summary);
}

INSTANTIATE_TEST_SUITE_P(
    All, HistoryOfVersion,
    ::testing::Values(
        Version{7, {}}, Version{6, {"ALTER TABLE indicator_error DROP COLUMN interval_width; "}},
        Version{5, {kUndoSixth}}, Version{4, {kUndoSixth, kUndoFifth}},
        Version{3, {kUndoSixth, kUndoFourth}},
        Version{2, {kUndoSixth, kUndoFourth, "DROP TABLE node; "}},
        Version{1, {kUndoSixth, kUndoFourth, "DROP TABLE job_profile; DROP TABLE node; "}}),
    [](const auto& row) { return std::to_string(row.param.number); });

// Versions 10, 9 and 8 have fewer times each.
TEST_F(HistoryTest, UpgradesVersionsWithoutLaterTimes) {
  FinishedJob job = Ended("a", 100);
  job.summary.profile = JobProfile{.slots = 4,
                                   .map_tasks = 3,
                                   .reduce_tasks = 2,
                                   .map_cpu_time = absl::Seconds(1),
                                   .map_start_cpu_time = absl::Seconds(1),
                                   .reduce_sort_time = absl::Seconds(2)};
  std::string undo;
  int version = 11;
  for (const auto& [statements, lost] : {std::pair(kUndoEleventh, &JobProfile::map_start_cpu_time),
                                         std::pair(kUndoTenth, &JobProfile::reduce_sort_time),
                                         std::pair(kUndoNinth, &JobProfile::map_cpu_time)}) {
    ASSERT_TRUE(Open()->Add(job).ok());
    undo += statements;
    Undo(absl::StrCat(undo, "PRAGMA user_version = ", --version));
    (*job.summary.profile).*lost = absl::ZeroDuration();
    const auto found = Open()->SucceededOfName("nightly", 1).value();
    EXPECT_EQ(found.front().summary, job.summary) << version;
  }
}

TEST_F(HistoryTest, UpgradesAHistoryOfTidemark01) {
  Undo(test::BytesOf(std::string(TIDEMARK_RECORDINGS) + "/history-0.1.sql"));
  const auto found = Open()->SucceededOfName("synthetic", 10).value();
  ASSERT_THAT(IdsOf(found), ElementsAre("synthetic-3", "synthetic-2", "synthetic-1"));
  EXPECT_DOUBLE_EQ(found.front().summary.map_selectivity().value_or(0), 928080 / 202318.0);
  ASSERT_TRUE(found.front().summary.profile.has_value());
  EXPECT_EQ(found.front().summary.profile->slots, 1);
  EXPECT_THAT(found.front().final.errors, SizeIs(5));
}

TEST_F(HistoryTest, SkipsRunsThatMayNotBeUsed) {
  const auto history = Open();
  for (int i = 0; i < 20; ++i) {
    FinishedJob job = Ended("evil-" + std::to_string(i), 200 + i);
    job.name_space = "evil-*";
    ASSERT_TRUE(history->Add(job).ok());
  }
  FinishedJob good = Ended("good", 100);
  good.name_space = "good nightly-*";
  ASSERT_TRUE(history->Add(good).ok());
  const auto found = history->SucceededOfName(
      "nightly", 1, [](const std::string& job_id, const std::string& name_space) {
        return job_id == "good" && name_space == "good nightly-*";
      });
  EXPECT_THAT(IdsOf(*found), ElementsAre("good"));
  EXPECT_EQ(found->front().name_space, "good nightly-*");
}

TEST_F(HistoryTest, ReturnsTheNewestRunsOfAName) {
  const auto history = Open();
  for (const auto& job :
       {Ended("b", 200), Ended("a", 100), Ended("c", 300), Ended("x", 400, "other")}) {
    ASSERT_TRUE(history->Add(job).ok());
  }
  EXPECT_THAT(IdsOf(*history->SucceededOfName("nightly", 2)), ElementsAre("c", "b"));
  EXPECT_THAT(*history->SucceededOfName("nobody", 2), IsEmpty());
}

TEST_F(HistoryTest, TheSameRunAddedAgainReplacesItself) {
  const auto history = Open();
  FinishedJob job = Ended("a", 100);
  ASSERT_TRUE(history->Add(job).ok());
  job.summary.reduce_groups = 51;
  ASSERT_TRUE(history->Add(job).ok());
  const auto found = history->SucceededOfName("nightly", 10);
  ASSERT_THAT(*found, SizeIs(1));
  EXPECT_EQ(found->front().summary, job.summary);
}

TEST_F(HistoryTest, RemovesOldRuns) {
  const auto history = Open({.age_max = absl::Seconds(100)});
  ASSERT_TRUE(history->Add(Ended("old", 0)).ok());
  ASSERT_TRUE(history->Add(Ended("new", 150)).ok());
  ASSERT_TRUE(history->Expire(At(200)).ok());
  EXPECT_THAT(IdsOf(*history->SucceededOfName("nightly", 10)), ElementsAre("new"));
}

TEST_F(HistoryTest, RemovesTheOldestRunsOverItsSizeLimit) {
  const auto history = Open({.bytes_max = 200'000});
  for (int i = 0; i < 200; ++i) {
    FinishedJob job = Ended("job-" + std::to_string(i), 100 + i);
    job.summary.bins.clear();
    for (std::uint32_t bin = 0; bin < 100; ++bin) job.summary.bins.push_back({.bin = bin});
    ASSERT_TRUE(history->Add(job).ok());
  }
  ASSERT_GT(*history->bytes(), 200'000u);
  ASSERT_TRUE(history->Expire(At(1000)).ok());
  EXPECT_LE(*history->bytes(), 200'000u);
  EXPECT_GT(*history->count(), 10u);
  EXPECT_THAT(IdsOf(*history->SucceededOfName("nightly", 1)), ElementsAre("job-199"));
  EXPECT_LE(std::filesystem::file_size(path()), 250'000u) << "the room is given back";
}

TEST_F(HistoryTest, RejectsAFileThatIsNotADatabase) {
  std::ofstream(path()) << std::string(4096, 'x');
  const auto history = History::Open(path(), {});
  EXPECT_TRUE(absl::IsDataLoss(history.status())) << history.status();
  EXPECT_THAT(std::string(history.status().message()), HasSubstr(path()));
}

TEST_F(HistoryTest, AMissingDirectoryIsAnError) {
  EXPECT_FALSE(History::Open(scratch_ / "gone/history.sqlite", {}).ok());
}

TEST_F(HistoryTest, RunsOfMapReduceJobsOfOtherNamesAreFound) {
  const auto history = Open();
  FinishedJob failed = Ended("failed", 500, "weekly");
  failed.final.state = JobState::kFailed;
  FinishedJob of_stages = Ended("spark", 400, "query");
  of_stages.summary.run.stages = {{.name = "scan", .tasks = 1}};
  FinishedJob of_maps = Ended("maps", 350, "copy");
  of_maps.summary.reduce_tasks = 0;
  for (const FinishedJob& job : {failed, of_stages, of_maps, Ended("a", 100, "hourly"),
                                 Ended("b", 300, "nightly"), Ended("c", 200, "weekly")}) {
    ASSERT_TRUE(history->Add(job).ok());
  }
  EXPECT_THAT(IdsOf(*history->OfOtherNames("nightly", 9)), ElementsAre("c", "a"));
  EXPECT_THAT(IdsOf(*history->OfOtherNames("monthly", 2)), ElementsAre("b", "c"));
  const auto not_b = [](const std::string& id, const std::string&) { return id != "b"; };
  EXPECT_THAT(IdsOf(*history->OfOtherNames("monthly", 1, not_b)), ElementsAre("c"));
}

TEST_F(HistoryTest, StoresOnlySlotsOfARunWithTooManyParameters) {
  FinishedJob job = Ended("a", 100);
  job.summary.run.stages = {{.name = "scan", .tasks = 1}};
  for (std::size_t i = 0; i <= PastRun::kParametersMax; ++i) {
    job.summary.run.parameters[std::to_string(i)] = "1";
  }
  const PastRun run = Stored(job).summary.run;
  EXPECT_THAT(run.stages, IsEmpty());
  EXPECT_THAT(run.parameters, IsEmpty());
}

TEST_F(HistoryTest, SkipsLongTasksOutOfOrderOrWithoutATime) {
  FinishedJob job = Ended("a", 100);
  PastStage stage = {.name = "join", .tasks = 200};
  stage.long_tasks = {{7, 2.5}, {7, 3}, {6, 4}, {8, NAN}, {9, -0.5}, {10, INFINITY}, {11, 4}};
  job.summary.run.stages = {stage};
  EXPECT_THAT(Stored(job).summary.run.stages[0].long_tasks,
              ElementsAre(LongTask{7, 2.5}, LongTask{11, 4}));
}

TEST_F(HistoryTest, StoresOnlySlotsOfARunWithTooManyStages) {
  FinishedJob job = Ended("a", 100);
  job.summary.run.stages.resize(PastRun::kStagesMax + 1, {.name = "scan", .tasks = 1});
  EXPECT_THAT(Stored(job).summary.run.stages, IsEmpty());
}

}  // namespace
}  // namespace tidemark::store::history_test
