#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "cli/commands.h"
#include "cli/environment.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/master_trouble.h"
#include "cli/progress.h"
#include "cli/temporary_directory.h"
#include "cli/worker_command.h"
#include "cli/workflow/workflow_client.h"
#include "cli/workflow/workflow_progress.h"
#include "examples/local_mapreduce/visits.h"
#include "examples/local_mapreduce/workflow.h"
#include "tidemark/master.h"

namespace tidemark::cli {
namespace {

// A master tells the end of a workflow within two of its shortest ticks, 400 ms unless it is told
// otherwise. What it has not said by now is not waited for.
constexpr std::chrono::seconds kForTheFinalSnapshot{5};

// Shows what the master says of the workflow until its end, in a thread of its own.
class Watching {
 public:
  Watching(const WorkflowClient& master, const std::string& id, const ProgressArguments& arguments)
      : progress_(MakeWorkflowProgress(arguments, StreamsOfRun(arguments.mode).progress,
                                       Environment::OfProcess())),
        thread_([this, &master, id](const std::stop_token& stop) {
          const WorkflowFollowCalls calls = {
              .on_snapshot =
                  [this](const WorkflowSnapshot& snapshot) {
                    const std::lock_guard lock(mutex_);
                    progress_->Show(snapshot);
                    return true;
                  },
              .on_trouble = [this](const std::string& message) { Say(message); }};
          const auto final = master.Follow(id, {.expects_job = true}, calls, stop);
          if (!final.ok() && !absl::IsCancelled(final.status())) {
            Say(DescribeMasterTrouble(master.address(), final.status()));
          }
          ended_.set_value();
        }) {}

  // From any thread.
  void Say(const std::string& message) {
    const std::lock_guard lock(mutex_);
    progress_->Say(message);
  }

  void WaitForTheEnd() {
    ended_.get_future().wait_for(kForTheFinalSnapshot);
    thread_.request_stop();
    thread_.join();
    progress_->Finish();
  }

 private:
  std::mutex mutex_;  // guards the next
  const std::unique_ptr<WorkflowProgress> progress_;
  std::promise<void> ended_;
  std::jthread thread_;
};

std::string NewId(const std::string& workflow) {
  return fmt::format("{}-{}-{}", workflow,
                     absl::FormatTime("%Y%m%d-%H%M%S", absl::Now(), absl::UTCTimeZone()), getpid());
}

// What the run needs as long as it lasts.
struct Surroundings {
  std::optional<TemporaryDirectory> temporary;  // for what is not kept
  std::unique_ptr<Master> master;               // our own, if so
};

absl::Status Complete(const WorkflowRunArguments& arguments, examples::WorkflowRunOptions& run,
                      Surroundings& around) {
  if (run.id.empty()) run.id = NewId(run.workflow);
  run.worker_command = WorkerCommand();
  if (run.output_dir.empty() || arguments.visits > 0) {
    absl::StatusOr<TemporaryDirectory> created = TemporaryDirectory::Create();
    if (!created.ok()) return created.status();
    around.temporary.emplace(*std::move(created));
  }
  if (run.output_dir.empty()) run.output_dir = around.temporary->path() + "/output";
  if (arguments.visits > 0) {
    run.inputs = {around.temporary->path() + "/visits"};
    if (absl::Status made = examples::GenerateVisits(run.inputs.front(), arguments.visits);
        !made.ok()) {
      return made;
    }
  }
  for (const auto& [flag, directory] :
       {std::pair("--data-dir", arguments.own_master.data_dir),
        std::pair("--log-dir", arguments.own_master.event_log_dir)}) {
    std::error_code error;
    if (!directory.empty()) std::filesystem::create_directories(directory, error);
    if (error)
      return absl::InvalidArgumentError(
          fmt::format("{}: cannot create {}: {}", flag, directory, error.message()));
  }
  if (!run.master_address.empty()) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<Master>> master = Master::Start(arguments.own_master);
  if (!master.ok()) return master.status();
  around.master = *std::move(master);
  run.master_address = around.master->address();
  run.security = ClientSecurity();  // what TIDEMARK_TLS_CA and the like say is of another master
  return absl::OkStatus();
}

// The result, a name and a value per line.
void WriteResult(const examples::WorkflowSummary& summary, const std::string& id,
                 std::FILE* lines) {
  const auto write = [lines](const std::string& name, const std::string& value) {
    WriteLine(lines, fmt::format("{:<32} {}", name, value));
  };
  write("workflow_id", id);
  write("elapsed_seconds", fmt::format("{:.3f}", absl::ToDoubleSeconds(summary.elapsed)));
  for (const examples::FinishedStep& step : summary.steps) {
    write(step.name + ".started_seconds",
          fmt::format("{:.3f}", absl::ToDoubleSeconds(step.started_after)));
    write(step.name + ".elapsed_seconds",
          fmt::format("{:.3f}", absl::ToDoubleSeconds(step.summary.elapsed)));
    write(step.name + ".output_records", fmt::to_string(step.summary.reduce_output_records));
    write(step.name + ".output_checksum",
          fmt::format("{:016x}", step.summary.reduce_output_checksum));
  }
}

absl::StatusOr<examples::WorkflowSummary> RunWatched(const WorkflowRunArguments& arguments,
                                                     const examples::WorkflowRunOptions& run) {
  const auto spec = examples::SpecOf(run);
  if (!spec.ok()) return spec.status();
  const WorkflowClient master(run.master_address, run.security);
  // The master would take it for the same workflow, submitted once more, and show what became of
  // it.
  if (!arguments.run.id.empty() && master.Knows(run.id).value_or(false)) {
    return absl::InvalidArgumentError(fmt::format(
        "--id {}: the master has a workflow of that id already; choose another", run.id));
  }
  if (absl::Status taken = master.Submit(*spec); !taken.ok()) {
    return absl::Status(taken.code(), DescribeMasterTrouble(run.master_address, taken));
  }
  Watching watching(master, run.id, arguments.progress);
  examples::WorkflowRunOptions told = run;
  told.on_notice = [&watching](const std::string& notice) { watching.Say(notice); };
  auto summary = examples::RunWorkflow(told);
  watching.WaitForTheEnd();
  return summary;
}

}  // namespace

int RunWorkflow(const WorkflowRunArguments& arguments) {
  examples::WorkflowRunOptions run = arguments.run;
  Surroundings around;
  absl::Status status = Complete(arguments, run, around);
  if (status.ok()) {
    run.stop = &StopOnInterrupt();
    const auto summary = RunWatched(arguments, run);
    if (summary.ok()) {
      WriteResult(*summary, run.id, StreamsOfRun(arguments.progress.mode).result);
    }
    status = summary.status();
  }
  if (around.master) around.master->Shutdown(absl::Seconds(1));
  if (status.ok()) return kSuccess;
  if (absl::IsCancelled(status)) return kInterrupted;
  Complain(std::string(status.message()));
  if (absl::IsUnavailable(status)) return kMasterUnreachable;
  return absl::IsInvalidArgument(status) || absl::IsNotFound(status) ? kUsage : kJobFailed;
}

}  // namespace tidemark::cli
