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
#include <vector>

#include "absl/time/clock.h"
#include "cli/commands.h"
#include "cli/log_replay.h"
#include "cli/master_call.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "master/store/history.h"
#include "master/waits/cluster_waits.h"
#include "tidemark/event.h"
#include "tidemark/explanation.h"
#include "transport/small_file.h"

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

// Returns the waits of the only application of a log.
absl::StatusOr<Explanation> WaitsIn(waits::ClusterWaits& log) {
  log.Finish();
  for (const std::string& job : log.jobs()) {
    std::optional<Explanation> waits = log.Ask(job, {});
    if (waits && !waits->queries.empty()) return *std::move(waits);
  }
  return absl::NotFoundError("the log contains no task");
}

}  // namespace

int Run(const ReplayArguments& arguments) {
  std::error_code error;
  if (!std::filesystem::is_directory(arguments.log, error)) {
    const absl::Status readable = transport::CheckRegularFile(arguments.log);
    if (!readable.ok()) return ReportInputError(readable);
  }
  std::unique_ptr<store::History> history;
  waits::ClusterWaits waits;
  auto replay = LogReplay::Open(arguments.log,
                                {.indicators =
                                     [&](std::vector<std::string> asked) {
                                       return IndicatorsFor(arguments.progress, std::move(asked));
                                     },
                                 .on_event = [&waits](const Event& event) { waits.Apply(event); }});
  if (!replay.ok()) return ReportInputError(replay.status());
  if (!arguments.history.empty()) {
    if (replay->is_of_master()) {
      PrintError(
          "--history is for logs of Spark and Hadoop; a Tidemark event log already contains the "
          "past runs that it used");
      return kUsage;
    }
    // Keeps all earlier entries regardless of their age.
    auto opened = store::History::Open(arguments.history + "/history.sqlite",
                                       {.age_max = absl::InfiniteDuration(),
                                        .bytes_max = std::numeric_limits<std::size_t>::max()});
    if (!opened.ok()) return ReportInputError(opened.status());
    history = *std::move(opened);
    replay->Use(*history);
  }
  const auto progress = MakeProgress(arguments.progress, stdout, Environment::OfProcess());
  Pace pace(arguments.speed);
  absl::StatusOr<bool> more = false;
  // A file that is not a log needs no remarks.
  bool is_log = replay->is_of_master();
  while ((more = replay->Next()).ok() && *more) {
    is_log = true;
    pace.WaitFor(replay->monitor().job().at);
    if (!progress->Show(replay->monitor().job())) return kReaderGone;
  }
  if (!is_log && !more.ok()) return ReportInputError(more.status());
  if (is_log) {
    progress->Explain(WaitsIn(waits));
    progress->Finish();
    for (const std::string& remark : replay->Remarks()) PrintError(remark);
  }
  if (more.ok()) return replay->has_damage() ? kLogTorn : kSuccess;
  PrintError(std::string(more.status().message()));
  return kLogTorn;
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
