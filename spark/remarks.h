// What a reader of an event log of Spark should know beside what it shows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spark/log_reader.h"
#include "spark/measured_stages.h"

namespace tidemark::cli {

// What of a log that was read was left out, and whether it breaks off, for a person; empty:
// nothing. `refused`: events that were told and that a JobMonitor did not take.
std::vector<std::string> RemarksOn(const spark::LogReader& log, std::uint64_t refused);
// Likewise, what of the metrics of its tasks cannot be.
std::vector<std::string> RemarksOn(const spark::Unbelievable& unbelievable);

}  // namespace tidemark::cli
