// Agents that come back: each keeps a stream open, as those of tasks do, repeats what was not
// acknowledged after a break, and waits between attempts like them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace tidemark::bench {

struct SteadyLoad {
  std::string address;
  std::string job_prefix;  // jobs are called PREFIX-0, PREFIX-1, ...
  std::uint32_t agents = 1;
  std::uint32_t agents_per_job = 100;
  std::uint32_t points = 10;
  absl::Duration between_messages;  // of each agent
  absl::Duration opening;           // over which the first messages are spread
  absl::Duration duration;          // from the first on; then what is not acknowledged has a minute
};

// What became of one of them.
struct SteadyAgentFate {
  std::uint64_t sent = 0;  // messages, each once
  std::uint64_t acknowledged = 0;
  std::uint64_t refused = 0;
  std::uint64_t breaks = 0;  // streams that ended before their time, and attempts that failed
  absl::Time back_at;        // first acknowledgement after the last break; the past: none
};

struct SteadyJobFate {
  std::string job_id;
  bool is_open = false;
  std::vector<SteadyAgentFate> agents;
};

std::vector<SteadyJobFate> RunSteadyLoad(const SteadyLoad& load);

}  // namespace tidemark::bench
