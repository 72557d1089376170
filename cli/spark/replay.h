// Replays a Spark application from its event log as a master would have shown it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "master/store/history.h"
#include "spark/log_reader.h"
#include "tidemark/job_monitor.h"

namespace tidemark::cli {

// Bounds the ticks of a replay by the size of its log. Each tick costs steps
// (JobMonitor::tick_steps()), and each event of the log adds steps. If too few steps are left,
// ticks are skipped. A log with twice as many stages takes twice as long and shows as many
// snapshots.
struct TickBudget {
  // Suffices for all ticks of most logs. These steps take about a second of processor time.
  std::uint64_t steps_at_first = 1'000'000;
  // These steps take about as long as reading an event.
  std::uint64_t steps_per_event = 3;
};

struct SparkReplayOptions {
  JobMonitorOptions monitor;
  // Provides past runs of the application, and receives this run when it has ended. May be null;
  // not owned.
  store::History* history = nullptr;
  // Called with each event of the log, if set.
  std::function<void(const Event&)> on_event = {};
  TickBudget budget = {};
};

// Ticks between the events of the log like a master, within the budget, and sends heartbeats for
// running tasks.
class SparkReplay {
 public:
  // Fails like spark::LogReader::Open().
  static absl::StatusOr<SparkReplay> Open(const std::string& path,
                                          const SparkReplayOptions& options);

  // Advances to the next snapshot. Returns false at the end of the log. Fails like
  // spark::LogReader::Next(), and with ResourceExhausted if the application exceeds the limits of a
  // JobMonitor. All snapshots before the failure have been shown.
  absl::StatusOr<bool> Next();
  // Returns the job as of the last Next() that returned true. REQUIRES: Next() has returned true.
  const JobMonitor& monitor() const { return *monitor_; }
  // Returns human-readable remarks on facts that the log lacks and on a truncated log.
  std::vector<std::string> Remarks() const;

 private:
  SparkReplay(std::string path, std::unique_ptr<spark::LogReader> log,
              const SparkReplayOptions& options);
  void Apply(const Event& event);
  void LoadPastRuns(const JobOpened& opened);
  void SaveRun();

  std::string path_;
  std::unique_ptr<spark::LogReader> log_;
  SparkReplayOptions options_;
  std::optional<JobMonitor> monitor_;
  std::optional<Event> next_;
  absl::Time now_ = absl::InfinitePast();   // time of the last event
  std::uint64_t sequence_ = 0;              // sequence of the last event
  absl::Time tick_ = absl::InfinitePast();  // time of the next tick
  std::int64_t steps_left_;                 // remaining steps; while negative, ticks are skipped
  bool has_ended_ = false;                  // whether the last snapshot was made
  spark::RunningTasks running_{"replay"};
  std::uint64_t rejected_ = 0;  // events that the monitor rejected
  absl::Status limit_;          // why reading stopped early
  absl::Status history_error_;
};

}  // namespace tidemark::cli
