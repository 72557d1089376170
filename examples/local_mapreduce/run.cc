#include "examples/local_mapreduce/run.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "examples/local_mapreduce/file_io.h"
#include "examples/local_mapreduce/input.h"
#include "examples/local_mapreduce/job.h"
#include "examples/local_mapreduce/job_plan.h"
#include "examples/local_mapreduce/worker.h"
#include "fmt/format.h"
#include "tidemark/agent.h"
#include "tidemark/event.h"

namespace tidemark::examples {

SlotPool::SlotPool(std::size_t jobs, std::uint32_t slots, SlotPolicy policy)
    : policy_(policy), free_(slots), waiting_(jobs), taken_(jobs) {}

void SlotPool::SetWaiting(std::size_t job, std::size_t tasks) {
  const std::lock_guard lock(mutex_);
  waiting_[job] = tasks;
}

bool SlotPool::IsBefore(std::size_t other, std::size_t job) const {
  if (other == job || waiting_[other] == 0) return false;
  if (policy_ == SlotPolicy::kFifo) return other < job;
  return std::pair(taken_[other], other) < std::pair(taken_[job], job);
}

bool SlotPool::TryTake(std::size_t job) {
  const std::lock_guard lock(mutex_);
  // Earlier jobs that wait for a slot reserve as many free slots as they can use.
  std::size_t kept = 0;
  for (std::size_t other = 0; other < waiting_.size(); ++other) {
    if (IsBefore(other, job)) kept += policy_ == SlotPolicy::kFifo ? waiting_[other] : 1;
  }
  if (free_ <= kept) return false;
  --free_;
  ++taken_[job];
  if (waiting_[job] > 0) --waiting_[job];
  return true;
}

void SlotPool::Give(std::size_t job) {
  const std::lock_guard lock(mutex_);
  ++free_;
  --taken_[job];
}

// Runs the planned tasks of one round on slots, and reports the tasks to Tidemark.
class ApplicationMaster {
 public:
  // The members have the same meaning as in RunOptions. All must outlive this object.
  struct Dependencies {
    const std::vector<std::string>& worker_command;
    std::uint32_t slots = 0;
    SlotShare* shared_slots = nullptr;
    const std::atomic<bool>* stop = nullptr;
    const std::function<void(const std::string&)>& on_notice;
    Agent& agent;
  };
  ApplicationMaster(const JobPlan& plan, const Dependencies& dependencies);

  // Runs all map tasks, and then all reduce tasks. Their committed outputs have the paths that the
  // plan specifies.
  absl::Status Run();

  // These functions return the results of the successful attempts, by task.
  const std::vector<TaskResult>& map_results() const { return map_results_; }
  const std::vector<TaskResult>& reduce_results() const { return reduce_results_; }
  std::uint32_t failed_attempts() const { return failed_attempts_; }

 private:
  struct RunningAttempt {
    AttemptId id;
    WorkerProcess process;
  };
  // Runs the tasks in order. Each free slot takes the next task.
  absl::Status RunTasks(std::uint32_t stage, const std::vector<std::uint64_t>& input_bytes);
  // Takes a slot for a task. Returns true if the task may start.
  bool TakeSlot(std::size_t waiting);
  void GiveSlot();
  absl::Status Launch(const AttemptId& attempt);
  absl::Status TakeEnded(std::vector<AttemptId>& waiting);
  absl::Status Commit(const AttemptId& attempt);
  absl::Status Retry(const AttemptId& failed, const absl::Status& failure,
                     std::vector<AttemptId>& waiting);
  void KillAll();
  std::string InputName(const AttemptId& attempt) const;
  void Report(const AttemptId& attempt, AttemptState state, std::string failure = "");
  bool Stopped() const { return dependencies_.stop != nullptr && dependencies_.stop->load(); }

