#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "cli/at_master.h"
#include "cli/background_progress.h"
#include "cli/commands.h"
#include "cli/environment.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/master_trouble.h"
#include "cli/page_of_job.h"
#include "cli/progress.h"
#include "cli/temporary_directory.h"
#include "cli/worker_command.h"
#include "examples/local_mapreduce/visits.h"
#include "examples/local_mapreduce/workflow.h"
#include "tidemark/client.h"
#include "tidemark/master.h"

namespace tidemark::cli {
namespace {

// A master reports the end of a workflow within two of its shortest ticks, 400 ms by default. The
// command does not wait for later reports.
constexpr std::chrono::seconds kFinalSnapshotTimeout{5};

// Shows what the master says of the workflow until its end, in a thread of its own.
class Watching {
 public:
  // `master` must outlive it.
  Watching(const Client& master, const std::string& id, const ProgressArguments& arguments)
      : progress_(MakeProgress(WithoutDeadline(arguments), StreamsOfRun(arguments.mode).progress,
                               Environment::OfProcess())),
        thread_([this, &master, id](const std::stop_token& stop) {
          bool is_page_said = false;
          const WatchCalls calls = {
              .on_snapshot =
                  [&](const Snapshot& snapshot) {
                    progress_.Show(snapshot);
                    if (!std::exchange(is_page_said, true)) SayPage(master, id);
                    return true;
                  },
              .on_trouble = [this](const std::string& message) { Say(message); }};
          const auto final = master.WatchJob(
              id, {.patience = absl::InfiniteDuration(), .is_to_come = true}, calls, stop);
          if (!final.ok() && !absl::IsCancelled(final.status())) {
            Say(DescribeMasterTrouble(master.address(), final.status()));
          }
          if (final.ok()) progress_.Explain(WaitsOf(final->job_id, /*query=*/"", master, stop));
          ended_.set_value();
        }) {}

  // From any thread.
  void Say(const std::string& message) { progress_.Say(message); }

  void WaitForTheEnd() {
    ended_.get_future().wait_for(kFinalSnapshotTimeout);
    thread_.request_stop();
    thread_.join();
    progress_.Finish();
  }

 private:
  void SayPage(const Client& master, const std::string& id) {
    const std::string page = PageOfJob(master, id);
    if (!page.empty()) progress_.Mention(fmt::format("page of the job: {}", page));
  }

  BackgroundProgress progress_;
  std::promise<void> ended_;
  std::jthread thread_;
};

// What the run needs as long as it lasts.
struct RunResources {
  std::optional<TemporaryDirectory> temporary;  // for what is not kept
  std::unique_ptr<Master> master;               // our own, if so
};

absl::Status Complete(const WorkflowRunArguments& arguments, examples::WorkflowRunOptions& run,
                      RunResources& resources) {
  if (run.id.empty()) run.id = NewRunId(run.workflow);
  run.worker_command = WorkerCommand();
  if (run.output_dir.empty() || arguments.visits > 0) {
    absl::StatusOr<TemporaryDirectory> created = TemporaryDirectory::Create();
    if (!created.ok()) return created.status();
    resources.temporary.emplace(*std::move(created));
  }
  if (run.output_dir.empty()) run.output_dir = resources.temporary->path() + "/output";
  if (arguments.visits > 0) {
    run.inputs = {resources.temporary->path() + "/visits"};
    if (absl::Status made = examples::GenerateVisits(run.inputs.front(), arguments.visits);
        !made.ok()) {
      return made;
    }
  }
  absl::Status made = CreateDirectory("--data-dir", arguments.own_master.data_dir);
  if (made.ok()) made = CreateDirectory("--log-dir", arguments.own_master.event_log_dir);
  if (!made.ok()) return made;
  if (!run.master_address.empty()) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<Master>> master = Master::Start(arguments.own_master);
  if (!master.ok()) return master.status();
  resources.master = *std::move(master);
  run.master_address = resources.master->address();
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

// Has the master watch the workflow.
absl::Status Submit(const WorkflowRunArguments& arguments, const examples::WorkflowRunOptions& run,
                    const Client& master) {
  auto plan = examples::PlanOf(run);
  if (!plan.ok()) return plan.status();
  if (const auto& deadline = arguments.progress.deadline) {
    plan->deadline = InstantOf(*deadline, absl::Now(), LocalZone());
  }
  // The master would take it for the same workflow, submitted once more, and show what became of
  // it.
  if (!arguments.run.id.empty() && master.GetJob(run.id, View::kBasic).ok()) {
    return absl::AlreadyExistsError(
        fmt::format("--id {}: the master has a job of that id already; choose another", run.id));
  }
  const absl::Status taken = master.SubmitJob(*plan);
  if (taken.ok()) return taken;
  return absl::Status(taken.code(), DescribeMasterTrouble(run.master_address, taken));
}

absl::StatusOr<examples::WorkflowSummary> RunWatched(const WorkflowRunArguments& arguments,
                                                     const examples::WorkflowRunOptions& run,
                                                     const Client& master) {
  Watching watching(master, run.id, arguments.progress);
  examples::WorkflowRunOptions told = run;
  told.on_notice = [&watching](const std::string& notice) { watching.Say(notice); };
  auto summary = examples::RunWorkflow(told);
  watching.WaitForTheEnd();
  return summary;
}

}  // namespace

int Do(const WorkflowRunArguments& arguments) {
  examples::WorkflowRunOptions run = arguments.run;
  RunResources resources;
  absl::Status status = Complete(arguments, run, resources);
  ExitCode exit_code = ExitCodeOfRun(status);
  absl::StatusOr<std::unique_ptr<Client>> master;
  if (status.ok()) {
    master = Client::Create({.address = run.master_address, .security = run.security});
    status = master.ok() ? Submit(arguments, run, **master) : master.status();
    exit_code = absl::IsNotFound(status) ? kUsage : ExitCodeOf(status);  // not found: the workflow
  }
  if (status.ok()) {
    run.stop = &StopOnInterrupt();
    const auto summary = RunWatched(arguments, run, **master);
    if (summary.ok()) {
      WriteResult(*summary, run.id, StreamsOfRun(arguments.progress.mode).result);
    }
    status = summary.status();
    exit_code = ExitCodeOfRun(status);
  }
  if (resources.master) resources.master->Shutdown(absl::Seconds(1));
  if (!status.ok() && !absl::IsCancelled(status)) Complain(std::string(status.message()));
  return exit_code;
}

}  // namespace tidemark::cli
