// Tests that events arrive once and in order at a server that records them.
#include "tidemark/agent.h"

#include "streaming/key_sample.h"
#include "streaming/size_histogram.h"
#include "tests/agent/recording_server.h"
#include "tests/test.h"

namespace tidemark::agent::agent_test {
namespace {

class AgentTest : public ::testing::Test {
 protected:
  std::unique_ptr<Agent> Connect(AgentOptions options = {}) {
    options.master_address = server_.address();
    options.job_id = "job-1";
    if (options.source_id.empty()) options.source_id = "source-1";
    // Sufficient for a busy machine. A working agent needs less time.
    options.shutdown_budget = absl::Seconds(60);
    return Agent::Create(options);
  }
  // Creates an agent that reports only when it is flushed.
  std::unique_ptr<Agent> ConnectUnflushed(AgentOptions options = {}) {
    options.flush_interval = absl::Seconds(60);
    return Connect(std::move(options));
  }
  void TearDown() override { EXPECT_THAT(record_.invalid(), IsEmpty()); }

  Record record_;
  std::mutex answer_mutex_;
  Answer answer_ = Acknowledge;  // guarded by answer_mutex_
  RecordingServer server_{record_, [this](const SentEvent& sent) {
                            const std::lock_guard lock(answer_mutex_);
                            return answer_(sent);
                          }};

  void AnswerWith(Answer answer) {
    const std::lock_guard lock(answer_mutex_);
    answer_ = std::move(answer);
  }
  // Creates an agent that has received this control message.
  std::unique_ptr<Agent> ConnectControlled(const v1::Control& control, AgentOptions options = {}) {
    AnswerWithControl(control);
    auto agent = ConnectUnflushed(std::move(options));
    agent->OpenJob({});
    EXPECT_TRUE(agent->Flush(absl::Seconds(60)));
    return agent;
  }
  std::unique_ptr<Agent> ConnectForPoints(AgentOptions options = {}) {
    v1::Control control;
    control.set_send_points(true);
    return ConnectControlled(control, std::move(options));
  }
  std::unique_ptr<Agent> ConnectPaused() {
    v1::Control control;
    control.set_paused(true);
    return ConnectControlled(control);
  }
  // Ends the task and returns its last profile.
  ReduceProfile LastProfile(Agent& agent, ReduceTaskAgent& task) {
    task.Finish();
    EXPECT_TRUE(agent.Flush(absl::Seconds(60)));
    return record_.all<ReduceProfile>().back();
  }
  // Acknowledges events and sends this control message to every source.
  void AnswerWithControl(const v1::Control& control) {
    AnswerWith([control](const SentEvent& sent) {
      std::optional<v1::StreamEventsResponse> response = Acknowledge(sent);
      *response->mutable_control() = control;
      return response;
    });
  }
};

std::optional<v1::StreamEventsResponse> Reject(const SentEvent& sent, grpc::StatusCode code,
                                               const char* reason) {
  std::optional<v1::StreamEventsResponse> response = Acknowledge(sent);
  v1::Rejection& rejection = *response->add_rejections();
  rejection.set_sequence(sent.sequence);
  rejection.set_code(code);
  rejection.set_reason(reason);
  return response;
}

std::unique_ptr<ReduceTaskAgent> StartShuffled(Agent& agent) {
  auto task = agent.StartReduceTask({});
  task->Shuffled();
  return task;
}

void RunGroup(ReduceTaskAgent& task, const std::string& key, std::uint64_t values,
              std::uint64_t value_bytes) {
  task.BeginGroup(key);
  for (std::uint64_t i = 0; i < values; ++i) task.ValueRead(value_bytes);
  task.BytesEmitted(1);
  task.EndGroup();
}

// Returns the keys and sizes of the finished key groups that a profile names.
std::vector<ExplicitKey> KeysOf(const ReduceProfile& profile) {
  std::vector<ExplicitKey> keys;
  for (const FinishedKey& key : profile.finished_keys) keys.push_back({key.key, key.size_bytes});
  return keys;
}

absl::Duration SumTimes(const std::vector<ReduceProfile>& profiles) {
  absl::Duration sum;
  for (const ReduceProfile& profile : profiles) {
    for (const GroupBin& bin : profile.bins) sum += absl::Seconds(bin.seconds);
  }
  return sum;
}

TEST_F(AgentTest, EventsOfAJobArriveOnceAndInOrder) {
  const auto agent = Connect();
  agent->OpenJob({.name = "word count", .stages = MapReduceStages(1, {})});
  for (std::uint32_t i = 0; i < 100; ++i) {
    agent->Changed({.attempt = {kMapStage, i, 0}, .state = AttemptState::kStarted});
  }
  agent->CloseJob(JobOutcome::kFailed, "disk full");
  EXPECT_TRUE(agent->Flush(absl::Seconds(60)));

  const std::vector<Event> events = record_.events();
  ASSERT_THAT(events, SizeIs(102));
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].sequence, i + 1);
    EXPECT_EQ(events[i].job_id, "job-1");
    EXPECT_EQ(events[i].source_id, "source-1");
  }
  EXPECT_EQ(std::get<JobOpened>(events.front().body).name, "word count");
  EXPECT_EQ(std::get<AttemptChanged>(events[1].body).attempt.index, 0u);
  EXPECT_EQ(std::get<AttemptChanged>(events[100].body).attempt.index, 99u);
  EXPECT_EQ(std::get<JobClosed>(events.back().body).message, "disk full");
  EXPECT_EQ(record_.repeated(), 0u);

  const AgentStats stats = agent->stats();
  EXPECT_EQ(stats.events_sent, 102u);
  EXPECT_EQ(stats.events_acknowledged, 102u);
  EXPECT_EQ(stats.events_dropped, 0u);
  EXPECT_EQ(stats.connections_made, 1u);
  EXPECT_EQ(stats.last_error, "");
}

