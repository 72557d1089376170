// The events of a job from a log on the disk: an event log of Spark, or the log that a master
// keeps. The contents of the file decide, not its name. Every command that answers from a log opens
// it here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "master/store/event_log.h"
#include "spark/log_reader.h"
#include "spark/measured_stages.h"
#include "tidemark/event.h"

namespace tidemark::cli {

// Opens the log of a master. Returns null if the path is anything else. Fails as
// store::EventLogReader::Open() does, except with InvalidArgument.
absl::StatusOr<std::unique_ptr<store::EventLogReader>> OpenLogOfMaster(const std::string& path);

// Not thread-safe.
class JobLog {
 public:
  // `measured` receives the counters of an event log of Spark, unless it is null, and outlives the
  // log. Fails as OpenLogOfMaster() and spark::LogReader::Open() do.
  static absl::StatusOr<std::unique_ptr<JobLog>> Open(const std::string& path,
                                                      spark::MeasuredStages* measured = nullptr);

  // Returns the next event, or nullopt at the end. DataLoss: the log is damaged from here on. Fails
  // otherwise as spark::LogReader::Next() does.
  absl::StatusOr<std::optional<Event>> Next();

  // Returns remarks on the log for its reader, a sentence each. `refused` counts the events that a
  // JobMonitor rejected.
  std::vector<std::string> Remarks(std::uint64_t refused) const;
  // Returns null if it is the log of a master.
  const spark::LogReader* spark() const { return spark_.get(); }

 private:
  std::string path_;
  std::unique_ptr<spark::LogReader> spark_;
  std::unique_ptr<store::EventLogReader> of_master_;
  std::vector<std::string> damages_;
};

}  // namespace tidemark::cli
