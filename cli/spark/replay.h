// An application of Spark from its event log, as a master would have watched it.
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
#include "spark/signs_of_life.h"
#include "tidemark/job_monitor.h"

namespace tidemark::cli {

// Bounds the ticks of a replay by the size of its log. Each tick costs the steps that it takes
// (JobMonitor::tick_steps()), and each event of the log pays for some; while the replay is in debt,
// ticks are left out. A log of twice as many stages takes twice as long, and shows as many
// snapshots.
struct TickBudget {
  // Enough for all ticks of most logs: about a second.
  std::uint64_t steps_at_first = 1'000'000;
  // About as long as reading an event takes.
  std::uint64_t steps_per_event = 3;
};

struct SparkReplayOptions {
  JobMonitorOptions monitor;
  // Whose runs of applications of that name the estimate knows, and to which this run is added when
  // it has ended; null: none. Not owned.
  store::History* history = nullptr;
  // Called once for each event of the log, if set.
  std::function<void(const Event&)> on_event = {};
  TickBudget budget = {};
};

// Between the events of the log it ticks as a master does, within its budget. It reports running
// tasks as alive: a log has no entry for a task until its end, which is not silence.
class SparkReplay {
 public:
  // Fails with the errors of spark::LogReader::Open().
  static absl::StatusOr<SparkReplay> Open(const std::string& path,
                                          const SparkReplayOptions& options);

  // Advances to the next snapshot. Returns false at the end of the log. Fails as
  // spark::LogReader::Next() does, and with ResourceExhausted if the application exceeds the limits
  // of a JobMonitor; all snapshots before the failure have been shown.
  absl::StatusOr<bool> Next();
  // The job as of the last Next() that returned true. REQUIRES: there was one.
  const JobMonitor& monitor() const { return *monitor_; }
  // Returns remarks for a person on what the log leaves out and whether it breaks off. Empty if
  // there are none.
  std::vector<std::string> Remarks() const;

 private:
  SparkReplay(std::string path, std::unique_ptr<spark::LogReader> log,
              const SparkReplayOptions& options);
  void Apply(const Event& event);
  void Learn(const JobOpened& opened);
  void Teach();

  std::string path_;
  std::unique_ptr<spark::LogReader> log_;
  SparkReplayOptions options_;
  std::optional<JobMonitor> monitor_;
  std::optional<Event> next_;
  absl::Time now_ = absl::InfinitePast();   // the last event's
  std::uint64_t sequence_ = 0;              // likewise
  absl::Time tick_ = absl::InfinitePast();  // the next one, or that one is due since then
  std::int64_t steps_left_;                 // of the budget; below 0: no tick is made
  bool has_ended_ = false;                  // and the last snapshot was made
  spark::SignsOfLife signs_{"replay"};
  std::uint64_t refused_ = 0;
  absl::Status limit_;  // why the log is not read any further
  absl::Status history_trouble_;
};

}  // namespace tidemark::cli
