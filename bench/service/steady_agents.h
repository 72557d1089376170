// Agents that reconnect. Like a task, each of them keeps a stream open and resends unacknowledged
// events after a break. It waits between attempts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace tidemark::bench {

struct SteadyLoad {
  std::string address;
  std::string job_prefix;  // ids are PREFIX-0, PREFIX-1, ...
  std::uint32_t agents = 1;
  std::uint32_t agents_per_job = 100;
  std::uint32_t points = 10;
  absl::Duration between_messages;  // time between two messages of an agent
  absl::Duration opening;           // time over which the first messages are spread
  // Time from the first to the last message. Unacknowledged messages then have another minute.
  absl::Duration duration;
};

// The result of one agent.
struct SteadyAgentFate {
  std::uint64_t sent = 0;  // distinct messages
  std::uint64_t acknowledged = 0;
  std::uint64_t refused = 0;
  std::uint64_t breaks = 0;  // broken streams and failed attempts
  absl::Time back_at;        // time of the first acknowledgement after the last break, if any
};

struct SteadyJobFate {
  std::string job_id;
  bool is_open = false;
  std::vector<SteadyAgentFate> agents;
};

std::vector<SteadyJobFate> RunSteadyLoad(const SteadyLoad& load);

}  // namespace tidemark::bench