  const JobPlan& plan_;
  const Dependencies dependencies_;
  std::vector<RunningAttempt> running_;
  std::vector<std::uint64_t> input_bytes_;  // input bytes of each task of the phase
  std::vector<TaskResult> map_results_;
  std::vector<TaskResult> reduce_results_;
  std::uint32_t failed_attempts_ = 0;
};

namespace {

constexpr std::uint32_t kAttemptsMax = 4;  // as in Hadoop
// Maximum delay before a request to stop takes effect.
constexpr absl::Duration kPollInterval = absl::Milliseconds(50);

// Returns how long an attempt that ends may wait until its last events reach the master. The limit
// depends on the time since the master last responded. It is long for a busy master, short for a
// master that may have returned, and otherwise zero. Therefore the waits of a job with many tasks
// do not add up.
absl::Duration ReportBudgetAfter(absl::Duration unanswered_for) {
  if (unanswered_for < absl::Milliseconds(500)) return absl::Milliseconds(200);
  if (unanswered_for < absl::Seconds(1)) return absl::Milliseconds(70);
  return absl::ZeroDuration();
}

// All tasks run on this host.
constexpr std::uint32_t kThisHost = 0;

std::string HostName() {
  char name[256] = {};
  return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "localhost";
}

void RemoveTree(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

}  // namespace

ApplicationMaster::ApplicationMaster(const JobPlan& plan, const Dependencies& dependencies)
    : plan_(plan),
      dependencies_(dependencies),
      map_results_(plan.splits.size()),
      reduce_results_(plan.reduce_task_count) {
  dependencies_.agent.OpenExecutor({.executor = kThisHost,
                                    .host = HostName(),
                                    .slots = static_cast<std::uint32_t>(dependencies_.slots)});
}

absl::Status ApplicationMaster::Run() {
  std::vector<std::uint64_t> split_bytes;
  for (const Split& split : plan_.splits) split_bytes.push_back(split.size_bytes());
  if (absl::Status maps = RunTasks(kMapStage, split_bytes); !maps.ok()) return maps;

  std::vector<std::uint64_t> partition_bytes(plan_.reduce_task_count);
  for (const TaskResult& result : map_results_) {
    for (std::uint32_t i = 0; i < plan_.reduce_task_count; ++i) {
      partition_bytes[i] += result.segments[i].record_bytes;
    }
  }
  return RunTasks(kReduceStage, partition_bytes);
}

absl::Status ApplicationMaster::RunTasks(std::uint32_t stage,
                                         const std::vector<std::uint64_t>& input_bytes) {
  input_bytes_ = input_bytes;
  std::vector<AttemptId> waiting;  // in reverse order: the next task is the last element
  for (auto i = static_cast<std::uint32_t>(input_bytes.size()); i-- > 0;) {
    waiting.push_back({.stage = stage, .index = i});
  }
  for (auto id = waiting.rbegin(); id != waiting.rend(); ++id) Report(*id, AttemptState::kQueued);

  absl::Status status;
  while (status.ok() && !(waiting.empty() && running_.empty())) {
    while (status.ok() && !waiting.empty() && TakeSlot(waiting.size())) {
      const AttemptId next = waiting.back();
      waiting.pop_back();
      status = Launch(next);
      if (!status.ok()) GiveSlot();
    }
    std::vector<const WorkerProcess*> processes;
    for (const RunningAttempt& attempt : running_) processes.push_back(&attempt.process);
    WorkerProcess::WaitForAny(processes, kPollInterval);
    if (Stopped()) status = absl::CancelledError("the job was stopped");
    if (status.ok()) status = TakeEnded(waiting);
  }
  KillAll();
  return status;
}

bool ApplicationMaster::TakeSlot(std::size_t waiting) {
  if (running_.size() >= dependencies_.slots) return false;
  if (dependencies_.shared_slots == nullptr) return true;
  dependencies_.shared_slots->SetWaiting(waiting);
  return dependencies_.shared_slots->TryTake();
}

void ApplicationMaster::GiveSlot() {
  if (dependencies_.shared_slots != nullptr) dependencies_.shared_slots->Give();
}

absl::Status ApplicationMaster::Launch(const AttemptId& attempt) {
  const std::string directory = plan_.attempt_directory(attempt);
  if (absl::Status made = MakeDirectories(directory); !made.ok()) return made;
  std::vector<std::string> command = dependencies_.worker_command;
  for (std::string& argument : WorkerArguments(
           plan_, attempt, ReportBudgetAfter(dependencies_.agent.stats().unanswered_for))) {
    command.push_back(std::move(argument));
  }
  absl::StatusOr<WorkerProcess> process =
      WorkerProcess::Start(command, PathOf(directory, kStderrName));
  if (!process.ok()) return process.status();
  Report(attempt, AttemptState::kStarted);
  running_.push_back({.id = attempt, .process = *std::move(process)});
  return absl::OkStatus();
}

// Reaps the attempts that have ended. Failed attempts return to `waiting`.
absl::Status ApplicationMaster::TakeEnded(std::vector<AttemptId>& waiting) {
  for (auto attempt = running_.begin(); attempt != running_.end();) {
    if (!attempt->process.HasEnded()) {
      ++attempt;
      continue;
    }
    const AttemptId id = attempt->id;
    absl::Status done = attempt->process.Reap();
    attempt = running_.erase(attempt);
    GiveSlot();
    if (done.ok()) done = Commit(id);
    if (done.ok()) {
      Report(id, AttemptState::kFinished);
    } else if (done = Retry(id, done, waiting); !done.ok()) {
      return done;
    }
  }
  return absl::OkStatus();
}

absl::Status ApplicationMaster::Commit(const AttemptId& attempt) {
  const std::string directory = plan_.attempt_directory(attempt);
  absl::StatusOr<TaskResult> result = ReadResult(PathOf(directory, kResultName));
  if (!result.ok()) return result.status();
  const bool is_map = attempt.stage == kMapStage;
  if (is_map && result->segments.size() != plan_.reduce_task_count) {
    return absl::DataLossError(fmt::format("{} contains the result of a different run", directory));
  }
  if (is_map || plan_.output != OutputKind::kCount) {
    absl::Status moved =
        Rename(PathOf(directory, kOutputName),
               is_map ? plan_.map_output(attempt.index) : plan_.part(attempt.index));
    if (moved.ok() && is_map) {
      moved = Rename(PathOf(directory, kResultName), plan_.map_result(attempt.index));
    }
    if (!moved.ok()) return moved;
  }
  RemoveTree(directory);
  (is_map ? map_results_ : reduce_results_)[attempt.index] = *std::move(result);
  return absl::OkStatus();
}

absl::Status ApplicationMaster::Retry(const AttemptId& failed, const absl::Status& failure,
                                      std::vector<AttemptId>& waiting) {
  const std::string message(failure.message());
  ++failed_attempts_;
  Report(failed, AttemptState::kFailed, message);
  RemoveTree(plan_.attempt_directory(failed));
  AttemptId next = failed;
  const char* const kind = failed.stage == kMapStage ? "map" : "reduce";
  if (++next.attempt == kAttemptsMax) {
    return absl::AbortedError(fmt::format("{} task {} failed {} times, the last time: {}", kind,
                                          failed.index, kAttemptsMax, message));
  }
  if (dependencies_.on_notice) {
    dependencies_.on_notice(fmt::format("{} task {} failed and will be retried ({} of {}): {}",
                                        kind, failed.index, next.attempt + 1, kAttemptsMax,
                                        message));
  }
  Report(next, AttemptState::kQueued);
  waiting.push_back(next);
  return absl::OkStatus();
}

void ApplicationMaster::KillAll() {
  for (const RunningAttempt& attempt : running_) {
    Report(attempt.id, AttemptState::kKilled);
    GiveSlot();
  }
  running_.clear();
}

// Returns the name of a map attempt's input, or an empty name if the job has only one input.
std::string ApplicationMaster::InputName(const AttemptId& attempt) const {
  if (attempt.stage != kMapStage || plan_.inputs.size() < 2) return {};
  return plan_.inputs[plan_.splits[attempt.index].input].name;
}

void ApplicationMaster::Report(const AttemptId& attempt, AttemptState state, std::string failure) {
  dependencies_.agent.Changed({.attempt = attempt,
                               .state = state,
                               .at = absl::Now(),
                               .executor = kThisHost,
                               .input_bytes = input_bytes_[attempt.index],
                               .input_name = InputName(attempt),
                               .failure = std::move(failure)});
}

namespace {

class EmbeddedMaster {
 public:
  // `on_snapshot` may be empty.
  static absl::StatusOr<std::unique_ptr<EmbeddedMaster>> Start(
      const MasterOptions& options, const std::string& job_id, const std::string& run_uid,
      std::function<void(const Snapshot&)> on_snapshot);
  ~EmbeddedMaster();

