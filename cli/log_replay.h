// Replays a job from the log of a master, from a Spark event log, or from the history file of a
// MapReduce job. The last two are replayed as a master would have shown them.
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
#include "whatif/spark_run.h"

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

struct LogReplayOptions {
  JobMonitorOptions monitor;  // not for the log of a master, which contains them
  // Returns the indicators that replace the indicators of the options, if set.
  std::function<std::vector<std::string>(std::vector<std::string>)> indicators = {};
  // Called with each event of the log, if set.
  std::function<void(const Event&)> on_event = {};
  TickBudget budget = {};
};

// Ticks between the events of an engine's log like a master, within the budget, and sends
// heartbeats for running tasks.
class LogReplay {
 public:
  // Fails like whatif::JobLog::Open().
  static absl::StatusOr<LogReplay> Open(const std::string& path, const LogReplayOptions& options);

  bool is_of_master() const { return log_->of_master() != nullptr; }
  // Sets the provider of past runs of the job, which also receives this run when it has ended.
  // REQUIRES: the log is not of a master; Next() has not been called; `history` outlives the calls.
  void Use(store::History& history) { history_ = &history; }

  // Advances to the next snapshot. Returns false at the end of the log. Fails like
  // whatif::JobLog::Next(), and with ResourceExhausted if the job exceeds the limits of a
  // JobMonitor. All snapshots before the failure have been shown.
  absl::StatusOr<bool> Next();
  // Returns the job as of the last Next() that returned true. REQUIRES: Next() has returned true.
  const JobMonitor& monitor() const { return *monitor_; }
  // Returns whatif::JobLog::has_damage() of the part that has been read.
  bool has_damage() const { return log_->has_damage(); }
  // Returns human-readable remarks on facts that the log lacks and on damage, with the path.
  std::vector<std::string> Remarks() const;

 private:
  LogReplay(std::string path, std::unique_ptr<whatif::JobLog> log, const LogReplayOptions& options);
  absl::StatusOr<bool> NextOfMaster();
  void Apply(const Event& event);
  void LoadPastRuns();
  void SaveRun();

  std::string path_;
  std::unique_ptr<whatif::JobLog> log_;
  LogReplayOptions options_;
  store::History* history_ = nullptr;
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
