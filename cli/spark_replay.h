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

struct SparkReplayOptions {
  JobMonitorOptions monitor;
  // Whose runs of applications of that name the estimate knows, and to which this run is added when
  // it has ended; null: none. Not owned.
  store::History* history = nullptr;
  // Sees each event of the log once; empty: nobody does.
  std::function<void(const Event&)> on_event = {};
};

// Between the events of the log it ticks as a master does, and tells that tasks live while they
// run: a log says nothing until they end, which is not silence.
class SparkReplay {
 public:
  // Errors: those of spark::LogReader::Open().
  static absl::StatusOr<SparkReplay> Open(const std::string& path,
                                          const SparkReplayOptions& options);

  // Goes on to the next snapshot. False: the log ends. Errors: those of spark::LogReader::Next();
  // what is before them has been shown.
  absl::StatusOr<bool> Next();
  // The job as of the last Next() that returned true. REQUIRES: there was one.
  const JobMonitor& monitor() const { return *monitor_; }
  // What the log says that was left out, and whether it breaks off, for a person; empty: nothing.
  std::vector<std::string> Remarks() const;

 private:
  SparkReplay(std::unique_ptr<spark::LogReader> log, const SparkReplayOptions& options);
  void Apply(const Event& event);
  void Learn(const JobOpened& opened);
  void Teach();

  std::unique_ptr<spark::LogReader> log_;
  SparkReplayOptions options_;
  std::optional<JobMonitor> monitor_;
  std::optional<Event> next_;
  absl::Time now_ = absl::InfinitePast();   // the last event's
  absl::Time tick_ = absl::InfinitePast();  // the next one
  bool has_ended_ = false;                  // and the last snapshot was made
  spark::SignsOfLife signs_{"replay"};
  std::uint64_t refused_ = 0;
  absl::Status history_trouble_;
};

}  // namespace tidemark::cli
