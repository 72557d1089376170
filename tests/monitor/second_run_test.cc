// Tests the second run of a job, which JobMonitor estimates from the first run.

#include "streaming/size_histogram.h"
#include "tests/facts/events.h"
#include "tests/monitor/estimates.h"
#include "tests/monitor/virtual_job.h"
#include "tests/test.h"
#include "tidemark/job_monitor.h"

namespace tidemark::second_run_test {
namespace {

using test::Story;
using test::StoryTeller;

// One run of a job, with its snapshots and the record for the next run.
struct JobRun {
  std::vector<Snapshot> snapshots;
  std::optional<PastRun> taught;
};

JobRun Watched(const Story& story, const std::vector<PastRun>& past = {}) {
  JobMonitor monitor("job-1", {});
  monitor.SetPastRuns(past);
  JobRun run = {.snapshots = test::Watch(story, 1, monitor)};
  run.taught = PastRunOf(run.snapshots.back(), monitor.Summary());
  return run;
}

// Returns the mean difference between shown and true progress, in points.
double ErrorOf(const JobRun& run, const Story& story) {
  double sum = 0;
  double looks = 0;
  for (const Snapshot& snapshot : run.snapshots) {
    const double truth = absl::ToDoubleSeconds(snapshot.at - At(0)) / story.ends;
    if (snapshot.is_final || truth > 1) continue;
    sum += std::abs(snapshot.estimate.fraction_done - truth);
    looks += 1;
  }
  return 100 * sum / looks;
}

double LeftAt(const JobRun& run, std::size_t second) {
  const auto left = test::Left(run.snapshots.at(second).estimate);
  return left ? absl::ToDoubleSeconds(*left) : 0;
}

// Runs the job twice. Returns the errors of both runs.
std::pair<double, double> ErrorsOfTwoRuns(const Story& story) {
  const JobRun first = Watched(story);
  EXPECT_TRUE(first.taught.has_value());
  const JobRun second = Watched(story, {first.taught.value_or(PastRun{})});
  return {ErrorOf(first, story), ErrorOf(second, story)};
}

// Returns a story that ends at `ends`. If `has_signs_of_life` is true, the application master sends
// a heartbeat every second, like Hadoop's.
Story StoryOf(StoryTeller teller, double ends, bool has_signs_of_life = true) {
  for (double now = 1; has_signs_of_life && now < ends; ++now) {
    teller.Master(now, test::Queued(M(0)));
  }
  teller.Master(ends, test::Closed());
  Story story{.ends = ends};
  story.events = std::move(teller).InOrder();
  return story;
}

// Returns a job without reduce tasks. Hadoop's application master reports the starts and ends of
// its tasks. All tasks run at the same time.
Story MapOnlyJob(std::optional<std::uint64_t> input_bytes = 0) {
  StoryTeller teller;
  teller.Master(0, Opened(8, 0));
  for (std::uint32_t i = 0; i < 8; ++i) {
    teller.Master(3, Started(M(i), input_bytes)).Master(50 + i, Finished(M(i)));
  }
  return StoryOf(std::move(teller), 59);
}

TEST(SecondRun, OfAJobOfMapTasksAloneGainsFromTheFirst) {
  for (const std::optional<std::uint64_t> bytes :
       {std::optional<std::uint64_t>(), std::optional<std::uint64_t>(0),
        std::optional<std::uint64_t>(1), std::optional<std::uint64_t>(64'000'000)}) {
    const auto [first, second] = ErrorsOfTwoRuns(MapOnlyJob(bytes));
    EXPECT_LT(second, 3);
    EXPECT_LT(second, first / 3);
  }
}

TEST(SecondRun, OfMapTasksInWavesGainsFromTheFirst) {
  StoryTeller teller;
  teller.Master(0, Opened(12, 0));
  for (std::uint32_t i = 0; i < 12; ++i) {
    const double starts = 2 + 20 * (i / 4);
    teller.Master(starts, Started(M(i), 1'000'000)).Master(starts + 19 - i % 4, Finished(M(i)));
  }
  const auto [first, second] = ErrorsOfTwoRuns(StoryOf(std::move(teller), 64));
  EXPECT_LT(second, 5);
  EXPECT_LT(second, first / 2);
}

TEST(SecondRun, OfAJobOfMapTasksAloneIsForecastByTheFirst) {
  const Story story = MapOnlyJob();
  const JobRun first = Watched(story);
  const JobRun second = Watched(story, {first.taught.value()});
  EXPECT_EQ(second.snapshots[10].estimate.basis, Basis::kEarlierRuns);
  EXPECT_NEAR(absl::ToDoubleSeconds(test::Left(second.snapshots[10].estimate).value()), 49, 3);
  EXPECT_EQ(second.snapshots[52].estimate.basis, Basis::kThisRun);
}

// Returns a job with four map tasks of 10 s, followed by two reduce tasks of 8 s. The first attempt
// at the last map task hangs until a speculative attempt has replaced it.
Story JobWithASpeculativeMapAttempt(bool tells_progress) {
  StoryTeller teller;
  teller.Master(0, Opened(4, 2));
  for (std::uint32_t i = 0; i < 4; ++i) teller.Master(2, Started(M(i), 1000));
  for (std::uint32_t i = 0; i < 3; ++i) {
    if (tells_progress) {
      for (int s = 1; s < 10; ++s) {
        teller.Say(2 + s, "m-" + std::to_string(i),
                   test::Read(M(i), static_cast<std::uint64_t>(100 * s)));
      }
    }
    teller.Master(12, Finished(M(i)));
  }
  for (int s = 1; tells_progress && s < 55; ++s) {
    teller.Say(2 + s, "m-3", test::Read(M(3), static_cast<std::uint64_t>(10 * s)));
  }
  AttemptChanged other = Started(M(3, 1), 1000);
  other.speculative = true;
  teller.Master(46, other).Master(57, Finished(M(3, 1)));
  teller.Master(58, Killed(M(3)));
  for (std::uint32_t i = 0; i < 2; ++i) {
    teller.Master(14, Started(R(i))).Master(59, Shuffled(R(i)));
    teller.Master(67, Finished(R(i)));
  }
  return StoryOf(std::move(teller), 68);
}

TEST(SecondRun, OfAJobWithASpeculativeMapAttemptGainsFromTheFirst) {
  for (const bool tells_progress : {false, true}) {
    const auto [first, second] = ErrorsOfTwoRuns(JobWithASpeculativeMapAttempt(tells_progress));
    EXPECT_LT(second, 5) << tells_progress;
    EXPECT_LT(second, first / 2) << tells_progress;
  }
}

// Returns a job with four reduce tasks of ten key groups each. The first attempt at the last task
// hangs in its fourth group until a speculative attempt has finished all groups.
Story JobWithASpeculativeReduceAttempt() {
  StoryTeller teller;
  teller.Master(0, Opened(2, 4));
  for (std::uint32_t i = 0; i < 2; ++i) {
    teller.Master(1, Started(M(i), 1000));
    MapProfile profile{.attempt = M(i)};
    for (std::uint32_t r = 0; r < 4; ++r) {
      PartitionProfile partition{.partition = r, .total_bytes = 5000};
      for (std::uint64_t key = 0; key < 10; ++key) {
        partition.explicit_keys.push_back(test::Key(100 * r + key, 500));
      }
      profile.partitions.push_back(std::move(partition));
    }
    teller.Say(9, "m-" + std::to_string(i), profile).Master(9, Finished(M(i)));
  }
  const auto reduce = [&](std::uint32_t index, std::uint32_t attempt, double starts, int groups) {
    const std::string source = "r-" + std::to_string(index) + "-" + std::to_string(attempt);
    teller.Master(starts, Started(R(index, attempt)));
    teller.Master(starts + 1, Shuffled(R(index, attempt)));
    ReduceProfile profile{.attempt = R(index, attempt), .keys_named = true};
    for (int g = 0; g < groups; ++g) {
      const double now = starts + 2 + g;
      const ExplicitKey key = test::Key(100 * index + static_cast<std::uint64_t>(g), 1000);
      profile.last_group_finished_at = At(now);
      ++profile.groups_done;
      profile.bytes_done += key.size_bytes;
      profile.reduce_time += absl::Seconds(1);
      profile.points = {{key.size_bytes, 1, absl::Seconds(1)}};
      profile.finished_keys = {test::Ended(key, 1)};
      teller.Say(now, source, profile);
    }
  };
  for (std::uint32_t i = 0; i < 3; ++i) {
    reduce(i, 0, 10, 10);
    teller.Master(21, Finished(R(i)));
  }
  reduce(3, 0, 10, 3);
  for (int s = 1; s < 48; ++s) {
    ReduceProfile hangs = {.attempt = R(3, 0), .keys_named = true};
    hangs.groups_done = 3;
    hangs.bytes_done = 3000;
    hangs.reduce_time = absl::Seconds(3);
    hangs.last_group_finished_at = At(14);
    hangs.running_group = RunningGroup{.elapsed = absl::Seconds(s)};
    hangs.running_group->key = KeyHash{303};
    teller.Say(14 + s, "r-3-0", hangs);
  }
  reduce(3, 1, 50, 10);
  teller.Master(61, Finished(R(3, 1))).Master(62, Killed(R(3)));
  return StoryOf(std::move(teller), 63);
}

TEST(SecondRun, OfAJobWithASpeculativeReduceAttemptGainsFromTheFirst) {
  const auto [first, second] = ErrorsOfTwoRuns(JobWithASpeculativeReduceAttempt());
  EXPECT_LT(second, 8);
  EXPECT_LT(second, first / 2);
}

// Returns a join of two inputs with two reduce tasks of ten key groups each. The sizes of the
// groups of a task grow from `kilobytes` to twice as many. `share_of` gives the share of the first
// input in a group. A group takes as many seconds as 0.4 times the product of the kilobytes of both
// inputs. The tasks fetch their input from 10 s on until `shuffled_at`.
Story Join(double kilobytes, double (*share_of)(int group), double shuffled_at = 11) {
  StoryTeller teller;
  teller.Master(0, Opened(2, 2));
  const auto size_of = [&](int g) { return kilobytes * (1 + g / 9.0); };
  const auto key_of = [&](std::uint32_t task, int g, double share) {
    return test::Key(100 * task + static_cast<std::uint64_t>(g) + 1,
                     static_cast<std::uint64_t>(share * 1000 * size_of(g)));
  };
  for (std::uint32_t i = 0; i < 2; ++i) {
    AttemptChanged started = Started(M(i), 1000);
    started.input_name = i == 0 ? "left" : "right";
    teller.Master(1, started);
    MapProfile profile{.attempt = M(i)};
    for (std::uint32_t r = 0; r < 2; ++r) {
      PartitionProfile partition{.partition = r};
      for (int g = 0; g < 10; ++g) {
        partition.explicit_keys.push_back(key_of(r, g, i == 0 ? share_of(g) : 1 - share_of(g)));
        partition.total_bytes += partition.explicit_keys.back().size_bytes;
      }
      profile.partitions.push_back(std::move(partition));
    }
    teller.Say(9, "m-" + std::to_string(i), profile).Master(10, Finished(M(i)));
  }
  double ends = shuffled_at;
  for (std::uint32_t i = 0; i < 2; ++i) {
    const std::string source = "r-" + std::to_string(i);
    teller.Master(10, Started(R(i))).Master(shuffled_at, Shuffled(R(i)));
    ReduceProfile profile{.attempt = R(i), .keys_named = true};
    double now = shuffled_at;
    for (int g = 0; g < 10; ++g) {
      const double seconds = 0.4 * std::pow(size_of(g), 2) * share_of(g) * (1 - share_of(g));
      now += seconds;
      const ExplicitKey key = key_of(i, g, 1);
      profile.last_group_finished_at = At(now);
      ++profile.groups_done;
      profile.bytes_done += key.size_bytes;
      profile.reduce_time += absl::Seconds(seconds);
      profile.points = {{key.size_bytes, 1, absl::Seconds(seconds)}};
      profile.finished_keys = {test::Ended(key, seconds)};
      profile.bins = {{.bin = streaming::SizeBin(key.size_bytes),
                       .count = 1,
                       .size_bytes = key.size_bytes,
                       .seconds = seconds,
                       .seconds_squared = seconds * seconds}};
      teller.Say(now, source, profile);
    }
    teller.Master(now, Finished(R(i)));
    ends = std::max(ends, now);
  }
  return StoryOf(std::move(teller), ends);
}

// Expects forecasts within a factor of two before the first key group has ended, and a mean error
// below `error_max` points.
void ExpectWeighedByKeys(const Story& past, const Story& story, double first_group_ends,
                         double error_max) {
  const PastRun taught = Watched(past).taught.value();
  EXPECT_THAT(taught.timed_groups, Each(Not(IsEmpty())));
  const JobRun run = Watched(story, {taught});
  for (std::size_t second = 12; static_cast<double>(second) < first_group_ends; ++second) {
    const double truth = story.ends - static_cast<double>(second);
    EXPECT_GT(LeftAt(run, second), truth / 2) << second;
    EXPECT_LT(LeftAt(run, second), truth * 2) << second;
  }
  EXPECT_LT(ErrorOf(run, story), error_max);
}

double Half(int) { return 0.5; }

// The small join reduces for 2.4 s. The groups of the large one have six times the size, and the
// first one takes 3.6 s.
TEST(SecondRun, OfALargeJoinAfterASmallOneWeighsTheSizesOfItsKeys) {
  ExpectWeighedByKeys(Join(1, Half), Join(6, Half), 14.6, 10);
}

// The key groups of the past run take 2.4 s, and its shuffle 30 s.
TEST(SecondRun, BeforeTheFirstShuffleHasEndedIncludesTheShuffle) {
  const JobRun taught = Watched(Join(1, Half, 40));
  const Story story = Join(1, Half, 40);
  const JobRun run = Watched(story, {taught.taught.value()});
  for (const std::size_t second : {12, 20, 30}) {
    const double truth = story.ends - static_cast<double>(second);
    EXPECT_GT(LeftAt(run, second), truth / 2) << second;
    EXPECT_LT(LeftAt(run, second), truth * 2) << second;
  }
}

// If the map tasks of the second run report no keys, a partition is not taken for one key group,
// which would take nine times as long.
TEST(SecondRun, WithoutProfilesOfKeysTakesTheTimeOfTheFirst) {
  const JobRun taught = Watched(Join(4, Half));
  ASSERT_TRUE(taught.taught.has_value());
  Story story = Join(4, Half);
  std::erase_if(story.events,
                [](const Event& event) { return std::holds_alternative<MapProfile>(event.body); });
  for (Event& event : story.events) {
    auto* const change = std::get_if<AttemptChanged>(&event.body);
    if (change != nullptr && change->attempt.stage == kReduceStage) change->input_bytes = 60'000;
  }
  const JobRun run = Watched(story, {*taught.taught});
  for (std::size_t second = 11; static_cast<double>(second) < story.ends - 1; ++second) {
    const double truth = story.ends - static_cast<double>(second);
    EXPECT_GT(LeftAt(run, second), truth / 2) << second;
    EXPECT_LT(LeftAt(run, second), truth * 2 + 5) << second;
  }
}

// In the large join, the first input has a twentieth of each group, so the products are a fifth of
// the products of equal shares.
TEST(SecondRun, OfALargeJoinAfterASmallOneWeighsTheProductsOfItsKeys) {
  const auto varied = [](int g) { return 0.05 + 0.1 * (g * 7 % 10); };
  const auto uneven = [](int) { return 0.05; };
  ExpectWeighedByKeys(Join(2, varied), Join(12, uneven), 13.7, 10);
}

// Returns a job whose engine reports only starts and ends of tasks.
Story JobThatReportsNoShuffle() {
  StoryTeller teller;
  teller.Master(0, Opened(2, 2));
  for (std::uint32_t i = 0; i < 2; ++i) {
    teller.Master(1, Started(M(i))).Master(21, Finished(M(i)));
    teller.Master(21, Started(R(i))).Master(51, Finished(R(i)));
  }
  return StoryOf(std::move(teller), 52);
}

TEST(SecondRun, OfAJobThatReportsNoShuffleGainsFromTheFirst) {
  const auto [first, second] = ErrorsOfTwoRuns(JobThatReportsNoShuffle());
  EXPECT_LT(second, 0.9 * first);
}

// In some engines, a job may succeed although some of its tasks have failed permanently.
TEST(SecondRun, GainsFromARunInWhichATaskFailedForGood) {
  for (const std::uint32_t stage : {kMapStage, kReduceStage}) {
    StoryTeller teller;
    teller.Master(0, Opened(3, 3));
    for (std::uint32_t i = 0; i < 3; ++i) {
      const bool is_map_lost = stage == kMapStage && i == 1;
      const bool is_reduce_lost = stage == kReduceStage && i == 1;
      teller.Master(1, Started(M(i))).Master(21, is_map_lost ? test::Failed(M(i)) : Finished(M(i)));
      teller.Master(21, Started(R(i))).Master(22, Shuffled(R(i)));
      teller.Master(51, is_reduce_lost ? test::Failed(R(i)) : Finished(R(i)));
    }
    const auto [first, second] = ErrorsOfTwoRuns(StoryOf(std::move(teller), 52));
    EXPECT_LT(second, 5) << stage;
  }
}

// The connection broke before the end of the last task was reported.
TEST(SecondRun, GainsFromARunWhoseLastTaskHasNoReportedEnd) {
  StoryTeller teller;
  teller.Master(0, Opened(4, 0));
  for (std::uint32_t i = 0; i < 4; ++i) {
    teller.Master(1, Started(M(i)));
    if (i < 3) teller.Master(41, Finished(M(i)));
  }
  const JobRun run = Watched(StoryOf(std::move(teller), 45));
  ASSERT_TRUE(run.taught.has_value());
  EXPECT_EQ(run.taught->map_time, absl::Seconds(45));
}

TEST(SecondRun, IncludesTheTimeAfterTheLastTask) {
  StoryTeller teller;
  teller.Master(0, Opened(1, 1)).Master(1, Started(M(0)));
  teller.Master(10, Finished(M(0))).Master(10, Started(R(0)));
  teller.Master(12, Shuffled(R(0))).Master(20, Finished(R(0)));
  const JobRun run = Watched(StoryOf(std::move(teller), 30));
  ASSERT_TRUE(run.taught.has_value());
  EXPECT_EQ(run.taught->map_time, absl::Seconds(10));
  EXPECT_EQ(run.taught->shuffle_time, absl::Seconds(2));
  EXPECT_EQ(run.taught->reduce_time, absl::Seconds(18)) << "it commits its output for 10 s";
  EXPECT_EQ(run.taught->map_tasks, 1u);
  EXPECT_EQ(run.taught->reduce_tasks, 1u);
}

// Consecutive stages with `tasks` tasks of `seconds` each, on two slots.
struct Program {
  std::string name = "s";
  std::size_t stages = 7;
  std::uint32_t tasks = 2;
  double seconds = 10;
  std::uint64_t bytes = 10'000'000;  // bytes that each task reads
  std::size_t fetched = 1;           // number of parents of each stage
};

Story StoryOf(const Program& program) {
  StoryTeller teller;
  teller.Say(0, "driver", JobOpened{.name = "nightly", .submitted_at = At(0)});
  teller.Say(0, "driver", ExecutorOpened{.executor = 0, .host = "h", .slots = 2});
  double now = 1;
  for (std::uint32_t i = 0; i < program.stages; ++i) {
    StageOpened stage = {
        .stage = i, .signature = program.name + std::to_string(i), .task_count = program.tasks};
    for (std::uint32_t back = 1; back <= std::min<std::size_t>(program.fetched, i); ++back) {
      stage.parents.push_back(i - back);
    }
    teller.Say(now, "driver", stage);
    for (std::uint32_t t = 0; t < program.tasks; ++t) {
      AttemptChanged started = Started({.stage = i, .index = t}, program.bytes);
      started.executor = 0;
      teller.Say(now, "driver", started);
      if (t % 2 == 0 && t + 1 < program.tasks) continue;
      now += program.seconds;
      for (const std::uint32_t ended : {t - t % 2, t}) {
        teller.Say(now, "driver", test::Read({.stage = i, .index = ended}, program.bytes));
        teller.Say(now, "driver", Finished({.stage = i, .index = ended}));
        if (t % 2 == 0) break;
      }
    }
  }
  return StoryOf(std::move(teller), now + 1, /*has_signs_of_life=*/false);
}

TEST(SecondRun, OfTheSameProgramOfStagesGainsFromTheFirst) {
  const auto [first, second] = ErrorsOfTwoRuns(StoryOf(Program{}));
  EXPECT_LT(second, 5);
  EXPECT_LT(second, first / 2);
}

// Seven stages of 170 s have the same name as four stages of 10 s.
TEST(SecondRun, DropsThePastRunsOfAnotherProgramAtItsFirstStage) {
  const Program small = {.stages = 4};
  const Story story = StoryOf(small);
  const std::vector<Program> others = {
      {.name = "other", .seconds = 170},
      {.tasks = 40, .seconds = 17},
  };
  const double unknown = ErrorOf(Watched(story), story);
  for (const Program& other : others) {
    const JobRun past = Watched(StoryOf(other));
    const JobRun run = Watched(story, {past.taught.value()});
    EXPECT_GT(LeftAt(run, 0), 500) << "nothing refutes it yet";
    for (std::size_t second = 2; second < run.snapshots.size(); ++second) {
      EXPECT_LT(LeftAt(run, second), 100) << other.name << other.tasks << " at " << second;
    }
    EXPECT_LT(ErrorOf(run, story), unknown + 1) << other.name << other.tasks;
    EXPECT_THAT(run.snapshots[5].notes,
                ElementsAre("the past runs with this name had different stages and are ignored"));
    EXPECT_THAT(run.snapshots[5].stages, SizeIs(1)) << "none of its stages is expected";
  }
}

// Either tasks of the other program read a thousand times as many bytes, or its stages have other
// parents. The monitor detects the difference one stage later.
TEST(SecondRun, DropsThePastRunsOfAnotherProgramWithTheSameStageNames) {
  const Program small = {.stages = 6, .bytes = 1'000'000};
  const Story story = StoryOf(small);
  const std::vector<Program> others = {
      {.stages = 8, .seconds = 170, .bytes = 1'000'000'000},
      {.stages = 8, .seconds = 170, .bytes = 1'000'000, .fetched = 2},
  };
  for (const Program& other : others) {
    const JobRun past = Watched(StoryOf(other));
    const JobRun run = Watched(story, {past.taught.value()});
    for (std::size_t second = 32; second < run.snapshots.size(); ++second) {
      EXPECT_LT(LeftAt(run, second), 150) << other.fetched << " at " << second;
    }
  }
}

TEST(SecondRun, KeepsThePastRunsOfItsProgramAmongOthers) {
  const Program own;
  const Story story = StoryOf(own);
  const std::optional<PastRun> of_own = Watched(story).taught;
  const std::optional<PastRun> of_other =
      Watched(StoryOf(Program{.name = "other", .seconds = 170})).taught;
  ASSERT_TRUE(of_own && of_other);
  const JobRun run = Watched(story, {*of_other, *of_own});
  for (std::size_t second = 2; second < 71; ++second) {
    EXPECT_NEAR(LeftAt(run, second), 71 - static_cast<double>(second), 15) << second;
  }
}

// In the past run, a stage had a parent that does not exist in this run.
TEST(SecondRun, ExpectsNoStageWhoseReaderHasBegun) {
  const Story story = StoryOf(Program{});
  PastRun past = Watched(story).taught.value();
  PastStage extra = past.stages[0];
  extra.name = "extra";
  for (auto& seconds : extra.seconds) {
    for (double& time : seconds) time = 1000;
  }
  past.stages.push_back(extra);
  past.stages[6].parents.push_back(7);
  const JobRun run = Watched(story, {past});
  EXPECT_GT(LeftAt(run, 50), 500) << "stage 6 is still to come";
  EXPECT_LT(LeftAt(run, 64), 30) << "stage 6 runs";
}

// Both jobs have map and reduce tasks and the same name. The larger job ran first.
TEST(SecondRun, DropsAPastRunOfOtherMapOrReduceTasks) {
  const Story story = JobThatReportsNoShuffle();
  const double unknown = ErrorOf(Watched(story), story);
  for (const auto& [maps, reduces] :
       std::vector<std::pair<std::uint32_t, std::uint32_t>>{{40, 2}, {2, 20}, {2, 0}, {0, 2}}) {
    const PastRun past = {.map_time = absl::Seconds(600),
                          .reduce_time = absl::Seconds(600),
                          .map_tasks = maps,
                          .reduce_tasks = reduces};
    const JobRun run = Watched(story, {past});
    EXPECT_DOUBLE_EQ(ErrorOf(run, story), unknown) << maps << " " << reduces;
  }
  const Story maps_alone = MapOnlyJob();
  const JobRun run = Watched(maps_alone, {{.map_time = absl::Seconds(600),
                                           .reduce_time = absl::Seconds(600),
                                           .map_tasks = 8,
                                           .reduce_tasks = 4}});
  EXPECT_DOUBLE_EQ(ErrorOf(run, maps_alone), ErrorOf(Watched(maps_alone), maps_alone));
}

TEST(SecondRun, KeepsAPastRunOfMoreTasksForMoreInput) {
  StoryTeller teller;
  teller.Master(0, Opened(20, 1));
  for (std::uint32_t i = 0; i < 20; ++i) teller.Master(1, Started(M(i), 1000));
  const JobRun run = Watched(StoryOf(std::move(teller), 5), {{.map_time = absl::Seconds(10),
                                                              .reduce_time = absl::Seconds(30),
                                                              .map_input_bytes = 2000,
                                                              .map_tasks = 2,
                                                              .reduce_tasks = 1}});
  EXPECT_NEAR(LeftAt(run, 2), 398, 40);
}

}  // namespace
}  // namespace tidemark::second_run_test