  const std::string& address() const { return master_->address(); }
  // Returns after `on_snapshot` has returned from the final snapshot, or after `timeout`.
  void WaitUntilFinal(absl::Duration timeout);

 private:
  explicit EmbeddedMaster(std::unique_ptr<Master> master);

  std::promise<void> final_;
  std::unique_ptr<Master> master_;
  // the subscription must end before the master, so it is the last member
  std::unique_ptr<Master::Subscription> subscription_;
};

constexpr absl::Duration kShutdownGrace = absl::Seconds(1);

absl::StatusOr<std::unique_ptr<EmbeddedMaster>> EmbeddedMaster::Start(
    const MasterOptions& options, const std::string& job_id, const std::string& run_uid,
    std::function<void(const Snapshot&)> on_snapshot) {
  absl::StatusOr<std::unique_ptr<Master>> master = Master::Start(options);
  if (!master.ok()) return master.status();
  std::unique_ptr<EmbeddedMaster> embedded(new EmbeddedMaster(*std::move(master)));
  auto subscription = embedded->master_->Watch(
      job_id,
      [on_snapshot = std::move(on_snapshot), run_uid, self = embedded.get()](const Snapshot& shot) {
        // A data directory may contain a past run with this id.
        if (shot.is_final && shot.run_uid != run_uid) return;
        if (on_snapshot) on_snapshot(shot);
        if (shot.is_final) self->final_.set_value();
      });
  if (!subscription.ok()) return subscription.status();
  embedded->subscription_ = *std::move(subscription);
  return embedded;
}

EmbeddedMaster::EmbeddedMaster(std::unique_ptr<Master> master) : master_(std::move(master)) {}

EmbeddedMaster::~EmbeddedMaster() {
  subscription_.reset();
  master_->Shutdown(kShutdownGrace);
}

void EmbeddedMaster::WaitUntilFinal(absl::Duration timeout) {
  final_.get_future().wait_for(absl::ToChronoMilliseconds(timeout));
}

constexpr std::uint64_t kSplitBytes = std::uint64_t{8} << 20;
constexpr std::uint32_t kSplitsPerSlotMin = 2;
// How long a job waits for the master to report whether the id of the job is in use. If the master
// does not answer in time, the job runs without this check.
constexpr absl::Duration kOpenBudget = absl::Seconds(1);
constexpr absl::Duration kOpenPollInterval = absl::Milliseconds(20);
// How long the end of a job waits until its last events reach a master that may be unreachable.
constexpr absl::Duration kShutdownBudget = absl::Milliseconds(300);
// The same limit for an embedded master, which responds as fast as the job.
constexpr absl::Duration kEmbeddedShutdownBudget = absl::Seconds(2);
// How long a job waits for the final snapshot of an embedded master.
constexpr absl::Duration kFinalSnapshotBudget = absl::Seconds(5);

absl::Status CheckCount(std::string_view name, std::uint32_t count, std::uint32_t min) {
  if (count >= min && count <= kTasksMax) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("{} must be from {} to {}, not {}", name, min, kTasksMax, count));
}

std::string InputCount(const JobDefinition& job) {
  if (job.inputs_max == SIZE_MAX) return fmt::format("{} or more input files", job.inputs_min);
  if (job.inputs_min < job.inputs_max) {
    return fmt::format("{} to {} input files", job.inputs_min, job.inputs_max);
  }
  return job.inputs_min == 1 ? "1 input file" : fmt::format("{} input files", job.inputs_min);
}

absl::Status CheckOptions(const RunOptions& options, const JobDefinition& job) {
  absl::Status status = CheckCount("reduce_task_count", options.reduce_task_count, 1);
  if (status.ok()) status = CheckCount("slots", options.slots, 1);
  if (status.ok()) status = CheckCount("map_task_count", options.map_task_count, 0);
  if (!status.ok()) return status;
  const std::size_t count = options.inputs.size();
  if (count >= job.inputs_min && count <= job.inputs_max) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("{} takes {} (--input), not {}", job.name, InputCount(job), count));
}

std::string MakeJobId(const std::string& job) {
  const absl::Time now = absl::Now();
  return fmt::format("{}-{}-{}", job, absl::FormatTime("%Y%m%d-%H%M%S", now, absl::LocalTimeZone()),
                     ::getpid());
}

std::uint32_t MapTaskCount(const RunOptions& options, const std::vector<InputFile>& inputs) {
  if (options.map_task_count > 0) return options.map_task_count;
  std::uint64_t total_bytes = 0;
  for (const InputFile& input : inputs) total_bytes += input.size_bytes;
  const std::uint64_t by_size = (total_bytes + kSplitBytes - 1) / kSplitBytes;
  const std::uint64_t by_slots = std::uint64_t{kSplitsPerSlotMin} * options.slots;
  return static_cast<std::uint32_t>(
      std::min(std::max(by_size, by_slots), std::uint64_t{kTasksMax}));
}

JobOutcome OutcomeOf(const absl::Status& status) {
  if (status.ok()) return JobOutcome::kSucceeded;
  return absl::IsCancelled(status) ? JobOutcome::kKilled : JobOutcome::kFailed;
}

// Waits until the master has accepted the job. Fails with AlreadyExists if the master has another
// run with the same id.
absl::Status AwaitOpening(Agent& agent) {
  const absl::Time deadline = absl::Now() + kOpenBudget;
  while (!agent.Flush(kOpenPollInterval)) {
    if (absl::Now() >= deadline || !agent.stats().last_error.empty()) break;
  }
  const std::string refusal = agent.stats().job_refusal;
  return refusal.empty() ? absl::OkStatus() : absl::AlreadyExistsError(refusal);
}

void AddResults(const ApplicationMaster& master, RunSummary& summary) {
  for (const TaskResult& map : master.map_results()) {
    for (const Segment& segment : map.segments) {
      summary.map_output_records += segment.records;
      summary.map_output_bytes += segment.record_bytes;
    }
  }
  std::int64_t began = INT64_MAX;
  std::int64_t ended = 0;
  for (const TaskResult& reduce : master.reduce_results()) {
    summary.reduce_input_groups += reduce.groups;
    summary.reduce_output_records += reduce.output.records;
    summary.reduce_output_bytes += reduce.output.bytes;
    summary.reduce_output_checksum += reduce.output.checksum;
    began = std::min(began, reduce.reduce_began_nanos);
    ended = std::max(ended, reduce.reduce_ended_nanos);
  }
  summary.reduce_elapsed = absl::Nanoseconds(ended - began);
}

// Adds the part files of one round to the inputs of the next round.
void AppendParts(const JobPlan& plan, std::vector<InputFile>& inputs) {
  std::erase_if(inputs, [](const InputFile& input) { return input.from_previous_round; });
  for (std::uint32_t i = 0; i < plan.reduce_task_count; ++i) {
    inputs.push_back({.path = plan.part(i),
                      .name = PartName(plan.output, i),
                      .size_bytes = std::filesystem::file_size(plan.part(i)),
                      .from_previous_round = true});
  }
}

// One call of RunJob(), with defaults for all options that are not set.
class JobRun {
 public:
  JobRun(const RunOptions& options, const JobDefinition& job, WorkDirectory& directory)
      : options_(options), job_(job), directory_(directory) {}

