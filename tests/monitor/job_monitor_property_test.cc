// Tests that the snapshots of a monitor satisfy these invariants for any events. Numbers are
// finite, fractions are within 0..1, durations are not negative, lower <= median <= upper, and
// sequence numbers increase.
//
// Every stream has a seed, which is part of failure messages. TIDEMARK_SEED sets the first seed.

#include "tests/monitor/check_snapshot.h"
#include "tests/monitor/virtual_job.h"
#include "tests/test.h"
#include "tidemark/job_monitor.h"

namespace tidemark::job_monitor_property_test {
namespace {

using test::Check;
using test::Story;

std::uint64_t FirstSeed() {
  const char* given = std::getenv("TIDEMARK_SEED");
  return given == nullptr ? 1 : std::strtoull(given, nullptr, 10);
}

JobMonitorOptions AllIndicators() {
  JobMonitorOptions options;
  options.indicators = KnownIndicators();
  options.lambda = 2;  // With this value, keys are dropped.
  options.limits.map_tasks_max = 300;
  options.limits.reduce_tasks_max = 100;
  return options;
}

// Creates random events of valid types.
class Chaos {
 public:
  explicit Chaos(std::uint64_t seed) : random_(seed) {}

  std::uint64_t Below(std::uint64_t limit) { return random_() % limit; }
  bool OneIn(std::uint64_t n) { return Below(n) == 0; }

  template <typename T>
  T OneOf(std::vector<T> choices) {
    return choices[Below(choices.size())];
  }

  std::uint64_t Number() {
    constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
    return OneOf<std::uint64_t>({0, 1, 2, Below(100), 1000, 1000 + Below(100), 1'000'000,
                                 std::uint64_t{1} << 32, std::uint64_t{1} << 63, kMax - 1, kMax,
                                 random_() >> Below(64)});
  }
  absl::Duration Span() {
    return OneOf<absl::Duration>({absl::ZeroDuration(), absl::Nanoseconds(1), absl::Seconds(1),
                                  absl::Milliseconds(Below(9999)), absl::Seconds(-1),
                                  absl::Hours(1e9), absl::InfiniteDuration(),
                                  -absl::InfiniteDuration(), absl::Nanoseconds(Number() >> 1)});
  }
  absl::Time Instant() {
    return OneOf<absl::Time>(
        {At(static_cast<double>(Below(100))), At(static_cast<double>(Below(100))), At(1e6),
         absl::UnixEpoch(), absl::InfinitePast(), absl::InfiniteFuture(),
         absl::FromUnixSeconds(-62'135'596'800), absl::FromUnixSeconds(253'402'300'799)});
  }
  std::optional<absl::Time> MaybeInstant() {
    return OneIn(3) ? std::nullopt : std::optional<absl::Time>(Instant());
  }
  std::uint32_t Index() { return static_cast<std::uint32_t>(OneIn(20) ? Number() : Below(4)); }
  AttemptId Attempt(std::uint32_t stage) {
    return {.stage = OneIn(20) ? Index() : stage,
            .index = Index(),
            .attempt = OneIn(4) ? Index() : 0,
            .stage_attempt = OneIn(30) ? Index() : 0};
  }
  std::optional<std::uint32_t> MaybeCount() {
    if (OneIn(2)) return std::nullopt;
    return OneIn(6) ? static_cast<std::uint32_t>(Number()) : static_cast<std::uint32_t>(Below(5));
  }

