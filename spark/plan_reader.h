// The plans in the event log of an application on the disk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "spark/log_files.h"
#include "whatif/advise/ran_plan.h"

namespace tidemark::spark {

struct PlansOfLog {
  std::vector<advise::RanPlan> plans;  // by when they began
  std::uint64_t left_out = 0;          // executions and jobs that failed, or whose end is not there
  absl::Status damage;                 // DataLoss: the log is damaged; what is before was read
  std::vector<std::string> remarks;    // losses of the files of a rolled log
  std::string run;                     // the run of the application; empty if the log has no start
  std::uint64_t events = 0;            // of Spark
};

// Takes what LogReader takes; one that is still written is read as far as it goes. Errors name the
// file: NotFound, InvalidArgument (no event log of Spark, or one without its beginning),
// Unimplemented (a compression that is not read), Unavailable (not to be read).
absl::StatusOr<PlansOfLog> ReadPlans(const std::string& path);
// Does the same for one of several logs.
absl::StatusOr<PlansOfLog> ReadPlans(const LogFiles& log);

}  // namespace tidemark::spark
