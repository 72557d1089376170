#include "examples/local_mapreduce/workflow.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <system_error>
#include <thread>

#include "absl/time/clock.h"
#include "examples/local_mapreduce/file_io.h"
#include "examples/local_mapreduce/job.h"
#include "fmt/format.h"
#include "text/did_you_mean.h"

namespace tidemark::examples {
namespace {

struct Step {
  std::string name;
  std::string job;
  std::vector<std::string> after;
  // input of the workflow; nullopt for steps that read the output of their parents
  std::optional<std::size_t> input;
  std::map<std::string, std::string> parameters;
};

struct Definition {
  std::string name;
  std::size_t inputs = 1;
  std::vector<Step> steps;
};

const std::vector<Definition>& AllWorkflows() {
  static const std::vector<Definition> workflows = {
      // Parses visits (IP PAGE SECONDS CENTS), counts them by page and sums revenue by visitor.
      // Then
      // makes histograms of both.
      {.name = "web-log",
       .inputs = 1,
       .steps = {{.name = "parse", .job = "parse-visits", .input = 0},
                 {.name = "pages", .job = "count-by-page", .after = {"parse"}},
                 {.name = "visitors", .job = "revenue-by-visitor", .after = {"parse"}},
                 {.name = "histogram", .job = "visit-histogram", .after = {"pages", "visitors"}}}},
      {.name = "graph-and-words",
       .inputs = 2,
       .steps = {{.name = "two-path", .job = "two-path", .input = 0},
                 {.name = "triangles", .job = "triangle-count", .after = {"two-path"}, .input = 0},
                 {.name = "words", .job = "word-count", .input = 1}}}};
  return workflows;
}

absl::StatusOr<const Definition*> FindWorkflow(const WorkflowRunOptions& options) {
  for (const Definition& definition : AllWorkflows()) {
    if (definition.name != options.workflow) continue;
    if (options.inputs.size() == definition.inputs) return &definition;
    return absl::InvalidArgumentError(
        fmt::format("{} takes {} input file{} (--input), not {}", definition.name,
                    definition.inputs, definition.inputs == 1 ? "" : "s", options.inputs.size()));
  }
  return absl::NotFoundError(
      fmt::format("unknown workflow {}{}", options.workflow,
                  text::DidYouMeanOrKnown(options.workflow, WorkflowNames())));
}

std::string JobId(const WorkflowRunOptions& options, const Step& step) {
  return fmt::format("{}-{}", options.id, step.name);
}

// Returns true if the job has one round. If a job has several rounds, only the last one has the id
// of the job, so a workflow cannot wait for the others.
bool HasOneRound(const Step& step) {
  const auto job = FindJob(step.job);
  return job.ok() && (*job)->rounds.size() == 1;
}

std::string OutputOf(const WorkflowRunOptions& options, const std::string& step) {
  return PathOf(options.output_dir, step);
}

absl::StatusOr<std::vector<std::string>> PartsIn(const std::string& directory) {
  std::error_code error;
  std::filesystem::directory_iterator entries(directory, error);
  if (error) return FileError("list", directory, error.value());
  std::vector<std::string> parts;
  for (const auto& entry : entries) {
    if (entry.path().filename().string().starts_with("part-")) parts.push_back(entry.path());
  }
  std::sort(parts.begin(), parts.end());
  return parts;
}

class WorkflowRun {
 public:
  WorkflowRun(const WorkflowRunOptions& options, const Definition& definition)
      : options_(options),
        definition_(definition),
        pool_(definition.steps.size(), options.slots, options.policy),
        states_(definition.steps.size()) {}

  absl::StatusOr<WorkflowSummary> Run() {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < definition_.steps.size(); ++i) {
      threads.emplace_back([this, i] { RunStep(i); });
    }
    while (!WaitUntilDone()) {
      if (options_.stop != nullptr && options_.stop->load()) stop_ = true;
    }
    for (std::thread& thread : threads) thread.join();
    if (!failure_.ok()) return failure_;
    WorkflowSummary summary = {.elapsed = absl::Now() - began_at_};
    for (std::size_t i = 0; i < states_.size(); ++i) {
      summary.steps.push_back({.name = definition_.steps[i].name,
                               .summary = states_[i].summary,
                               .started_after = states_[i].started_at - began_at_});
    }
    return summary;
  }

 private:
  struct State {
    bool is_over = false;
    RunSummary summary;
    absl::Time started_at;
  };