// The stage exceeds both the buffer and the maximum size of a message.
TEST_F(AgentTest, LeavesOutSizesOfAStageTooLargeForAMessage) {
  StageOpened stage{.stage = 3, .kind = StageKind::kGeneric, .task_count = 1'000'000};
  stage.task_bytes.assign(1'000'000, ~std::uint64_t{0});
  stage.task_records.assign(1'000'000, 1);
  for (const std::size_t buffer : {std::size_t{1} << 20, std::size_t{16} << 20}) {
    const auto agent = Connect({.buffer_bytes_max = buffer});
    agent->OpenJob({.name = "query"});
    agent->OpenStage(stage);
    agent->Changed({.attempt = {.stage = 3}, .state = AttemptState::kStarted});
    EXPECT_TRUE(agent->Flush(absl::Seconds(60)));
    EXPECT_EQ(agent->stats().stages_without_sizes, 1u);
    EXPECT_EQ(agent->stats().events_dropped, 0u);
    agent->Shutdown();
  }
  for (const Event& event : record_.events()) {
    const auto* opened = std::get_if<StageOpened>(&event.body);
    if (opened == nullptr) continue;
    EXPECT_EQ(opened->task_count, 1'000'000u);
    EXPECT_TRUE(opened->task_bytes.empty());
  }
}

