#include <fmt/format.h>

#include <algorithm>
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
#include "cli/environment.h"
#include "cli/exit_code.h"
#include "cli/progress.h"
#include "cli/spark/replay.h"
#include "master/store/event_log.h"
#include "master/store/history.h"
#include "master/waits/cluster_waits.h"
#include "tidemark/event.h"
#include "tidemark/explanation.h"
#include "tidemark/job_monitor.h"
#include "transport/small_file.h"
#include "whatif/job_log.h"

namespace tidemark::cli {
namespace {

// Waits as long as the job took between two snapshots, divided by the speed.
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
  Complain(std::string(status.message()));
  return absl::IsDataLoss(status) ? kLogTorn : kUsage;
}

// Of the one application of a log.
absl::StatusOr<Explanation> WaitsIn(blame::ClusterWaits& log) {
  log.Finish();
  for (const std::string& job : log.jobs()) {
    std::optional<Explanation> waits = log.Ask(job, {});
    if (waits && !waits->queries.empty()) return *std::move(waits);
  }
  return absl::NotFoundError("the log tells of no task that ran");
}

int ReplaySparkLog(const ReplayArguments& arguments) {
  const JobMonitorOptions defaults;
  std::unique_ptr<store::History> history;
  if (!arguments.history.empty()) {
    // What was kept before stays, however old it is.
    auto opened = store::History::Open(arguments.history + "/history.sqlite",
                                       {.age_max = absl::InfiniteDuration(),
                                        .bytes_max = std::numeric_limits<std::size_t>::max()});
    if (!opened.ok()) return CannotOpen(opened.status());
    history = *std::move(opened);
  }
  blame::ClusterWaits waits;
  auto replay = SparkReplay::Open(
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
  // Of a file that is no log there is nothing to remark.
  if (!has_shown && !more.ok()) {
    Complain(std::string(more.status().message()));
    return kUsage;
  }
  if (has_shown) {
    progress->Explain(WaitsIn(waits));
    progress->Finish();
  }
  for (const std::string& remark : replay->Remarks()) {
    if (has_shown) Complain(fmt::format("{}: {}", arguments.log, remark));
  }
  if (more.ok()) return kSuccess;
  Complain(std::string(more.status().message()));
  return kLogTorn;
}

}  // namespace

int Do(const ReplayArguments& arguments) {
  std::error_code error;
  if (std::filesystem::is_directory(arguments.log, error)) return ReplaySparkLog(arguments);
  const absl::Status readable = transport::CheckRegularFile(arguments.log);
  if (!readable.ok()) return CannotOpen(readable);
  const auto reader = OpenLogOfMaster(arguments.log);
  if (!reader.ok()) return CannotOpen(reader.status());
  if (*reader == nullptr) return ReplaySparkLog(arguments);
  if (!arguments.history.empty()) {
    Complain("--history is for event logs of Spark; ours hold what was known of earlier runs");
    return kUsage;
  }
  const auto progress = MakeProgress(arguments.progress, stdout, Environment::OfProcess());
  JobMonitorOptions options = (*reader)->options();
  options.indicators = IndicatorsFor(arguments.progress, std::move(options.indicators));
  JobMonitor monitor((*reader)->job_id(), options);
  Pace pace(arguments.speed);
  std::vector<std::string> damages;
  for (;;) {
    const auto record = (*reader)->Next();
    if (!record.ok() || !record->has_value()) {
      progress->Finish();
      if (!record.ok()) damages.emplace_back(record.status().message());
      for (const std::string& damage : damages) Complain(damage);
      return damages.empty() ? kSuccess : kLogTorn;
    }
    if (const auto* damage = std::get_if<store::Damage>(&**record)) {
      damages.push_back(store::RecordReader::Describe(store::kEventLog, arguments.log, *damage));
    }
    const std::optional<Snapshot> snapshot = store::Replay(**record, monitor);
    if (!snapshot) continue;
    pace.WaitFor(snapshot->at);
    if (!progress->Show(*snapshot)) return kReaderGone;
  }
}

}  // namespace tidemark::cli
