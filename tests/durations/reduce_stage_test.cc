#include "master/forecast/durations/reduce_stage.h"

#include "master/forecast/dag/application_forecast.h"
#include "tests/facts/events.h"
#include "tests/test.h"

namespace tidemark::durations::reduce_stage_test {
namespace {

class HostSharingTest : public ::testing::Test {
 protected:
  HostSharingTest() { EXPECT_TRUE(job_.Say(0, Opened(0, 8)).ok()); }

  // Starts the reduce function of the task `index`. The task waits for a processor for the fraction
  // `waited` of its time.
  void Runs(std::uint32_t index, const std::string& host, double waited,
            std::uint32_t processors = 2) {
    AttemptChanged changed;
    changed.attempt = R(index);
    changed.state = AttemptState::kStarted;
    // Each task runs in its own executor.
    changed.executor = index;
    job_.Fold({{1, ExecutorOpened{.executor = index, .host = host}}, {1, changed}});
    changed.state = AttemptState::kShuffled;
    job_.Add(1, changed);
    ReduceProfile profile = Reduced(R(index), At(2), {});
    profile.processor_use = ProcessorUse{absl::Seconds(1), absl::Seconds(waited), processors};
    job_.Add(2, profile);
  }
  placement::SharedHost HostOf(std::size_t task) const {
    const HostSharing sharing = ObserveHosts(job_.state);
    return sharing.hosts[sharing.host_of_task[task]];
  }
  bool IsFelt() const { return ObserveHosts(job_.state).is_contended; }

