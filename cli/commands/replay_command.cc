#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/clock.h"
#include "cli/commands.h"
#include "cli/log_replay.h"
#include "cli/master_call.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "master/store/event_log.h"
#include "master/store/history.h"
#include "master/waits/cluster_waits.h"
#include "tidemark/event.h"
#include "tidemark/explanation.h"
#include "tidemark/job_monitor.h"
#include "transport/small_file.h"
#include "whatif/spark_run.h"

namespace tidemark::cli {
namespace {

// Between two snapshots, waits for the time between them in the job, divided by the speed.
class Pace {
 public:
  explicit Pace(double speed) : speed_(speed) {}
  void WaitFor(absl::Time at) {
    if (speed_ > 0 && before_)
      absl::SleepFor(std::max(at - *before_, absl::ZeroDuration()) / speed_);
    before_ = at;
  }

 private:
  const double speed_;
  std::optional<absl::Time> before_;
};

int CannotOpen(const absl::Status& status) {
  PrintError(status);
  return absl::IsDataLoss(status) ? kLogTorn : kUsage;
}

// Returns the waits of the only application of a log.
absl::StatusOr<Explanation> WaitsIn(waits::ClusterWaits& log) {
  log.Finish();
  for (const std::string& job : log.jobs()) {
    std::optional<Explanation> waits = log.Ask(job, {});
    if (waits && !waits->queries.empty()) return *std::move(waits);
  }
  return absl::NotFoundError("the log contains no task");
}

int ReplayLogOfEngine(const ReplayArguments& arguments) {
  const JobMonitorOptions defaults;
  std::unique_ptr<store::History> history;
  if (!arguments.history.empty()) {
    // Keeps all earlier entries regardless of their age.
    auto opened = store::History::Open(arguments.history + "/history.sqlite",
                                       {.age_max = absl::InfiniteDuration(),
                                        .bytes_max = std::numeric_limits<std::size_t>::max()});
    if (!opened.ok()) return CannotOpen(opened.status());
    history = *std::move(opened);
  }
  waits::ClusterWaits waits;
  auto replay = LogReplay::Open(
      arguments.log,
      {.monitor = {.indicators = IndicatorsFor(arguments.progress, defaults.indicators)},
       .history = history.get(),
       .on_event = [&waits](const Event& event) { waits.Apply(event); }});
  if (!replay.ok()) return CannotOpen(replay.status());
  const auto progress = MakeProgress(arguments.progress, stdout, Environment::OfProcess());
  Pace pace(arguments.speed);
  absl::StatusOr<bool> more = false;
  bool has_shown = false;
  while ((more = replay->Next()).ok() && *more) {
    has_shown = true;
    pace.WaitFor(replay->monitor().job().at);
    if (!progress->Show(replay->monitor().job())) return kReaderGone;
  }
  // A file that is not a log needs no remarks.
  if (!has_shown && !more.ok()) {
    PrintError(std::string(more.status().message()));
    return absl::IsDataLoss(more.status()) ? kLogTorn : kUsage;
  }
  if (has_shown) {
    progress->Explain(WaitsIn(waits));
    progress->Finish();
  }
  for (const std::string& remark : replay->Remarks()) {
    if (has_shown) PrintError(fmt::format("{}: {}", arguments.log, remark));
  }
  if (more.ok()) return replay->has_damage() ? kLogTorn : kSuccess;
  PrintError(std::string(more.status().message()));
  return kLogTorn;
}

}  // namespace

int Run(const ReplayArguments& arguments) {
  std::error_code error;
  if (std::filesystem::is_directory(arguments.log, error)) return ReplayLogOfEngine(arguments);
  const absl::Status readable = transport::CheckRegularFile(arguments.log);
  if (!readable.ok()) return CannotOpen(readable);
  const auto reader = whatif::OpenLogOfMaster(arguments.log);
  if (!reader.ok()) return CannotOpen(reader.status());
  if (*reader == nullptr) return ReplayLogOfEngine(arguments);
  if (!arguments.history.empty()) {
    PrintError(
        "--history is for logs of Spark and Hadoop; a Tidemark event log already contains the past "
        "runs that it used");
    return kUsage;
  }
  const auto progress = MakeProgress(arguments.progress, stdout, Environment::OfProcess());
  JobMonitorOptions options = (*reader)->options();
  options.indicators = IndicatorsFor(arguments.progress, std::move(options.indicators));
  JobMonitor monitor((*reader)->job_id(), options);
  Pace pace(arguments.speed);
  waits::ClusterWaits waits;
  std::vector<std::string> damages;
  for (;;) {
    const auto record = (*reader)->Next();
    if (!record.ok() || !record->has_value()) {
      progress->Explain(WaitsIn(waits));
      progress->Finish();
      if (!record.ok()) damages.emplace_back(record.status().message());
      for (const std::string& damage : damages) PrintError(damage);
      return damages.empty() ? kSuccess : kLogTorn;
    }
    if (const auto* damage = std::get_if<store::Damage>(&**record)) {
      damages.push_back(store::RecordReader::Describe(store::kEventLog, arguments.log, *damage));
    }
    if (const auto* const event = std::get_if<Event>(&**record)) waits.Apply(*event);
    const Snapshot* const snapshot = store::Replay(**record, monitor);
    if (snapshot == nullptr) continue;
    pace.WaitFor(snapshot->at);
    if (!progress->Show(*snapshot)) return kReaderGone;
  }
}

namespace {

// Chosen by hand; a slower replay would appear to be stuck.
constexpr double kSpeedMin = 0.001;

double ParseSpeed(const std::string& word) {
  if (word == "max") return 0;
  char* end = nullptr;
  const double speed = std::strtod(word.c_str(), &end);
  if (end == word.c_str() || *end != '\0' || !std::isfinite(speed) || speed < kSpeedMin) {
    throw CLI::ValidationError(
        fmt::format("--speed must be a number of at least {}, or max, not {}", kSpeedMin, word));
  }
  return speed;
}

}  // namespace

void AddReplay(CLI::App& root, Invocation& invocation) {
  CLI::App& app = *root.add_subcommand(
      "replay", "Replay a job from its event log, or from a log of Spark or Hadoop");
  auto& arguments = ArgumentsOf<ReplayArguments>(app, invocation, Run);
  app.add_option("LOG", arguments.log,
                 "Tidemark event log, Spark event log (a file, or the folder of a rolling log), or "
                 "history file of a MapReduce job (.jhist)")
      ->required();
  app.add_option_function<std::string>(
         "--speed", [&arguments](const std::string& word) { arguments.speed = ParseSpeed(word); },
         "Multiple of the original speed [max: without waiting]")
      ->type_name("N|max");
  Directory(app.add_option(
      "--history", arguments.history,
      "A master's data directory: learn from its past runs, and add this run (logs of Spark and "
      "Hadoop)"));
  AddProgress(app, arguments.progress);
  AddFooter(
      app,
      "Exit code: 0 success, 2 usage error or the log cannot be read, 4 truncated or damaged log.");
}

}  // namespace tidemark::cli
