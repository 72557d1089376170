#include "bench/accuracy/mapped_job.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "examples/local_mapreduce/file_io.h"
#include "examples/local_mapreduce/input.h"
#include "examples/local_mapreduce/tasks.h"
#include "tidemark/agent.h"

namespace tidemark::bench {
namespace {

using examples::InputFile;
using examples::Job;
using examples::JobPlan;
using examples::PathOf;

constexpr std::uint32_t kMapTasks = 8;

// Runs the rounds sequentially in one directory.
class Rounds {
 public:
  Rounds(const examples::JobDefinition& definition, std::map<std::string, std::string> parameters,
         std::vector<InputFile> inputs, std::string directory)
      : definition_(definition),
        parameters_(std::move(parameters)),
        inputs_(std::move(inputs)),
        directory_(std::move(directory)) {}

  absl::StatusOr<JobPlan> Run() {
    for (std::uint32_t round = 0;; ++round) {
      absl::StatusOr<JobPlan> plan = Plan(round);
      if (!plan.ok()) return plan.status();
      if (absl::Status mapped = Map(*plan); !mapped.ok()) return mapped;
      if (round + 1 == definition_.rounds.size()) return plan;
      if (absl::Status reduced = Reduce(*plan); !reduced.ok()) return reduced;
    }
  }

 private:
  absl::StatusOr<JobPlan> Plan(std::uint32_t round) const {
    JobPlan plan = {.job = definition_.name,
                    .round = round,
                    .job_id = definition_.name,
                    .work_directory = PathOf(directory_, fmt::format("round-{}", round + 1)),
                    .reduce_task_count = 1,
                    .parameters = parameters_,
                    .inputs = inputs_};
    absl::Status made = examples::MakeDirectories(plan.side_directory());
    if (!made.ok()) return made;
    absl::StatusOr<std::unique_ptr<Job>> job = MakePlannedJob(plan);
    if (!job.ok()) return job.status();
    plan.has_combiner = (*job)->has_combiner();
    if (absl::Status ready = (*job)->Prepare(plan.inputs); !ready.ok()) return ready;
    absl::StatusOr<std::vector<examples::Split>> splits =
        examples::SplitInputs(plan.inputs, kMapTasks);
    if (!splits.ok()) return splits.status();
    plan.splits = *std::move(splits);
    return plan;
  }

  absl::Status Map(const JobPlan& plan) {
    for (std::uint32_t i = 0; i < plan.splits.size(); ++i) {
      const AttemptId attempt = {kMapStage, i, 0};
      const auto mapped = RunTask(plan, attempt, examples::RunMapTask, plan.map_output(i));
      if (!mapped.ok()) return mapped.status();
      absl::Status kept = examples::WriteResult(plan.map_result(i), *mapped);
      if (!kept.ok()) return kept;
    }
    return absl::OkStatus();
  }

  // Runs the reduce tasks, whose output becomes the input of the next round.
  absl::Status Reduce(const JobPlan& plan) {
    const auto reduced = RunTask(plan, {kReduceStage, 0, 0}, examples::RunReduceTask, plan.part(0));
    if (!reduced.ok()) return reduced.status();
    for (std::uint32_t i = 0; i < plan.splits.size(); ++i) Remove(plan.map_output(i));
    std::erase_if(inputs_, [](const InputFile& input) { return input.from_previous_round; });
    inputs_.push_back({.path = plan.part(0),
                       .name = examples::PartName(plan.output, 0),
                       .size_bytes = std::filesystem::file_size(plan.part(0)),
                       .from_previous_round = true});
    return absl::OkStatus();
  }

  // Moves the output of the attempt to `output`.
  template <typename Run>
  absl::StatusOr<examples::TaskResult> RunTask(const JobPlan& plan, const AttemptId& attempt,
                                               Run run, const std::string& output) {
    absl::StatusOr<std::unique_ptr<Job>> job = MakeWorkerJob(plan, plan.reduce_task_count);
    if (!job.ok()) return job.status();
    const std::string directory = plan.attempt_directory(attempt);
    if (absl::Status made = examples::MakeDirectories(directory); !made.ok()) return made;
    auto result = run(plan, attempt, **job, *agent_);
    if (!result.ok()) return result.status();
    absl::Status moved = examples::Rename(PathOf(directory, examples::kOutputName), output);
    Remove(directory);
    if (!moved.ok()) return moved;
    return result;
  }

  static void Remove(const std::string& path) {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }

  const examples::JobDefinition& definition_;
  const std::map<std::string, std::string> parameters_;
  std::vector<InputFile> inputs_;
  const std::string directory_;
  const std::unique_ptr<Agent> agent_ = Agent::Create({});  // an agent without a master
};

}  // namespace

absl::StatusOr<std::string> IdentityOf(const JobInputs& inputs) {
  absl::StatusOr<const examples::JobDefinition*> job = examples::FindJob(inputs.job);
  if (!job.ok()) return job.status();
  auto parameters = CompleteParameters(**job, inputs.parameters);
  if (!parameters.ok()) return parameters.status();
  std::string identity = inputs.job;
  for (const auto& [name, value] : *parameters) identity += fmt::format(" {}={}", name, value);
  for (const std::string& path : inputs.paths) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (error) return examples::FileError("read", path, error.value());
    identity += fmt::format(" {}:{}", std::filesystem::path(path).filename().string(), size);
  }
  return identity;
}

absl::StatusOr<JobPlan> RunMapTasks(const JobInputs& inputs, const std::string& directory) {
  absl::StatusOr<const examples::JobDefinition*> job = examples::FindJob(inputs.job);
  if (!job.ok()) return job.status();
  if (inputs.paths.size() < (*job)->inputs_min || inputs.paths.size() > (*job)->inputs_max) {
    return absl::InvalidArgumentError(
        fmt::format("{} does not accept {} input files", inputs.job, inputs.paths.size()));
  }
  auto parameters = CompleteParameters(**job, inputs.parameters);
  if (!parameters.ok()) return parameters.status();
  if (absl::Status made = examples::MakeDirectories(directory); !made.ok()) return made;
  absl::StatusOr<std::vector<InputFile>> files = examples::OpenInputs(inputs.paths, directory);
  if (!files.ok()) return files.status();
  return Rounds(**job, *std::move(parameters), *std::move(files), directory).Run();
}

absl::StatusOr<std::unique_ptr<Job>> MakeWorkerJob(const JobPlan& plan,
                                                   std::uint32_t reduce_task_count) {
  JobPlan changed = plan;
  changed.reduce_task_count = reduce_task_count;
  absl::StatusOr<std::unique_ptr<Job>> job = MakePlannedJob(changed);
  if (!job.ok()) return job.status();
  if (absl::Status ready = (*job)->SetUp(); !ready.ok()) return ready;
  return job;
}

}  // namespace tidemark::bench