  JobOpened Opened() {
    JobOpened opened{.name = "chaos",
                     .submitted_at = MaybeInstant(),
                     .stages = MapReduceStages(MaybeCount(), MaybeCount())};
    for (StageOpened& stage : opened.stages) stage.slots = MaybeCount();
    opened.stages[kMapStage].partition_count = MaybeCount();
    if (OneIn(3)) opened.stages.push_back(Stage());
    if (OneIn(5)) opened.stages.pop_back();
    return opened;
  }
  StageOpened Stage() {
    StageOpened stage{
        .stage = Index(),
        .attempt = OneIn(4) ? Index() : 0,
        .parents = {Index()},
        .group = OneIn(2) ? "a" : "b",
        .kind = OneOf<StageKind>({StageKind::kGeneric, StageKind::kMap, StageKind::kReduce}),
        .task_count = MaybeCount(),
        .slots = MaybeCount()};
    if (OneIn(2)) stage.task_bytes = {Number(), Number()};
    return stage;
  }
  AttemptChanged Changed() {
    using enum AttemptState;
    AttemptChanged changed{
        .attempt = Attempt(OneIn(2) ? kMapStage : kReduceStage),
        .state = OneOf<AttemptState>({kQueued, kStarted, kStarted, kStarted, kShuffled, kFinished,
                                      kFailed, kKilled, kObsolete, kLost}),
        .at = MaybeInstant()};
    if (OneIn(3)) changed.input_bytes = Number();
    return changed;
  }
  TaskHeartbeat Heartbeat() {
    return {Attempt(OneIn(2) ? kMapStage : kReduceStage), Number(), Number(), Number()};
  }
  std::vector<ExplicitKey> Keys() {
    std::vector<ExplicitKey> keys(Below(6));
    for (ExplicitKey& key : keys) key = {KeyHash{Below(200)}, Number()};
    return keys;
  }
  std::vector<FinishedKey> FinishedKeys() {
    std::vector<FinishedKey> keys;
    for (const ExplicitKey& key : Keys())
      keys.push_back({key.key, key.size_bytes, Span(), Number()});
    return keys;
  }
  MapProfile Emitted() {
    MapProfile profile{.attempt = Attempt(kMapStage)};
    for (std::uint64_t i = Below(4); i-- > 0;) {
      PartitionProfile partition{.partition = Index(),
                                 .total_bytes = Number(),
                                 .explicit_keys = Keys(),
                                 .implicit_key_count = Number(),
                                 .implicit_bytes = Number()};
      if (OneIn(3)) partition.scanned_bytes = Number();
      profile.partitions.push_back(partition);
    }
    return profile;
  }
  ReduceProfile Reduced() {
    ReduceProfile profile{.attempt = Attempt(kReduceStage),
                          .last_group_finished_at = MaybeInstant(),
                          .groups_done = Number(),
                          .bytes_done = Number(),
                          .reduce_time = Span(),
                          .keys_named = OneIn(2),
                          .named_group_bytes_min = Number(),
                          .finished_keys = FinishedKeys(),
                          .dropped_points = Number()};
    for (std::uint64_t i = Below(8); i-- > 0;) {
      profile.points.push_back({Number(), OneIn(4) ? Number() : 1, Span()});
      profile.bins.push_back({Index(), Number(), Number(), NAN, HUGE_VAL});
    }
    if (OneIn(2)) {
      profile.running_group =
          RunningGroup{KeyHash{Below(200)}, Span(), Number(), Number(), Number()};
    }
    return profile;
  }
  EventBody Body() {
    switch (Below(15)) {
      case 0:
        return Opened();
      case 1:
      case 2:
      case 3:
        return Changed();
      case 4:
        return Heartbeat();
      case 5:
      case 6:
        return Emitted();
      case 7:
        if (OneIn(20))
          return JobClosed{OneOf<JobOutcome>({JobOutcome::kSucceeded}), "", MaybeInstant()};
        [[fallthrough]];
      default:
        return Reduced();
      case 12:
        return StageClosed{.stage = Index(),
                           .attempt = OneIn(4) ? Index() : 0,
                           .outcome = OneIn(2) ? JobOutcome::kSucceeded : JobOutcome::kFailed,
                           .at = MaybeInstant()};
      case 13:
        if (OneIn(2)) return GroupOpened{OneIn(2) ? "a" : "b", "sales", MaybeInstant()};
        return GroupClosed{.group = OneIn(2) ? "a" : "b", .at = MaybeInstant()};
      case 14:
        if (OneIn(2)) return ExecutorOpened{.executor = Index(), .slots = Index()};
        return ExecutorClosed{Index()};
    }
  }
  // Returns past runs of this job and of other jobs, as a history may contain them.
  std::vector<PastRun> PastRuns() {
    std::vector<PastRun> runs(Below(12));
    for (PastRun& run : runs) {
      run = {.map_time = Span(),
             .shuffle_time = Span(),
             .reduce_time = Span(),
             .map_input_bytes = Number(),
             .is_of_other_job = OneIn(2)};
      if (OneIn(3)) continue;
      run.interval_score = OneOf<double>({0, 1, 5, -1, 1e300, NAN, HUGE_VAL, -HUGE_VAL});
    }
    return runs;
  }
  // Returns the event `number` of a stream.
  Event Next(double seconds, std::uint64_t number) {
    return {.job_id = "job-1",
            .source_id = "source-" + std::to_string(Below(3)),
            .sequence = OneIn(20) ? Number() : number + 1,
            .sent_at = OneIn(3) ? Instant() : At(seconds),
            .arrived_at = OneIn(50) ? Instant() : At(seconds),
            .dropped_events = Number(),
            .body = number == 0 ? EventBody(Opened()) : Body()};
  }