  absl::StatusOr<RunSummary> Run();

 private:
  absl::Status StartMaster();
  absl::StatusOr<JobPlan> PlanRound(std::uint32_t round, const std::vector<InputFile>& inputs);
  absl::Status RunRound(const JobPlan& plan);
  JobOpened Describe(const JobPlan& plan) const;
  bool IsLast(std::uint32_t round) const { return round + 1 == job_.rounds.size(); }

  const RunOptions& options_;
  const JobDefinition& job_;
  WorkDirectory& directory_;
  const absl::Time submitted_at_ = absl::Now();
  std::string master_address_;
  std::unique_ptr<EmbeddedMaster> embedded_;
  RunSummary summary_;
};

absl::StatusOr<RunSummary> JobRun::Run() {
  absl::StatusOr<std::vector<InputFile>> inputs = OpenInputs(options_.inputs, directory_.path());
  if (!inputs.ok()) return inputs.status();
  if (absl::Status started = StartMaster(); !started.ok()) return started;
  std::uint32_t failed_attempts = 0;
  for (std::uint32_t round = 0; round < job_.rounds.size(); ++round) {
    absl::StatusOr<JobPlan> plan = PlanRound(round, *inputs);
    if (!plan.ok()) return plan.status();
    summary_ = {.job_id = plan->job_id, .failed_attempts = failed_attempts};
    if (absl::Status done = RunRound(*plan); !done.ok()) return done;
    failed_attempts = summary_.failed_attempts;
    if (IsLast(round)) break;
    AppendParts(*plan, *inputs);
  }
  return summary_;
}

absl::Status JobRun::StartMaster() {
  if (!options_.agent_enabled) return absl::OkStatus();
  master_address_ = options_.master_address;
  if (!master_address_.empty()) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<EmbeddedMaster>> embedded = EmbeddedMaster::Start(
      options_.master_options, options_.job_id, options_.run_uid, options_.on_snapshot);
  if (!embedded.ok()) return embedded.status();
  embedded_ = *std::move(embedded);
  master_address_ = embedded_->address();
  return absl::OkStatus();
}

absl::StatusOr<JobPlan> JobRun::PlanRound(std::uint32_t round,
                                          const std::vector<InputFile>& inputs) {
  JobPlan plan = {.job = job_.name,
                  .round = round,
                  .job_id = options_.job_id,
                  .run_uid = options_.run_uid,
                  .master_address = master_address_,
                  .security = options_.security,
                  .work_directory = PathOf(directory_.path(), fmt::format("round-{}", round + 1)),
                  .output = IsLast(round) ? options_.output : OutputKind::kText,
                  .reduce_task_count = options_.reduce_task_count,
                  .parameters = options_.parameters,
                  .inputs = inputs};
  if (!IsLast(round)) plan.job_id += fmt::format("-round-{}", round + 1);
  absl::Status made = MakeDirectories(plan.side_directory());
  if (!made.ok()) return made;
  absl::StatusOr<std::unique_ptr<Job>> job = MakePlannedJob(plan);
  if (!job.ok()) return job.status();
  plan.has_combiner = (*job)->has_combiner();
  if (absl::Status ready = (*job)->Prepare(plan.inputs); !ready.ok()) return ready;
  absl::StatusOr<std::vector<Split>> splits =
      SplitInputs(plan.inputs, MapTaskCount(options_, plan.inputs));
  if (!splits.ok()) return splits.status();
  plan.splits = *std::move(splits);
  if (absl::Status written = WritePlan(plan); !written.ok()) return written;
  return plan;
}

absl::Status JobRun::RunRound(const JobPlan& plan) {
  const std::unique_ptr<Agent> agent = Agent::Create(
      {.master_address = plan.master_address,
       .job_id = plan.job_id,
       .run_uid = plan.run_uid,
       .security = plan.security,
       .shutdown_budget = embedded_ == nullptr ? kShutdownBudget : kEmbeddedShutdownBudget,
       .on_trouble = options_.on_notice});
  agent->OpenJob(Describe(plan));
  if (absl::Status opened = AwaitOpening(*agent); !opened.ok()) return opened;
  ApplicationMaster master(plan, {.worker_command = options_.worker_command,
                                  .slots = options_.slots,
                                  .shared_slots = options_.shared_slots,
                                  .stop = options_.stop,
                                  .on_notice = options_.on_notice,
                                  .agent = *agent});
  absl::Status status = master.Run();
  if (status.ok() && IsLast(plan.round)) status = directory_.Publish(plan);
  agent->CloseJob(OutcomeOf(status), std::string(status.message()));
  summary_.elapsed = absl::Now() - submitted_at_;
  agent->Shutdown();
  summary_.is_reported = agent->stats().unanswered_for == absl::ZeroDuration();
  if (embedded_ != nullptr && IsLast(plan.round)) {
    embedded_->WaitUntilFinal(kFinalSnapshotBudget);
    if (status.ok() && options_.on_success) options_.on_success(master_address_);
  }
  summary_.failed_attempts += master.failed_attempts();
  if (status.ok()) AddResults(master, summary_);
  return status;
}

JobOpened JobRun::Describe(const JobPlan& plan) const {
  JobOpened opened = {.name = job_.name,
                      .engine = "local_mapreduce",
                      .submitted_at = submitted_at_,
                      .stages = MapReduceStages(static_cast<std::uint32_t>(plan.splits.size()),
                                                plan.reduce_task_count)};
  if (options_.deadline) {
    opened.deadline = InstantOf(*options_.deadline, submitted_at_, absl::LocalTimeZone());
  }
  for (StageOpened& stage : opened.stages) stage.slots = options_.slots;
  opened.stages[kMapStage].has_combiner = plan.has_combiner;
  return opened;
}

}  // namespace

absl::StatusOr<RunSummary> RunJob(const RunOptions& options) {
  absl::StatusOr<const JobDefinition*> job = FindJob(options.job);
  if (!job.ok()) return job.status();
  if (absl::Status usable = CheckOptions(options, **job); !usable.ok()) return usable;
  RunOptions completed = options;
  auto parameters = CompleteParameters(**job, options.parameters);
  if (!parameters.ok()) return parameters.status();
  completed.parameters = *std::move(parameters);
  if (completed.job_id.empty()) completed.job_id = MakeJobId(options.job);
  if (completed.run_uid.empty()) completed.run_uid = MakeRunUid();
  if (completed.worker_command.empty()) completed.worker_command = {"/proc/self/exe", "worker"};
  absl::StatusOr<std::unique_ptr<WorkDirectory>> directory =
      WorkDirectory::Create(options.output_dir);
  if (!directory.ok()) return directory.status();
  return JobRun(completed, **job, **directory).Run();
}

}  // namespace tidemark::examples