TEST_F(AgentTest, SendsSizesOfAStageThatFits) {
  StageOpened stage{.stage = 3, .kind = StageKind::kGeneric, .task_count = 20'000};
  stage.task_bytes.assign(20'000, ~std::uint64_t{0});
  const auto agent = Connect();
  agent->OpenJob({.name = "query", .stages = {stage}});
  EXPECT_TRUE(agent->Flush(absl::Seconds(60)));
  EXPECT_EQ(std::get<JobOpened>(record_.events()[0].body).stages[0], stage);
}

TEST_F(AgentTest, OpensExcessStagesOneByOne) {
  JobOpened job{.name = "query", .stages = std::vector<StageOpened>(10'002)};
  for (std::uint32_t i = 0; i < job.stages.size(); ++i) job.stages[i].stage = i;
  const auto agent = Connect({.buffer_bytes_max = std::size_t{32} << 20});
  agent->OpenJob(job);
  EXPECT_TRUE(agent->Flush(absl::Seconds(60)));
  const std::vector<Event> events = record_.events();
  ASSERT_THAT(events, SizeIs(3));
  EXPECT_THAT(std::get<JobOpened>(events[0].body).stages, SizeIs(10'000));
  EXPECT_EQ(std::get<StageOpened>(events[2].body).stage, 10'001u);
}

TEST_F(AgentTest, EveryEventContainsItsRun) {
  const auto agent = Connect({.run_uid = "run-1"});
  agent->OpenJob({});
  agent->StartMapTask({})->Finish();
  agent->CloseJob(JobOutcome::kSucceeded, "");
  ASSERT_TRUE(agent->Flush(absl::Seconds(60)));
  ASSERT_THAT(record_.events(), SizeIs(testing::Ge(3u)));
  for (const Event& event : record_.events()) EXPECT_EQ(event.run_uid, "run-1");
  EXPECT_NE(MakeRunUid(), MakeRunUid());
}

TEST_F(AgentTest, ReportsAnIdInUseBeforeTheJobStarts) {
  AnswerWith([](const SentEvent& sent) {
    return sent.body.has_job_opened()
               ? Reject(sent, grpc::StatusCode::ALREADY_EXISTS, "another run")
               : Reject(sent, grpc::StatusCode::FAILED_PRECONDITION, "of another run");
  });
  const auto agent = Connect({.run_uid = "run-1"});
  EXPECT_EQ(agent->stats().job_refusal, "");
  agent->OpenJob({});
  EXPECT_TRUE(agent->Flush(absl::Seconds(60)));
  EXPECT_EQ(agent->stats().job_refusal, "another run");
  agent->Changed({.state = AttemptState::kStarted});
  EXPECT_TRUE(agent->Flush(absl::Seconds(60)));
  EXPECT_EQ(agent->stats().job_refusal, "another run");
}

TEST_F(AgentTest, EventsCarryTheirOwnTime) {
  const absl::Time before = absl::Now();
  const auto agent = Connect();
  agent->OpenJob({});
  agent->Changed({.state = AttemptState::kQueued});
  agent->Changed({.state = AttemptState::kStarted, .at = absl::UnixEpoch()});
  agent->CloseJob(JobOutcome::kSucceeded, "");
  ASSERT_TRUE(agent->Flush(absl::Seconds(60)));

  EXPECT_GE(record_.all<JobOpened>().at(0).submitted_at, before);
  EXPECT_GE(record_.all<AttemptChanged>().at(0).at, before);
  EXPECT_EQ(record_.all<AttemptChanged>().at(1).at, absl::UnixEpoch());
  EXPECT_GE(record_.all<JobClosed>().at(0).at, before);
  for (const Event& event : record_.events()) EXPECT_GE(event.sent_at, before);
}

TEST_F(AgentTest, AProcessHasItsOwnSourceId) {
  Agent::Create({.master_address = server_.address(), .job_id = "job-1"})->OpenJob({});
  AgentOptions options{.master_address = server_.address(), .job_id = "job-1"};
  options.shutdown_budget = absl::Seconds(60);
  const auto agent = Agent::Create(options);
  agent->OpenJob({});
  ASSERT_TRUE(agent->Flush(absl::Seconds(60)));
  EXPECT_FALSE(record_.events().back().source_id.empty());
}

TEST_F(AgentTest, AMapTaskSendsItsTotalsAndItsProfile) {
  const auto agent = Connect({.lambda = 2});
  const auto task = agent->StartMapTask({.index = 17});
  task->InputRead(1000, 10);
  task->InputRead(500, 5);
  task->AddGroup(0, "a", 10);
  task->AddGroup(0, "b", 700);
  task->AddGroup(2, "c", 300);
  task->AddGroup(2, "d", 20);
  task->Finish();
  task->Finish();
  task->AddGroup(2, "e", 20);
  agent->Changed({.attempt = {kMapStage, 17, 0}, .state = AttemptState::kFinished});
  ASSERT_TRUE(agent->Flush(absl::Seconds(60)));

  const AttemptId id{kMapStage, 17, 0};
  const TaskHeartbeat heartbeat = record_.all<TaskHeartbeat>().back();
  EXPECT_EQ(heartbeat, (TaskHeartbeat{id, 1500, 15, 1030, heartbeat.time}));
  ASSERT_THAT(record_.all<MapProfile>(), SizeIs(1));
  const MapProfile profile = record_.all<MapProfile>()[0];
  EXPECT_EQ(profile.attempt, id);
  ASSERT_THAT(profile.partitions, SizeIs(2));
  EXPECT_EQ(profile.partitions[0].total_bytes, 710u);
  EXPECT_THAT(profile.partitions[0].explicit_keys,
              ElementsAre(ExplicitKey{streaming::HashKey("b"), 700}));
  EXPECT_EQ(profile.partitions[0].implicit_bytes, 10u);
  EXPECT_EQ(profile.partitions[1].total_bytes, 320u);
  EXPECT_THAT(profile.partitions[1].explicit_keys,
              ElementsAre(ExplicitKey{streaming::HashKey("c"), 300}));
  // The profile precedes the event that the engine reported after Finish().
  EXPECT_TRUE(std::holds_alternative<AttemptChanged>(record_.events().back().body));
}

// 2,000 of 2,600 keys are explicit. The samples have about 470 of the others, since the sample by
// size omits high ranks.
TEST_F(AgentTest, AProfileWithoutSomeKeysIsNotComplete) {
  constexpr std::uint64_t kKeys = 2'600;
  const auto agent = Connect({.lambda = 2'000});
  const auto task = agent->StartMapTask({});
  for (std::uint64_t i = 0; i < kKeys; ++i) task->AddGroup(0, "key-" + std::to_string(i), 100 + i);
  task->Finish();
  ASSERT_TRUE(agent->Flush(absl::Seconds(60)));
  ASSERT_THAT(record_.all<MapProfile>(), SizeIs(1));
  const MapProfile profile = record_.all<MapProfile>()[0];
  ASSERT_THAT(profile.partitions, SizeIs(1));
  EXPECT_THAT(profile.partitions[0].explicit_keys, SizeIs(2'000));
  EXPECT_GT(profile.partitions[0].sampled_keys.size(), 256u);
  EXPECT_LT(profile.partitions[0].sampled_keys.size(), 600u);
  EXPECT_LT(profile.sampled_below, streaming::kEveryRank);
}

TEST_F(AgentTest, AnUnfinishedMapTaskHasNoProfile) {
  const auto agent = Connect();
  agent->StartMapTask({.index = 1})->AddGroup(0, "a", 10);
  ASSERT_TRUE(agent->Flush(absl::Seconds(60)));
  EXPECT_THAT(record_.all<MapProfile>(), IsEmpty());
  EXPECT_EQ(record_.all<TaskHeartbeat>().at(0).bytes_emitted, 10u);
}

TEST_F(AgentTest, AReduceTaskReportsItsInputUntilItHasShuffled) {
  const auto agent = Connect({.flush_interval = absl::Milliseconds(50)});
  const auto task = agent->StartReduceTask({.index = 3, .attempt = 1});
  const AttemptId id{kReduceStage, 3, 1};
  task->InputFetched(100);
  ASSERT_TRUE(record_.WaitFor([&](const std::vector<Event>& events) {
    const auto* heartbeat =
        events.empty() ? nullptr : std::get_if<TaskHeartbeat>(&events.back().body);
    return heartbeat != nullptr && *heartbeat == TaskHeartbeat{id, 100, 0, 0, heartbeat->time};
  }));
  task->InputFetched(50);
  task->Shuffled();
  task->InputFetched(7);  // This report is too late.
  ASSERT_TRUE(agent->Flush(absl::Seconds(60)));
  EXPECT_EQ(record_.all<TaskHeartbeat>().back().bytes_done, 150u);
  const std::vector<AttemptChanged> changes = record_.all<AttemptChanged>();
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].attempt, id);
  EXPECT_EQ(changes[0].state, AttemptState::kShuffled);
  EXPECT_TRUE(changes[0].at.has_value());
}

TEST_F(AgentTest, EveryKeyGroupIsInThePointsAndInTheTotals) {
  const absl::Time before = absl::Now();
  const auto agent = Connect({.flush_interval = absl::Milliseconds(50)});
  const auto task = agent->StartReduceTask({.index = 3});
  task->Shuffled();
  std::uint64_t bytes = 0;
  constexpr std::uint64_t kGroups = 20'000;
  for (std::uint64_t i = 0; i < kGroups; ++i) {
    const std::uint64_t values = i % 100 == 0 ? 30 : 1 + i % 3;
    RunGroup(*task, "key-" + std::to_string(i), values, 12);
    bytes += values * 12;
    // With pauses, the background thread keeps up with the ring even in a sanitizer build.
    if (i % 1'000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  task->Finish();
  ASSERT_TRUE(agent->Flush(absl::Seconds(60)));

  const std::vector<ReduceProfile> profiles = record_.all<ReduceProfile>();
  ASSERT_FALSE(profiles.empty());
  const ReduceProfile& last = profiles.back();
  EXPECT_EQ(last.groups_done, kGroups);
  EXPECT_EQ(last.bytes_done, bytes);
  EXPECT_EQ(last.dropped_points, 0u);
  EXPECT_EQ(CountGroups(profiles), kGroups);
  EXPECT_LE(absl::AbsDuration(SumTimes(profiles) - last.reduce_time), absl::Nanoseconds(kGroups));
  ASSERT_TRUE(last.last_group_finished_at.has_value());
  EXPECT_GE(*last.last_group_finished_at, before);
  EXPECT_LE(*last.last_group_finished_at, absl::Now());
  EXPECT_FALSE(last.running_group.has_value());

  std::uint64_t bin_bytes = 0;
  for (const ReduceProfile& profile : profiles) {
    for (const GroupBin& bin : profile.bins) bin_bytes += bin.size_bytes;
  }
  EXPECT_EQ(bin_bytes, bytes);
}

TEST_F(AgentTest, TotalsNeverFallBehindThePoints) {
  const auto agent = Connect({.flush_interval = absl::Milliseconds(50)});
  const auto task = StartShuffled(*agent);
  for (int i = 0; i < 300'000; ++i) RunGroup(*task, "k", 1, 12);
  task->Finish();
  ASSERT_TRUE(agent->Flush(absl::Seconds(60)));
  std::uint64_t points = 0;
  std::uint64_t groups_before = 0;
  for (const ReduceProfile& profile : record_.all<ReduceProfile>()) {
    for (const GroupBin& bin : profile.bins) points += bin.count;
    EXPECT_LE(points + profile.dropped_points, profile.groups_done);
    EXPECT_GE(profile.groups_done, groups_before);
    groups_before = profile.groups_done;
  }
  const ReduceProfile last = record_.all<ReduceProfile>().back();
  EXPECT_EQ(points + last.dropped_points, last.groups_done);
  EXPECT_EQ(last.groups_done, 300'000u);
  EXPECT_EQ(agent->stats().points_dropped, last.dropped_points);
}

TEST_F(AgentTest, LargeKeyGroupsAreTimedAloneAndNamed) {
  const auto agent = ConnectForPoints();
  const auto task = StartShuffled(*agent);
  RunGroup(*task, "small", 1, 12);
  task->BeginGroup("slow");
  task->ValueRead(600);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  task->EndGroup();
  RunGroup(*task, "quick", 1, 500);
  RunGroup(*task, "tiny", 1, 10);
  const ReduceProfile profile = LastProfile(*agent, *task);
  EXPECT_TRUE(profile.keys_named);
  EXPECT_EQ(profile.named_group_bytes_min, 50u);
  EXPECT_THAT(KeysOf(profile), ElementsAre(ExplicitKey{streaming::HashKey("slow"), 600},
                                           ExplicitKey{streaming::HashKey("quick"), 500}));
  std::map<std::uint64_t, absl::Duration> time_by_size;
  for (const GroupPoint& point : profile.points) time_by_size[point.size_bytes] += point.total_time;
  // The sleep belongs to the slow group, not to the bursts before and after it.
  EXPECT_GE(time_by_size.at(600), absl::Milliseconds(30));
  EXPECT_LE(time_by_size.at(12) + time_by_size.at(500) + time_by_size.at(10),
            profile.reduce_time - absl::Milliseconds(30));
}

TEST_F(AgentTest, ABurstIsSplitBySize) {
  const auto agent = ConnectForPoints({.burst_groups_max = 3});
  const auto task = StartShuffled(*agent);
  RunGroup(*task, "a", 1, 10);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  RunGroup(*task, "b", 1, 20);
  RunGroup(*task, "c", 3, 10);
  const ReduceProfile profile = LastProfile(*agent, *task);
  ASSERT_THAT(profile.points, SizeIs(3));
  for (const GroupPoint& point : profile.points) {
    const absl::Duration share = profile.reduce_time * (static_cast<double>(point.size_bytes) / 60);
    EXPECT_LE(absl::AbsDuration(point.total_time - share), absl::Nanoseconds(3));
  }
}

TEST_F(AgentTest, TheFirstKeyGroupsTimeStartsAtShuffled) {
  const auto agent = Connect();
  const auto task = StartShuffled(*agent);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  RunGroup(*task, "a", 1, 100);
  EXPECT_GE(LastProfile(*agent, *task).reduce_time, absl::Milliseconds(30));
}

TEST_F(AgentTest, ReportsARunningKeyGroup) {
  const auto agent = Connect({.flush_interval = absl::Milliseconds(50)});
  const auto task = StartShuffled(*agent);
  task->BeginGroup("endless");
  task->ValueRead(100);
  task->ValueRead(100);
  task->BytesEmitted(7);
  ASSERT_TRUE(record_.WaitFor([&](const std::vector<Event>& events) {
    return std::count_if(events.begin(), events.end(), [](const Event& event) {
             return std::holds_alternative<ReduceProfile>(event.body);
           }) >= 3;
  }));
  const std::vector<ReduceProfile> profiles = record_.all<ReduceProfile>();
  absl::Duration elapsed;
  for (const ReduceProfile& profile : profiles) {
    ASSERT_TRUE(profile.running_group.has_value());
    EXPECT_EQ(profile.running_group->key, streaming::HashKey("endless"));
    EXPECT_EQ(profile.running_group->bytes_read, 200u);
    EXPECT_EQ(profile.running_group->values_read, 2u);
    EXPECT_EQ(profile.running_group->bytes_emitted, 7u);
    EXPECT_GT(profile.running_group->elapsed, elapsed);
    elapsed = profile.running_group->elapsed;
    EXPECT_EQ(profile.groups_done, 0u);
    EXPECT_FALSE(profile.last_group_finished_at.has_value());
  }
  task->Finish();  // The task ends within the key group, which is dropped.
  ASSERT_TRUE(agent->Flush(absl::Seconds(60)));
  EXPECT_FALSE(record_.all<ReduceProfile>().back().running_group.has_value());
}

TEST_F(AgentTest, ReportsABurstOfSlowKeyGroupsBeforeItIsFull) {
  const auto agent = Connect({.flush_interval = absl::Milliseconds(50), .burst_groups_max = 4'000});
  const auto task = StartShuffled(*agent);
  bool shown = false;
  for (int i = 0; i < 3'000 && !shown; ++i) {  // These are fewer groups than a burst.
    RunGroup(*task, "k", 1, 12);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const std::vector<ReduceProfile> profiles = record_.all<ReduceProfile>();
    shown = !profiles.empty() && profiles.back().groups_done > 0;
  }
  EXPECT_TRUE(shown);
}

TEST_F(AgentTest, CallsOutOfOrderAreIgnored) {
  const auto agent = ConnectUnflushed();
  const auto task = agent->StartReduceTask({});
  RunGroup(*task, "before Shuffled", 1, 100);
  task->Shuffled();
  task->Shuffled();
  task->EndGroup();
  task->ValueRead(1000);
  task->BytesEmitted(1000);
  task->BeginGroup("a");
  task->BeginGroup("b");
  task->ValueRead(60);
  task->EndGroup();
  task->EndGroup();
  task->Finish();
  RunGroup(*task, "after Finish", 1, 100);
  const ReduceProfile profile = LastProfile(*agent, *task);
  EXPECT_EQ(profile.groups_done, 1u);
  EXPECT_EQ(profile.bytes_done, 60u);
  EXPECT_THAT(KeysOf(profile), ElementsAre(ExplicitKey{streaming::HashKey("a"), 60}));
  EXPECT_THAT(record_.all<AttemptChanged>(), SizeIs(1));
}

TEST_F(AgentTest, TimesEveryKeyGroupAloneWithAThresholdOfZero) {
  const auto agent = ConnectUnflushed({.burst_threshold_bytes = 0});
  const auto task = StartShuffled(*agent);
  for (int i = 0; i < 10; ++i) RunGroup(*task, std::to_string(i), 0, 0);
  EXPECT_THAT(LastProfile(*agent, *task).finished_keys, SizeIs(10));
}

TEST_F(AgentTest, AppliesControlOfBurstsAndNames) {
  v1::Control control;
  control.set_burst_threshold_bytes(1000);
  control.set_burst_groups_max(2);
  control.set_named_group_bytes_min(300);
  control.set_send_points(true);
  const auto agent = ConnectControlled(control);
  const auto task = StartShuffled(*agent);
  RunGroup(*task, "a", 1, 200);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  RunGroup(*task, "b", 1, 400);  // Ends the burst of two groups.
  RunGroup(*task, "c", 1, 100);
  const ReduceProfile profile = LastProfile(*agent, *task);
  EXPECT_EQ(profile.named_group_bytes_min, 300u);
  EXPECT_THAT(KeysOf(profile), ElementsAre(ExplicitKey{streaming::HashKey("b"), 400}));
  std::map<std::uint64_t, absl::Duration> time_by_size;
  for (const GroupPoint& point : profile.points) time_by_size[point.size_bytes] += point.total_time;
  const absl::Duration burst = time_by_size.at(200) + time_by_size.at(400);
  EXPECT_GE(burst, absl::Milliseconds(20));
  EXPECT_LE(absl::AbsDuration(time_by_size.at(200) - burst / 3), absl::Nanoseconds(3));
}

TEST_F(AgentTest, AppliesControlOfTheFlushInterval) {
  v1::Control control;
  control.mutable_flush_interval()->set_nanos(50'000'000);
  AnswerWithControl(control);
  const auto agent = Connect({.flush_interval = absl::Seconds(60)});
  const auto task = agent->StartMapTask({});
  agent->OpenJob({});
  EXPECT_TRUE(record_.WaitFor([](const std::vector<Event>& events) { return events.size() >= 4; }));
}

TEST_F(AgentTest, AppliesControlOfLambdaToRunningTasks) {
  v1::Control control;
  control.set_lambda(1);
  AnswerWithControl(control);
  const auto agent = Connect();
  const auto task = agent->StartMapTask({});
  for (int i = 0; i < 5; ++i) task->AddGroup(0, "before-" + std::to_string(i), 10 + i);
  ASSERT_TRUE(agent->Flush(absl::Seconds(60)));
  task->AddGroup(1, "after", 12);
  task->Finish();
  ASSERT_TRUE(agent->Flush(absl::Seconds(60)));
  const MapProfile profile = record_.all<MapProfile>().at(0);
  ASSERT_THAT(profile.partitions, SizeIs(2));
  EXPECT_THAT(profile.partitions[0].explicit_keys,
              ElementsAre(ExplicitKey{streaming::HashKey("before-4"), 14}));
  EXPECT_EQ(profile.partitions[0].total_bytes, 60u);
  EXPECT_EQ(profile.partitions[0].implicit_key_count, 4u);
  EXPECT_THAT(profile.partitions[1].explicit_keys, IsEmpty());
  EXPECT_EQ(profile.partitions[1].implicit_bytes, 12u);
}

TEST_F(AgentTest, SendsPointsOnlyWhileTheMasterRequestsThem) {
  const auto agent = ConnectUnflushed();
  const auto task = StartShuffled(*agent);
  const auto reported = [&] {
    RunGroup(*task, "k", 1, 100);
    EXPECT_TRUE(agent->Flush(absl::Seconds(60)));
    return record_.all<ReduceProfile>().back();
  };
  EXPECT_THAT(reported().points, IsEmpty());
  EXPECT_THAT(record_.all<ReduceProfile>().back().bins, SizeIs(1));
  for (const bool wanted : {true, false}) {
    v1::Control control;
    control.set_send_points(wanted);
    AnswerWithControl(control);
    ASSERT_TRUE(agent->Flush(absl::Seconds(60)));  // Receives the control message.
    EXPECT_EQ(reported().points.empty(), !wanted);
  }
}

TEST_F(AgentTest, SendsTotalsAndAttemptChangesDuringAPause) {
  const auto agent = ConnectPaused();
  const auto reduce = StartShuffled(*agent);
  for (int i = 0; i < 10; ++i) RunGroup(*reduce, "k", 1, 100);
  ASSERT_TRUE(agent->Flush(absl::Seconds(60)));
  const ReduceProfile paused = record_.all<ReduceProfile>().back();
  EXPECT_EQ(paused.groups_done, 10u);
  EXPECT_THAT(paused.points, IsEmpty());
  EXPECT_THAT(paused.bins, IsEmpty());
  EXPECT_THAT(paused.finished_keys, IsEmpty());

  const auto map = agent->StartMapTask({});
  map->AddGroup(0, "k", 100);
  map->Finish();
  ASSERT_TRUE(agent->Flush(absl::Seconds(60)));
  EXPECT_EQ(record_.all<MapProfile>().at(0).partitions.at(0).total_bytes, 100u);
  EXPECT_THAT(record_.all<MapProfile>().at(0).partitions.at(0).explicit_keys, IsEmpty());

  v1::Control resumed;
  resumed.set_paused(false);
  AnswerWithControl(resumed);
  ASSERT_TRUE(agent->Flush(absl::Seconds(60)));
  RunGroup(*reduce, "k", 1, 100);
  reduce->Finish();
  ASSERT_TRUE(agent->Flush(absl::Seconds(60)));
  // Includes the losses during the pause.
  EXPECT_EQ(CountGroups(record_.all<ReduceProfile>()), 11u);
}

TEST_F(AgentTest, CountsPointsOfAPauseUntilTheEndAsDropped) {
  const auto agent = ConnectPaused();
  const auto task = StartShuffled(*agent);
  for (int i = 0; i < 10; ++i) RunGroup(*task, "k", 1, 100);
  EXPECT_EQ(LastProfile(*agent, *task).dropped_points, 10u);
  EXPECT_EQ(agent->stats().points_dropped, 10u);
}

TEST_F(AgentTest, CountsARejectedEventAndDoesNotRepeatIt) {
  AnswerWith([](const SentEvent& sent) {
    return sent.sequence == 2
               ? Reject(sent, grpc::StatusCode::FAILED_PRECONDITION, "the job is not open")
               : Acknowledge(sent);
  });
  const auto agent = Connect();
  for (int i = 0; i < 3; ++i) agent->OpenJob({});
  EXPECT_TRUE(agent->Flush(absl::Seconds(60)));
  EXPECT_EQ(agent->stats().events_rejected, 1u);
  EXPECT_EQ(agent->stats().events_acknowledged, 2u);
  EXPECT_THAT(agent->stats().last_error, HasSubstr("event 2 was rejected: the job is not open"));
  EXPECT_EQ(record_.repeated(), 0u);
}

// A master of version 0.1 finds no event in a batch, so its rejection contains no event number.
TEST_F(AgentTest, ReportsAMasterWithAnotherProtocol) {
  AnswerWith([](const SentEvent&) {
    v1::StreamEventsResponse response;
    response.add_rejections()->set_reason("source_id has 0 bytes");
    return std::optional(response);
  });
  std::promise<std::string> reported;
  const auto agent = Connect(
      {.on_trouble = [&reported](const std::string& trouble) { reported.set_value(trouble); }});
  agent->OpenJob({});
  EXPECT_THAT(reported.get_future().get(),
              HasSubstr("it does not support this version's events (source_id has 0 bytes); if "
                        "the master runs version 0.1, update it"));
  AnswerWith(Acknowledge);
  agent->CloseJob(JobOutcome::kSucceeded, "");  // The response has arrived, so no event waits.
}

TEST_F(AgentTest, CountsRejectedEventsWithoutAReason) {
  AnswerWith([](const SentEvent& sent) {
    std::optional<v1::StreamEventsResponse> response = Acknowledge(sent);
    response->set_unnamed_rejections(sent.sequence == 2 ? 1 : 0);
    return response;
  });
  const auto agent = Connect();
  for (int i = 0; i < 3; ++i) {
    agent->OpenJob({});
    EXPECT_TRUE(agent->Flush(absl::Seconds(60)));
  }
  EXPECT_EQ(agent->stats().events_rejected, 1u);
  EXPECT_EQ(agent->stats().events_acknowledged, 2u);
}

TEST_F(AgentTest, IgnoresInvalidResponses) {
  AnswerWith([](const SentEvent& sent) {
    v1::StreamEventsResponse garbage;
    switch (sent.sequence) {
      case 1:
        garbage.set_accepted_sequence(~std::uint64_t{0});
        break;
      case 2:
        garbage.set_handle(99);
        garbage.set_accepted_sequence(2);
        break;
      case 3:
        garbage.add_rejections()->set_sequence(77);
        garbage.mutable_control()->mutable_flush_interval()->set_nanos(-1'000'000'000);
        garbage.mutable_control()->set_lambda(0);
        garbage.mutable_control()->set_burst_groups_max(0);
        garbage.mutable_control()->set_burst_threshold_bytes(~std::uint64_t{0});
        break;
      default:
        return Acknowledge(sent);
    }
    return std::optional(garbage);
  });
  const auto agent = Connect();
  for (int i = 0; i < 3; ++i) agent->OpenJob({});
  ASSERT_TRUE(record_.WaitFor([](const std::vector<Event>& events) { return events.size() == 3; }));
  const auto task = StartShuffled(*agent);
  for (int i = 0; i < 1'000; ++i) RunGroup(*task, "k", 1, 100);
  task->Finish();
  EXPECT_TRUE(agent->Flush(absl::Seconds(60)));
  EXPECT_EQ(agent->stats().events_rejected, 0u);
  EXPECT_EQ(agent->stats().events_acknowledged, agent->stats().events_sent);
  EXPECT_EQ(CountGroups(record_.all<ReduceProfile>()), 1'000u);
}

TEST_F(AgentTest, SplitsProfilesToFitTheBuffer) {
  const auto agent = Connect({.buffer_bytes_max = std::size_t{1} << 18});
  const auto task = StartShuffled(*agent);
  for (std::uint64_t i = 0; i < 5'000; ++i) RunGroup(*task, std::to_string(i), 1, 100 + i * i);
  task->Finish();
  ASSERT_TRUE(agent->Flush(absl::Seconds(60)));
  EXPECT_EQ(agent->stats().events_dropped, 0u);
  const std::vector<ReduceProfile> profiles = record_.all<ReduceProfile>();
  EXPECT_EQ(CountGroups(profiles), 5'000u);
  // If some names do not fit, the minimum size of named groups increases.
  std::size_t names = 0;
  for (const ReduceProfile& profile : profiles) names += profile.finished_keys.size();
  EXPECT_LE(names, 4'096u);
  EXPECT_GT(profiles.back().named_group_bytes_min, 50u);
  for (const auto& [sequence, event] : record_.sent()) {
    EXPECT_LE(event.ByteSizeLong(), std::size_t{64} << 10);
  }
}

TEST_F(AgentTest, ServesConcurrentTasks) {
  const auto agent = Connect({.flush_interval = absl::Milliseconds(50)});
  constexpr std::uint32_t kTasks = 8;
  std::vector<std::thread> threads;
  for (std::uint32_t index = 0; index < kTasks; ++index) {
    threads.emplace_back([&agent, index] {
      const auto map = agent->StartMapTask({.index = index});
      for (int i = 0; i < 1'000; ++i) map->AddGroup(0, std::to_string(i), 10);
      map->Finish();
      const auto reduce = agent->StartReduceTask({.index = index});
      reduce->Shuffled();
      for (int i = 0; i < 2'000; ++i) RunGroup(*reduce, std::to_string(i), 2, 12);
      reduce->Finish();
      agent->Changed({.attempt = {kReduceStage, index, 0}, .state = AttemptState::kFinished});
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(agent->Flush(absl::Seconds(60)));
  EXPECT_THAT(record_.all<MapProfile>(), SizeIs(kTasks));
  std::map<std::uint32_t, std::uint64_t> points;
  std::map<std::uint32_t, ReduceProfile> last;
  for (const ReduceProfile& profile : record_.all<ReduceProfile>()) {
    for (const GroupBin& bin : profile.bins) points[profile.attempt.index] += bin.count;
    last[profile.attempt.index] = profile;
  }
  for (std::uint32_t index = 0; index < kTasks; ++index) {
    EXPECT_EQ(last[index].groups_done, 2'000u);
    EXPECT_EQ(points[index] + last[index].dropped_points, 2'000u);
  }
}

TEST_F(AgentTest, ATaskAgentMayOutliveItsAgent) {
  auto agent = Connect();
  const auto map = agent->StartMapTask({});
  const auto reduce = StartShuffled(*agent);
  agent.reset();
  map->InputRead(1, 1);
  map->Finish();
  for (int i = 0; i < 100'000; ++i) RunGroup(*reduce, "k", 1, 100);
  reduce->Finish();
}

TEST_F(AgentTest, ShutdownSendsTheRestAndMayBeRepeated) {
  const auto agent = Connect();
  agent->OpenJob({.name = "last words"});
  agent->Shutdown();
  EXPECT_THAT(record_.all<JobOpened>(), SizeIs(1));
  agent->Shutdown();
  agent->OpenJob({});
  EXPECT_TRUE(agent->Flush(absl::Seconds(60)));
  EXPECT_THAT(record_.all<JobOpened>(), SizeIs(1));
}

TEST(NoAgent, DoesNothing) {
  const auto agent = Agent::Create({.job_id = "job-1"});
  agent->OpenJob({});
  const auto map = agent->StartMapTask({});
  map->InputRead(1, 1);
  map->AddGroup(0, "k", 1);
  map->Finish();
  const auto reduce = StartShuffled(*agent);
  RunGroup(*reduce, "k", 1, 1);
  reduce->Finish();
  agent->CloseJob(JobOutcome::kSucceeded, "");
  EXPECT_TRUE(agent->Flush(absl::InfiniteDuration()));
  agent->Shutdown();
  EXPECT_EQ(agent->stats().events_sent, 0u);
}

}  // namespace
}  // namespace tidemark::agent::agent_test
