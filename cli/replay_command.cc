#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/clock.h"
#include "cli/commands.h"
#include "cli/environment.h"
#include "cli/exit_code.h"
#include "cli/progress.h"
#include "master/store/event_log.h"
#include "tidemark/job_monitor.h"
#include "transport/small_file.h"

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

}  // namespace

int Do(const ReplayArguments& arguments) {
  const absl::Status readable = transport::CheckRegularFile(arguments.log);
  if (!readable.ok()) return CannotOpen(readable);
  const auto reader = store::EventLogReader::Open(arguments.log);
  if (!reader.ok()) return CannotOpen(reader.status());
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