  // Returns after a short time. Returns true if all steps have ended.
  bool WaitUntilDone() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, absl::ToChronoMilliseconds(absl::Milliseconds(50)));
    return std::all_of(states_.begin(), states_.end(),
                       [](const State& state) { return state.is_over; });
  }

  // Waits for the parents of the step. Returns true if the step may start, or false if the workflow
  // ends earlier.
  bool WaitForParents(const Step& step) {
    std::unique_lock lock(mutex_);
    const auto is_over = [&](const std::string& name) {
      for (std::size_t i = 0; i < states_.size(); ++i) {
        if (definition_.steps[i].name == name) return states_[i].is_over;
      }
      return true;
    };
    changed_.wait(lock, [&] {
      return !failure_.ok() || std::all_of(step.after.begin(), step.after.end(), is_over);
    });
    return failure_.ok();
  }

  void RunStep(std::size_t index) {
    const Step& step = definition_.steps[index];
    if (!WaitForParents(step)) return End(index, absl::OkStatus());
    {
      const std::lock_guard lock(mutex_);
      states_[index].started_at = absl::Now();
    }
    SlotShare share(pool_, index);
    absl::StatusOr<RunOptions> options = OptionsOf(step);
    if (!options.ok()) return End(index, options.status());
    options->shared_slots = &share;
    const absl::StatusOr<RunSummary> summary = RunJob(*options);
    if (summary.ok()) {
      const std::lock_guard lock(mutex_);
      states_[index].summary = *summary;
    }
    End(index, summary.ok() ? absl::OkStatus()
                            : absl::Status(summary.status().code(),
                                           fmt::format("job {}: {}", step.name,
                                                       std::string(summary.status().message()))));
  }

  void End(std::size_t index, const absl::Status& status) {
    const std::lock_guard lock(mutex_);
    states_[index].is_over = true;
    if (!status.ok()) {
      if (failure_.ok()) failure_ = status;
      stop_ = true;
    }
    changed_.notify_all();
  }

  absl::StatusOr<RunOptions> OptionsOf(const Step& step) const {
    RunOptions options = {.job = step.job,
                          .job_id = JobId(options_, step),
                          .output_dir = OutputOf(options_, step.name),
                          .slots = options_.slots,
                          .reduce_task_count = options_.reduce_task_count,
                          .parameters = step.parameters,
                          .worker_command = options_.worker_command,
                          .master_address = options_.master_address,
                          .security = options_.security,
                          .stop = &stop_};
    if (options_.on_notice) {
      options.on_notice = [this, name = step.name](const std::string& notice) {
        options_.on_notice(fmt::format("job {}: {}", name, notice));
      };
    }
    if (step.input) {
      options.inputs = {options_.inputs[*step.input]};
      return options;
    }
    for (const std::string& parent : step.after) {
      absl::StatusOr<std::vector<std::string>> parts = PartsIn(OutputOf(options_, parent));
      if (!parts.ok()) return parts.status();
      options.inputs.insert(options.inputs.end(), parts->begin(), parts->end());
    }
    return options;
  }

  const WorkflowRunOptions& options_;
  const Definition& definition_;
  const absl::Time began_at_ = absl::Now();
  SlotPool pool_;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::vector<State> states_;
  absl::Status failure_;
};

// The logarithms of page numbers are uniform between 0 and 9.2, so pages have numbers up to about
// 10,000.
constexpr double kLogPagesMax = 9.2;
constexpr std::uint32_t kVisitorsMax = 65'536;
constexpr std::uint32_t kSecondsMax = 600;
constexpr std::uint32_t kCentsMax = 5000;

}  // namespace

std::vector<std::string> WorkflowNames() {
  std::vector<std::string> names;
  for (const Definition& definition : AllWorkflows()) names.push_back(definition.name);
  return names;
}

absl::StatusOr<Plan> PlanOf(const WorkflowRunOptions& options) {
  const absl::StatusOr<const Definition*> definition = FindWorkflow(options);
  if (!definition.ok()) return definition.status();
  const bool is_fair = options.policy == SlotPolicy::kFair;
  Plan plan = {.id = options.id, .name = (*definition)->name};
  plan.cluster = {.slots = options.slots,
                  .policy = is_fair ? SchedulingPolicy::kFair : SchedulingPolicy::kFifo};
  for (const Step& step : (*definition)->steps) {
    plan.jobs.push_back({.name = step.name,
                         .job_id = JobId(options, step),
                         .history_name = step.job,
                         .after = step.after});
    // In a job of several rounds, the number of reduce tasks in the first round does not determine
    // that of the last round.
    if (HasOneRound(step)) plan.jobs.back().reduce_task_count = options.reduce_task_count;
  }
  return plan;
}

absl::StatusOr<WorkflowSummary> RunWorkflow(const WorkflowRunOptions& options) {
  const absl::StatusOr<const Definition*> definition = FindWorkflow(options);
  if (!definition.ok()) return definition.status();
  if (absl::Status made = MakeDirectories(options.output_dir); !made.ok()) return made;
  return WorkflowRun(options, **definition).Run();
}

absl::Status GenerateVisits(const std::string& path, std::uint64_t count) {
  absl::StatusOr<FileWriter> file = FileWriter::Create(path);
  if (!file.ok()) return file.status();
  std::mt19937_64 random(1);  // The C++ standard specifies the output of this generator.
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  for (std::uint64_t i = 0; i < count; ++i) {
    const double log_page = kLogPagesMax * static_cast<double>(below(1 << 20)) / (1 << 20);
    const std::uint64_t visitor = below(kVisitorsMax);
    const std::uint64_t seconds = below(kSecondsMax);
    const std::uint64_t cents = below(kCentsMax);
    file->Append(fmt::format("10.0.{}.{} /page-{} {} {}\n", visitor / 256, visitor % 256,
                             static_cast<std::uint64_t>(std::exp(log_page)), seconds, cents));
  }
  return file->Close();
}

}  // namespace tidemark::examples
