// Tests how long a thread waits for a processor, and that reduce tasks report these waits.
#include "agent/processor_use.h"

#include <unistd.h>

#include "agent/monotonic.h"
#include "agent/reduce_recorder.h"
#include "agent/shared.h"
#include "tests/agent/recording_server.h"
#include "tests/agent/reduce_profiles.h"
#include "tests/test.h"
#include "tidemark/agent.h"

#ifdef __linux__
#include <sched.h>
#endif

namespace tidemark::agent::processor_use_test {
namespace {

bool HasSchedstat() { return ::access("/proc/self/schedstat", R_OK) == 0; }

TEST(ParseThreadTimes, ReadsTheFirstTwoNumbers) {
  EXPECT_EQ(ParseThreadTimes("479039 5210086 4\n"),
            (ThreadTimes{absl::Nanoseconds(479'039), absl::Nanoseconds(5'210'086)}));
  EXPECT_EQ(ParseThreadTimes("479039 0 4"),
            (ThreadTimes{absl::Nanoseconds(479'039), absl::ZeroDuration()}));
  EXPECT_EQ(ParseThreadTimes("1 9223372036854775807 1\n"),
            (ThreadTimes{absl::Nanoseconds(1), absl::Nanoseconds(9'223'372'036'854'775'807)}));
}

TEST(ParseThreadTimes, RejectsZerosOfAKernelThatDoesNotCount) {
  EXPECT_EQ(ParseThreadTimes("0 0 0\n"), std::nullopt);
}

TEST(ParseThreadTimes, RejectsOtherTexts) {
  for (const char* text :
       {"", "\n", "5", "5 6", "5 6\n", "5  6 7", "-5 6 7", "5 -6 7", "5 6x 7", "5 6 x",
        "no numbers here", "1 9223372036854775808 1", "1 99999999999999999999999 1", "0x5 6 7"}) {
    EXPECT_EQ(ParseThreadTimes(text), std::nullopt) << text;
  }
}

TEST(ProcessorWatch, ReturnsNothingForAnAbsentThread) {
  EXPECT_EQ(ProcessorWatch(0, 1).Read(2), std::nullopt);
  EXPECT_EQ(ProcessorWatch(0, 1).ReadTimes(2), TimeUse{});
  EXPECT_EQ(ProcessorWatch(-1, 1).Read(2), std::nullopt);
}

TEST(ProcessorWatch, ReturnsNothingAfterTheThreadHasEnded) {
  if (!HasSchedstat()) GTEST_SKIP() << "no schedstat files";
  std::atomic<int> number{0};
  std::atomic<bool> done{false};
  std::thread thread([&] {
    number.store(ThisThread());
    while (!done.load()) std::this_thread::yield();
  });
  while (number.load() == 0) std::this_thread::yield();
  ProcessorWatch watch(number.load(), NowNanos());
  EXPECT_NE(watch.Read(NowNanos() + 1), std::nullopt);
  done.store(true);
  thread.join();
  // The kernel removes the thread slightly after join() returns.
  const Instant deadline = std::chrono::steady_clock::now() + kPatience;
  while (watch.Read(NowNanos() + 1) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_EQ(watch.Read(NowNanos() + 1), std::nullopt);
  EXPECT_EQ(ProcessorWatch(number.load(), 1).Read(2), std::nullopt);
}

TEST(ProcessorWatch, CountsFromTheFirstSample) {
  if (!HasSchedstat()) GTEST_SKIP() << "no schedstat files";
  ProcessorWatch watch(ThisThread(), 1'000);
  EXPECT_EQ(watch.Read(1'000), std::nullopt) << "no time has passed";
  const std::optional<ProcessorUse> use = watch.Read(1'007);
  ASSERT_TRUE(use.has_value());
  EXPECT_EQ(use->watched, absl::Nanoseconds(7));
  EXPECT_GE(use->waited, absl::ZeroDuration());
  EXPECT_LE(use->waited, use->watched) << "whatever it waited before";
  EXPECT_GE(use->processors, 1u);
  const TimeUse times = watch.ReadTimes(1'007);
  EXPECT_LE(*times.cpu, absl::Nanoseconds(7)) << "whatever it used before";
  EXPECT_LE(*times.waits[WaitReason::kProcessor], absl::Nanoseconds(7));
  EXPECT_EQ(times.waits[WaitReason::kMemory], std::nullopt) << "nobody counts it";
}

#ifdef __linux__
void BindToProcessor(std::size_t processor) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  sched_setaffinity(0, sizeof(one), &one);
}

std::size_t FirstProcessor() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof(allowed), &allowed);
  std::size_t processor = 0;
  while (processor + 1 < CPU_SETSIZE && !CPU_ISSET(processor, &allowed)) ++processor;
  return processor;
}

TEST(ProcessorWatch, MeasuresWaitsOfThreadsOnOneProcessor) {
  if (!HasSchedstat()) GTEST_SKIP() << "no schedstat files";
  std::atomic<bool> done{false};
  std::atomic<int> number{0};
  const auto spin = [&, processor = FirstProcessor()] {
    BindToProcessor(processor);
    number.store(ThisThread());
    while (!done.load(std::memory_order_relaxed)) {
    }
  };
  std::thread first(spin);
  std::thread second(spin);
  while (number.load() == 0) std::this_thread::yield();
  ProcessorWatch watch(number.load(), NowNanos());
  std::optional<ProcessorUse> use;
  TimeUse times;
  const Instant deadline = std::chrono::steady_clock::now() + kPatience;
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    use = watch.Read(NowNanos());
    times = watch.ReadTimes(NowNanos());
  } while (use && (use->waited < absl::Milliseconds(20) || times.cpu < absl::Milliseconds(20)) &&
           std::chrono::steady_clock::now() < deadline);
  done.store(true);
  first.join();
  second.join();
  ASSERT_TRUE(use.has_value());
  EXPECT_GE(use->waited, absl::Milliseconds(20));
  EXPECT_LE(use->waited, use->watched);
  EXPECT_GE(times.cpu, absl::Milliseconds(20));
  EXPECT_GE(times.waits[WaitReason::kProcessor], absl::Milliseconds(20));
}
#endif

// An agent that reports only when it is flushed.
class ReportedTimes : public ::testing::Test {
 protected:
  void Flush() { ASSERT_TRUE(agent_->Flush(absl::Seconds(60))); }
  // Uses a processor until the agent has reported this use.
  void WorkUntilReported() {
    const auto is_reported = [&] {
      const std::vector<TaskHeartbeat> heartbeats = record_.all<TaskHeartbeat>();
      return !heartbeats.empty() && heartbeats.back().time.cpu > absl::Milliseconds(1);
    };
    const Instant deadline = std::chrono::steady_clock::now() + kPatience;
    while (!is_reported() && std::chrono::steady_clock::now() < deadline) Flush();
    EXPECT_TRUE(is_reported());
  }
  void RunGroup(ReduceTaskAgent& task) {
    task.BeginGroup("key");
    task.ValueRead(100);
    task.EndGroup();
    Flush();
  }

  std::atomic<bool> is_paused_ = false;
  Record record_;
  RecordingServer server_{record_, [this](const SentEvent& sent) {
                            std::optional<v1::StreamEventsResponse> response = Acknowledge(sent);
                            if (is_paused_) response->mutable_control()->set_paused(true);
                            return response;
                          }};
  std::unique_ptr<Agent> agent_ = Agent::Create({.master_address = server_.address(),
                                                 .job_id = "job-1",
                                                 .flush_interval = absl::Seconds(60)});
};

TEST_F(ReportedTimes, OfProcessorUseAreInEachProfile) {
  const auto task = agent_->StartReduceTask({});
  task->Shuffled();
  RunGroup(*task);
  RunGroup(*task);
  EXPECT_THAT(record_.invalid(), IsEmpty());
  const std::vector<ReduceProfile> profiles = record_.all<ReduceProfile>();
  ASSERT_THAT(profiles, SizeIs(2));
  ASSERT_EQ(profiles[0].processor_use.has_value(), HasSchedstat());
  ASSERT_EQ(profiles[1].processor_use.has_value(), HasSchedstat());
  if (!HasSchedstat()) GTEST_SKIP() << "no schedstat files";
  for (const ReduceProfile& profile : profiles) {
    EXPECT_GT(profile.processor_use->watched, absl::ZeroDuration());
    EXPECT_LE(profile.processor_use->waited, profile.processor_use->watched);
    EXPECT_GE(profile.processor_use->processors, 1u);
  }
  EXPECT_GT(profiles[1].processor_use->watched, profiles[0].processor_use->watched);
  EXPECT_GE(profiles[1].processor_use->waited, profiles[0].processor_use->waited);
}

TEST_F(ReportedTimes, OfProcessorUseAreReportedDuringAPause) {
  if (!HasSchedstat()) GTEST_SKIP() << "no schedstat files";
  is_paused_ = true;
  agent_->OpenJob({});
  Flush();
  const auto task = agent_->StartReduceTask({});
  task->Shuffled();
  RunGroup(*task);
  const std::vector<ReduceProfile> profiles = record_.all<ReduceProfile>();
  ASSERT_THAT(profiles, SizeIs(1));
  EXPECT_THAT(profiles[0].points, IsEmpty());
  EXPECT_TRUE(profiles[0].processor_use.has_value());
}

TEST_F(ReportedTimes, OfMapTasksAreInHeartbeats) {
  if (!HasSchedstat()) GTEST_SKIP() << "no schedstat files";
  const auto task = agent_->StartMapTask({});
  WorkUntilReported();
  task->Finish();
  Flush();
  EXPECT_THAT(record_.invalid(), IsEmpty());
  EXPECT_TRUE(record_.all<TaskHeartbeat>().back().time.waits[WaitReason::kProcessor].has_value());
}

TEST_F(ReportedTimes, OfReduceTasksContainTheShuffle) {
  if (!HasSchedstat()) GTEST_SKIP() << "no schedstat files";
  const auto task = agent_->StartReduceTask({});
  WorkUntilReported();
  task->Shuffled();
  RunGroup(*task);
  EXPECT_THAT(record_.invalid(), IsEmpty());
  const TimeUse shuffled = record_.all<TaskHeartbeat>().back().time;
  const std::vector<ReduceProfile> profiles = record_.all<ReduceProfile>();
  ASSERT_THAT(profiles, SizeIs(1));
  EXPECT_GE(profiles[0].time.cpu, shuffled.cpu) << "totals only grow";
  EXPECT_GE(profiles[0].time.waits[WaitReason::kProcessor], shuffled.waits[WaitReason::kProcessor]);
  ASSERT_TRUE(profiles[0].processor_use.has_value());
  EXPECT_LE(profiles[0].processor_use->waited, *profiles[0].time.waits[WaitReason::kProcessor])
      << "without the shuffle";
}

TEST_F(ReportedTimes, OfReduceTasksContainBothThreads) {
  if (!HasSchedstat()) GTEST_SKIP() << "no schedstat files";
  const auto task = agent_->StartReduceTask({});
  WorkUntilReported();
  std::thread reduces([&] {
    task->Shuffled();
    RunGroup(*task);
  });
  reduces.join();
  const TimeUse shuffled = record_.all<TaskHeartbeat>().back().time;
  const std::vector<ReduceProfile> profiles = record_.all<ReduceProfile>();
  ASSERT_THAT(profiles, SizeIs(1));
  ASSERT_TRUE(profiles[0].processor_use.has_value());
  EXPECT_GE(profiles[0].time.cpu, shuffled.cpu) << "totals only grow";
  EXPECT_LE(*profiles[0].time.cpu - *shuffled.cpu, profiles[0].processor_use->watched);
}

// In a simulation, the thread that plays a task is not the task's own thread.
class SimulatedClock final : public Clock {
 public:
  ClockReading Now() const override { return {absl::FromUnixSeconds(1'700'000'000), ++nanos_}; }
  std::int64_t Nanos() const override { return ++nanos_; }

 private:
  mutable std::int64_t nanos_ = 0;
};

TEST(ReduceTaskAgent, ReportsNoProcessorUseInSimulatedTime) {
  SimulatedClock clock;
  const auto shared = std::make_shared<Shared>(AgentOptions{}, "source", clock);
  ReduceRecorder task({}, shared);
  task.Shuffled();
  task.Finish();
  const std::vector<v1::ReduceProfile> profiles = SentProfiles(*shared, clock);
  ASSERT_THAT(profiles, SizeIs(1));
  EXPECT_FALSE(profiles[0].has_processor_use());
  EXPECT_FALSE(profiles[0].has_time_use());
}

}  // namespace
}  // namespace tidemark::agent::processor_use_test
