#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

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
#include "examples/local_mapreduce/run.h"
#include "master/store/event_log.h"
#include "tidemark/agent.h"
#include "tidemark/client.h"

namespace tidemark::cli {
namespace {

// Where the user does not say: so that each slot gets a second task, by which unequal ones even
// out.
constexpr std::uint32_t kReducersPerSlot = 2;

// A master that has taken the end of a job tells it within its shortest tick, 200 ms unless it is
// told otherwise. What it has not said by now is not waited for: the job is worth more.
constexpr std::chrono::seconds kForTheFinalSnapshot{3};

// Where the job's snapshots go.
using Show = std::function<void(const Snapshot&)>;

// Why the job failed is what the command says last; for people, once is enough.
Show ShowIn(BackgroundProgress& progress, ProgressMode mode) {
  return [&progress, mode](Snapshot snapshot) {
    const bool is_for_people = mode != ProgressMode::kJsonl;
    if (is_for_people && snapshot.state == JobState::kFailed) snapshot.message.clear();
    progress.Show(snapshot);
  };
}

void SayPage(const Client& master, const std::string& job_id, BackgroundProgress& progress) {
  const std::string page = PageOfJob(master, job_id);
  if (!page.empty()) progress.Mention(fmt::format("page of the job: {}", page));
}

// What the job waited for, from the master in this process, before that ends.
void AskForWaits(const std::string& master_address, const std::string& job_id,
                 BackgroundProgress& progress) {
  const auto master = Client::Create({.address = master_address});
  if (master.ok()) progress.Explain(WaitsOf(job_id, /*query=*/"", **master));
}

// Watches the job at a master that is not in this process; what goes wrong there is no trouble of
// the job's.
class RemoteWatch {
 public:
  RemoteWatch(const examples::RunOptions& job, Show show, BackgroundProgress& progress)
      : thread_([this, address = job.master_address, security = job.security, job_id = job.job_id,
                 run_uid = job.run_uid, show = std::move(show),
                 &progress](const std::stop_token& stop) {
          const auto master = Client::Create({.address = address, .security = security});
          absl::Status status = master.status();
          bool has_said_page = false;
          if (master.ok()) {
            const auto final = (*master)->WatchJob(
                job_id,
                {.patience = absl::InfiniteDuration(), .run_uid = run_uid, .is_to_come = true},
                {.on_snapshot =
                     [&](const Snapshot& snapshot) {
                       is_absent_ = false;
                       show(snapshot);
                       if (!std::exchange(has_said_page, true)) {
                         SayPage(**master, job_id, progress);
                       }
                       return true;
                     },
                 .on_trouble =
                     [&](const std::string& message) {
                       is_absent_ = true;
                       progress.Say(message);
                     }},
                stop);
            status = final.status();
            if (final.ok()) progress.Explain(WaitsOf(job_id, /*query=*/"", **master, stop));
          }
          // That the token is not known the job's own reports will hear, too.
          if (!status.ok() && !absl::IsCancelled(status) && !absl::IsUnauthenticated(status)) {
            progress.Say(fmt::format("cannot watch the job at {}: {}", address, ReasonOf(status)));
          }
          ended_.set_value();
        }) {}
  // Its thread is asked to stop and joined.
  ~RemoteWatch() = default;

  // Gives a master that is there, or has answered for the whole job (`is_reported`), a moment to
  // tell how the job has ended. A short job ends before its watch has begun.
  void WaitForTheEnd(bool is_reported) {
    if (is_reported || !is_absent_) ended_.get_future().wait_for(kForTheFinalSnapshot);
  }

