// Measures the restart time of a master with many jobs.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace tidemark::bench {

struct RestartOptions {
  std::string tidemark;   // the program
  std::string directory;  // for the data of the master; initially empty
  std::uint32_t jobs = 1000;
  std::uint32_t running = 100;  // running jobs
  std::uint64_t events = 10'000'000;
  int repetitions = 5;
};

struct RestartReport {
  std::uint64_t events = 0;
  std::uint64_t journal_bytes = 0;
  double median_s = 0;  // from the start until it listens with all jobs
  double max_s = 0;
};

absl::StatusOr<RestartReport> MeasureRestart(const RestartOptions& options);

}  // namespace tidemark::bench