 private:
  std::mt19937_64 random_;
};

// Applies `events`, and ticks after every third event. A second monitor must return the same
// snapshots, and so must a third monitor that resumes from a checkpoint halfway.
void CheckStream(const std::vector<Event>& events, const JobMonitorOptions& options,
                 const std::vector<PastRun>& past = {}) {
  JobMonitor monitor("job-1", options);
  JobMonitor twin("job-1", options);
  JobMonitor resumed("job-1", options);
  for (JobMonitor* each : {&monitor, &twin, &resumed}) each->SetPastRuns(past);
  bool has_resumed = false;
  double now = 0;
  std::uint64_t sequence = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(monitor.Apply(events[i]), twin.Apply(events[i]));
    resumed.Apply(events[i]).IgnoreError();
    if (events[i].arrived_at < absl::InfiniteFuture()) {
      now = std::max(now, absl::ToDoubleSeconds(events[i].arrived_at - At(0)));
    }
    if (i % 3 != 0) continue;
    const bool was_closed = monitor.is_closed();
    const Snapshot snapshot = monitor.Tick(At(now));
    Check(snapshot);
    EXPECT_EQ(snapshot, twin.Tick(At(now)));
    if (has_resumed) {
      EXPECT_EQ(snapshot, resumed.Tick(At(now)));
    } else if (i >= events.size() / 2 && !snapshot.is_final) {
      ASSERT_TRUE(resumed.Resume(monitor.Checkpoint()).ok());
      has_resumed = true;
    }
    EXPECT_TRUE(snapshot.sequence == sequence + 1 || (was_closed && snapshot.sequence == sequence));
    sequence = snapshot.sequence;
    if (testing::Test::HasFailure()) FAIL() << "after event " << i << ", snapshot " << sequence;
  }
}

TEST(JobMonitorProperty, HoldsForRandomEvents) {
  for (std::uint64_t seed = FirstSeed(); seed < FirstSeed() + 100; ++seed) {
    SCOPED_TRACE("TIDEMARK_SEED=" + std::to_string(seed));
    Chaos chaos(seed);
    std::vector<Event> events;
    for (std::uint64_t i = 0; i < 90; ++i) events.push_back(chaos.Next(static_cast<double>(i), i));
    ASSERT_NO_FATAL_FAILURE(CheckStream(events, AllIndicators()));
  }
}

TEST(JobMonitorProperty, HoldsForAJobWithAFewRandomEvents) {
  const Story story = Tell(test::QuadraticJob());
  for (std::uint64_t seed = FirstSeed(); seed < FirstSeed() + 20; ++seed) {
    SCOPED_TRACE("TIDEMARK_SEED=" + std::to_string(seed));
    Chaos chaos(seed);
    std::vector<Event> events;
    std::uint64_t number = 0;
    for (const Event& event : story.events) {
      if (chaos.OneIn(4)) continue;
      events.push_back(event);
      if (chaos.OneIn(40)) {
        events.push_back(chaos.Next(absl::ToDoubleSeconds(event.arrived_at - At(0)), ++number));
      }
    }
    ASSERT_NO_FATAL_FAILURE(CheckStream(events, AllIndicators()));
  }
}

TEST(JobMonitorProperty, HoldsForRandomPastRuns) {
  const Story story = Tell(test::QuadraticJob());
  for (std::uint64_t seed = FirstSeed(); seed < FirstSeed() + 10; ++seed) {
    SCOPED_TRACE("TIDEMARK_SEED=" + std::to_string(seed));
    Chaos chaos(seed);
    ASSERT_NO_FATAL_FAILURE(CheckStream(story.events, AllIndicators(), chaos.PastRuns()));
    std::vector<Event> events;
    for (std::uint64_t i = 0; i < 60; ++i) events.push_back(chaos.Next(static_cast<double>(i), i));
    ASSERT_NO_FATAL_FAILURE(CheckStream(events, AllIndicators(), chaos.PastRuns()));
  }
}

TEST(JobMonitorProperty, HoldsForEventsInAnyOrderAndRepeated) {
  const Story story = Tell(test::QuadraticJob());
  for (std::uint64_t seed = FirstSeed(); seed < FirstSeed() + 10; ++seed) {
    SCOPED_TRACE("TIDEMARK_SEED=" + std::to_string(seed));
    std::vector<Event> events = story.events;
    events.insert(events.end(), story.events.begin(), story.events.end());
    std::mt19937_64 random(seed);
    std::shuffle(events.begin() + 1, events.end(), random);
    for (std::size_t i = 0; i < events.size(); ++i) {
      events[i].arrived_at = At(static_cast<double>(i));  // The master also uses the order.
      if (std::holds_alternative<JobClosed>(events[i].body)) events[i].body = TaskHeartbeat{};
    }
    ASSERT_NO_FATAL_FAILURE(CheckStream(events, AllIndicators()));
  }
}

TEST(JobMonitorProperty, HoldsForTheLargestJob) {
  Chaos chaos(FirstSeed());
  JobMonitorOptions options;
  std::vector<Event> events = {Source("a").At(0, test::Opened(200'000, 20'000))};
  Source source("b");
  for (int i = 1; i < 9; ++i) {
    ReduceProfile profile = chaos.Reduced();
    profile.attempt = test::R(static_cast<std::uint32_t>(2000 * i));
    events.push_back(source.At(i, profile));
  }
  ASSERT_NO_FATAL_FAILURE(CheckStream(events, options));
}

}  // namespace
}  // namespace tidemark::job_monitor_property_test