 private:
  std::promise<void> ended_;
  std::atomic<bool> is_absent_ = false;
  std::jthread thread_;
};

// Prepares what the user left open. The temporary directory must outlive the job.
absl::Status Complete(examples::RunOptions& options, std::optional<TemporaryDirectory>& temporary) {
  if (options.job_id.empty()) options.job_id = NewRunId(options.job);
  options.run_uid = MakeRunUid();
  options.worker_command = WorkerCommand();
  // What TIDEMARK_TLS_CA and the like say is of another master.
  if (options.master_address.empty()) options.security = ClientSecurity();
  absl::Status logs = CreateDirectory("--log-dir", options.master_options.event_log_dir);
  if (!logs.ok()) return logs;
  if (!options.output_dir.empty()) return absl::OkStatus();
  absl::StatusOr<TemporaryDirectory> created = TemporaryDirectory::Create();
  if (!created.ok()) return created.status();
  temporary.emplace(*std::move(created));
  options.output_dir = temporary->path() + "/output";
  return absl::OkStatus();
}

// The result of the job, a name and a value per line.
void WriteResult(const examples::RunSummary& summary, const examples::RunOptions& options,
                 bool keeps_output, std::FILE* lines) {
  const auto write = [lines](const char* name, const std::string& value) {
    WriteLine(lines, fmt::format("{:<23} {}", name, value));
  };
  write("job_id", summary.job_id);
  write("elapsed_seconds", fmt::format("{:.3f}", absl::ToDoubleSeconds(summary.elapsed)));
  write("reduce_seconds", fmt::format("{:.3f}", absl::ToDoubleSeconds(summary.reduce_elapsed)));
  write("map_output_records", fmt::to_string(summary.map_output_records));
  write("map_output_bytes", fmt::to_string(summary.map_output_bytes));
  write("reduce_input_groups", fmt::to_string(summary.reduce_input_groups));
  write("reduce_output_records", fmt::to_string(summary.reduce_output_records));
  write("reduce_output_bytes", fmt::to_string(summary.reduce_output_bytes));
  write("reduce_output_checksum", fmt::format("{:016x}", summary.reduce_output_checksum));
  write("failed_attempts", fmt::to_string(summary.failed_attempts));
  write("output", keeps_output ? options.output_dir : "not kept");
  const std::string& log_dir = options.master_options.event_log_dir;
  if (!log_dir.empty() && options.agent_enabled) {
    write("event_log", store::EventLogPath(log_dir, summary.job_id));
  }
}

// How the job ended, for those who have not heard it from a master of its own.
std::string EndingOf(const absl::Status& status, const std::string& master) {
  if (master.empty()) return "";
  const char* ending = absl::IsCancelled(status) ? "was stopped" : "failed";
  return fmt::format("{}; the master at {} has not confirmed its end",
                     status.ok() ? "succeeded" : ending, master);
}

absl::StatusOr<examples::RunSummary> RunWatched(const examples::RunOptions& options,
                                                const Show& show, BackgroundProgress& progress) {
  if (options.master_address.empty()) return examples::RunJob(options);
  RemoteWatch watch(options, show, progress);
  auto summary = examples::RunJob(options);
  const bool is_reported = summary.ok() && summary->is_reported;
  if (is_reported || (!summary.ok() && ExitCodeOfRun(summary.status()) != kUsage)) {
    watch.WaitForTheEnd(is_reported);
  }
  return summary;
}

}  // namespace

int Do(const RunArguments& arguments) {
  examples::RunOptions options = arguments.job;
  options.deadline = arguments.progress.deadline;
  options.reduce_task_count = arguments.reducers.value_or(std::min(
      kReducersPerSlot * options.slots, options.master_options.job.limits.reduce_tasks_max));
  std::vector<std::string>& indicators = options.master_options.job.indicators;
  indicators = IndicatorsFor(arguments.progress, std::move(indicators));
  std::optional<TemporaryDirectory> temporary;
  absl::Status status = Complete(options, temporary);
  if (status.ok()) {
    const Streams streams = StreamsOfRun(arguments.progress.mode);
    BackgroundProgress progress(MakeProgress(WithoutDeadline(arguments.progress), streams.progress,
                                             Environment::OfProcess()));
    const Show show = ShowIn(progress, arguments.progress.mode);
    options.on_snapshot = [&show](const Snapshot& snapshot) { show(snapshot); };
    options.on_success = [&](const std::string& master_address) {
      AskForWaits(master_address, options.job_id, progress);
    };
    options.on_notice = [&progress](const std::string& notice) { progress.Say(notice); };
    options.stop = &StopOnInterrupt();
    const auto summary = RunWatched(options, show, progress);
    progress.Finish(EndingOf(summary.status(), options.master_address));
    if (summary.ok()) WriteResult(*summary, options, !temporary.has_value(), streams.result);
    status = summary.status();
  }
  const bool is_known = status.ok() || absl::IsCancelled(status);  // to the one who stopped it
  const std::string flag =
      absl::IsAlreadyExists(status) ? fmt::format("--job-id {}: ", options.job_id) : "";
  if (!is_known) Complain(flag + std::string(status.message()));
  return ExitCodeOfRun(status);
}

}  // namespace tidemark::cli
