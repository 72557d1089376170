#include "examples/local_mapreduce/run.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "examples/local_mapreduce/application_master.h"
#include "examples/local_mapreduce/file_io.h"
#include "examples/local_mapreduce/input.h"
#include "examples/local_mapreduce/job.h"
#include "examples/local_mapreduce/job_plan.h"
#include "fmt/format.h"
#include "tidemark/agent.h"
#include "tidemark/job.h"
#include "tidemark/master.h"

namespace tidemark::examples {
namespace {

class EmbeddedMaster {
 public:
  // `on_snapshot` may be empty.
  static absl::StatusOr<std::unique_ptr<EmbeddedMaster>> Start(
      const MasterOptions& options, const std::string& job_id,
      std::function<void(const Snapshot&)> on_snapshot);
  ~EmbeddedMaster();

  const std::string& address() const { return master_->address(); }
  // Blocks until `on_snapshot` has returned from the final snapshot, for at most `timeout`.
  void WaitUntilFinal(absl::Duration timeout);

 private:
  explicit EmbeddedMaster(std::unique_ptr<Master> master);

  std::promise<void> final_;
  std::unique_ptr<Master> master_;
  std::unique_ptr<Master::Subscription> subscription_;  // must end before the master, so it is last
};

constexpr absl::Duration kShutdownGrace = absl::Seconds(1);

absl::StatusOr<std::unique_ptr<EmbeddedMaster>> EmbeddedMaster::Start(
    const MasterOptions& options, const std::string& job_id,
    std::function<void(const Snapshot&)> on_snapshot) {
  absl::StatusOr<std::unique_ptr<Master>> master = Master::Start(options);
  if (!master.ok()) return master.status();
  std::unique_ptr<EmbeddedMaster> embedded(new EmbeddedMaster(*std::move(master)));
  auto subscription = embedded->master_->Watch(
      job_id, [on_snapshot = std::move(on_snapshot), self = embedded.get()](const Snapshot& shot) {
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
// The time for which a job waits for the master to report whether its id is in use. If a master
// does not answer in time, the job runs without that check.
constexpr absl::Duration kOpenBudget = absl::Seconds(1);
constexpr absl::Duration kOpenPollInterval = absl::Milliseconds(20);
// The time for which the end of a job waits for its last events to reach a master that may be
// unreachable.
constexpr absl::Duration kShutdownBudget = absl::Milliseconds(300);
// The corresponding time for an embedded master, which is as responsive as the job.
constexpr absl::Duration kEmbeddedShutdownBudget = absl::Seconds(2);
// The time that an embedded master may take for the final snapshot.
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

// Waits for the master to accept the job. Fails with AlreadyExists if the master has another run of
// that id.
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

// One call of RunJob(), with all defaults filled in.
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
  absl::StatusOr<std::unique_ptr<EmbeddedMaster>> embedded =
      EmbeddedMaster::Start(options_.master_options, options_.job_id, options_.on_snapshot);
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