  Job job_;
};

TEST_F(HostSharingTest, IsEmptyWithoutRunningTasks) {
  EXPECT_TRUE(ObserveHosts(job_.state).hosts.empty());
  EXPECT_FALSE(IsFelt());
}

TEST_F(HostSharingTest, TasksWithShortWaitsRunAtFullSpeed) {
  Runs(0, "a", 0.02);
  Runs(1, "a", 0.03);
  EXPECT_FALSE(IsFelt());
  EXPECT_EQ(HostOf(0).Speed(2), 1);
}

// Four tasks at half speed on two processors have no competitors.
TEST_F(HostSharingTest, TasksOfTheJobCanCrowdAHost) {
  for (std::uint32_t task = 0; task < 4; ++task) Runs(task, "a", 0.5);
  EXPECT_TRUE(IsFelt());
  EXPECT_NEAR(HostOf(0).others, 0, 1e-9);
  EXPECT_NEAR(HostOf(0).Speed(4), 0.5, 1e-9);
  EXPECT_NEAR(HostOf(0).Speed(2), 1, 1e-9);
}

// One task runs at half speed on two processors, so four tasks compete, of which three are outside
// the job.
TEST_F(HostSharingTest, OtherProcessesStay) {
  Runs(0, "a", 0.5);
  EXPECT_NEAR(HostOf(0).others, 3, 1e-9);
  EXPECT_NEAR(HostOf(0).Speed(1), 0.5, 1e-9);
}

// Four tasks run at speed 0.8 on two processors. Each uses less than one processor, so the speed
// remains 0.8.
TEST_F(HostSharingTest, TasksThatUsePartOfAProcessorKeepTheirSpeed) {
  for (std::uint32_t task = 0; task < 4; ++task) Runs(task, "a", 0.2);
  EXPECT_NEAR(HostOf(0).Speed(4), 0.8, 1e-9);
}

TEST_F(HostSharingTest, HostsAreIndependent) {
  Runs(0, "a", 0.5);
  Runs(1, "b", 0);
  EXPECT_NEAR(HostOf(0).Speed(1), 0.5, 1e-9);
  EXPECT_EQ(HostOf(1).Speed(1), 1);
}

TEST_F(HostSharingTest, KeepsTheSpeedOfAHostWithoutNameOrProcessors) {
  Runs(0, "", 0.5);
  Runs(1, "b", 0.75, /*processors=*/0);
  EXPECT_TRUE(IsFelt());
  EXPECT_NEAR(HostOf(0).Speed(1), 0.5, 1e-3);
  EXPECT_NEAR(HostOf(0).Speed(3), 0.5, 1e-3);
  EXPECT_NEAR(HostOf(1).Speed(1), 0.25, 1e-3);
}

// Returns a task with this remaining time under the only curve.
ReduceTaskLeft Left(std::size_t index, double seconds, bool is_running) {
  ReduceTaskLeft task{.index = index, .waiting = GroupTimes(1), .is_running = is_running};
  task.waiting.seconds[0] = task.waiting.mean = seconds;
  return task;
}

constexpr double kOnly[] = {1.0};

dag::ApplicationForecast Ends(std::span<const ReduceTaskLeft> tasks,
                              std::span<const double> weights, std::size_t slots,
                              std::vector<placement::SharedHost> hosts = {},
                              std::vector<std::uint32_t> host_of_running = {}) {
  dag::Application application = {.draws = &FixedDraws::For(tasks.size()),
                                  .hosts = std::move(hosts),
                                  .host_of_running = {std::move(host_of_running)}};
  application.stages.push_back(ReduceStage(tasks, weights, slots, *application.draws));
  application.on.cluster = {.capacity = {.cores = 1000}, .policy = placement::Policy::kFifo};
  return dag::ForecastApplication(application).value();
}

double Median(std::span<const ReduceTaskLeft> tasks, std::size_t slots) {
  return Ends(tasks, kOnly, slots).end.median;
}

std::vector<double> TaskEnds(std::span<const ReduceTaskLeft> tasks, std::size_t slots) {
  return Ends(tasks, kOnly, slots).stages[0].task_ends;
}

TEST(ReduceStage, EndsNowWithoutTasks) { EXPECT_EQ(Median({}, 4), 0); }

TEST(ReduceStage, EndsWithTheLongestRunningTask) {
  const std::vector<ReduceTaskLeft> tasks = {Left(0, 10, true), Left(1, 30, true)};
  EXPECT_NEAR(Median(tasks, 2), 30, 1e-9);
  EXPECT_NEAR(TaskEnds(tasks, 2)[0], 10, 1e-9);
}

// Slot 0 is free after 10 s, and slot 1 after 30 s. Tasks of 15 s and 5 s start at 10 s and 25 s.
TEST(ReduceStage, WaitingTasksTakeTheFirstFreeSlot) {
  const std::vector<ReduceTaskLeft> tasks = {Left(0, 10, true), Left(1, 30, true),
                                             Left(2, 15, false), Left(3, 5, false)};
  EXPECT_NEAR(TaskEnds(tasks, 2)[2], 25, 1e-9);
  EXPECT_NEAR(TaskEnds(tasks, 2)[3], 30, 1e-9);
  EXPECT_NEAR(Median(tasks, 2), 30, 1e-9);
}

TEST(ReduceStage, FreeSlotsAreUsedImmediately) {
  const std::vector<ReduceTaskLeft> tasks = {Left(0, 10, false), Left(1, 20, false)};
  EXPECT_NEAR(Median(tasks, 2), 20, 1e-9);
  EXPECT_NEAR(Median(tasks, 1), 30, 1e-9);
}

TEST(ReduceStage, SlowNodesAndShufflesDelayTheEnd) {
  std::vector<ReduceTaskLeft> tasks = {Left(0, 10, true)};
  tasks[0].speed = {2, 0};
  tasks[0].delay = 3;
  EXPECT_NEAR(Median(tasks, 1), 23, 1e-9);
}

TEST(ReduceStage, ATaskEndsWithTheFirstOfItsAttempts) {
  std::vector<ReduceTaskLeft> tasks = {Left(0, 100, true)};
  tasks[0].other = OtherAttempt{.seconds = 40};
  EXPECT_NEAR(Median(tasks, 1), 40, 1e-9);
  tasks[0].other = OtherAttempt{.seconds = 400};
  EXPECT_NEAR(Median(tasks, 1), 100, 1e-9);
}

TEST(ReduceStage, ATaskProgressesBetweenReports) {
  std::vector<ReduceTaskLeft> tasks = {Left(0, 100, true), Left(1, 50, true)};
  tasks[0].since_report = 30;
  tasks[1].since_report = 80;
  EXPECT_NEAR(TaskEnds(tasks, 2)[0], 70, 1e-9);
  EXPECT_EQ(TaskEnds(tasks, 2)[1], 0);
}

// Four tasks on two processors (1, 1, 1 and 4 s each without competition) take 2 s together. Then
// the last task has 3 s left and its own processor.
TEST(ReduceStage, SpeedsUpTheLastTaskOfACrowdedHost) {
  const std::vector<ReduceTaskLeft> tasks = {Left(0, 1, true), Left(1, 1, true), Left(2, 1, true),
                                             Left(3, 4, true)};
  const dag::ApplicationForecast ends = Ends(tasks, kOnly, 4, {{.processors = 2}}, {0, 0, 0, 0});
  EXPECT_NEAR(ends.stages[0].task_ends[0], 2, 1e-9);
  EXPECT_NEAR(ends.end.median, 5, 1e-9);
}

TEST(ReduceStage, InfiniteTimesAreForever) {
  const std::vector<ReduceTaskLeft> tasks = {Left(0, HUGE_VAL, true), Left(1, 1, true)};
  EXPECT_GE(Ends(tasks, kOnly, 2, {{.processors = 1}}, {0, 0}).end.median, placement::kForever);
  EXPECT_GE(Median(tasks, 2), placement::kForever);
}

// All tasks share the error of the sample, so that the second task does not reduce it.
TEST(ReduceStage, TheErrorOfTheSampleIsCommonToAllTasks) {
  std::vector<ReduceTaskLeft> tasks = {Left(0, 100, true), Left(1, 100, false)};
  for (ReduceTaskLeft& task : tasks) task.waiting.sampling = 10;
  const dag::SecondsRange end = Ends(tasks, kOnly, 1).end;
  EXPECT_NEAR(end.median, 200, 1);
  EXPECT_NEAR(end.upper, 200 + 1.645 * 20, 2);
  EXPECT_NEAR(end.lower, 200 - 1.645 * 20, 2);
}

TEST(ReduceStage, NoiseWidensTheInterval) {
  std::vector<ReduceTaskLeft> tasks = {Left(0, 100, true)};
  tasks[0].waiting.noise_variance = 400;  // 20 s
  const dag::SecondsRange end = Ends(tasks, kOnly, 1).end;
  EXPECT_NEAR(end.median, 98, 3);
  EXPECT_NEAR(end.upper - end.lower, 2 * 1.645 * 20, 10);
}

TEST(ReduceStage, DifferentCurvesWidenTheInterval) {
  ReduceTaskLeft task{.waiting = GroupTimes(2), .is_running = true};
  task.waiting.seconds = {50, 200};
  task.waiting.mean = 125;
  const std::vector<double> weights = {0.5, 0.5};
  const dag::SecondsRange end = Ends({&task, 1}, weights, 1).end;
  EXPECT_LT(end.lower, 60);
  EXPECT_GT(end.upper, 190);
}

TEST(ReduceStage, IsDeterministic) {
  std::vector<ReduceTaskLeft> tasks = {Left(0, 100, true), Left(1, 90, true)};
  for (ReduceTaskLeft& task : tasks) task.waiting.noise_variance = 100;
  EXPECT_EQ(Median(tasks, 2), Median(tasks, 2));
}

}  // namespace
}  // namespace tidemark::durations::reduce_stage_test
