// The name of this process among all that report one job.
#pragma once

#include <string>

namespace tidemark::agent {

// The wire's limit, of a run_uid as well (event.proto).
inline constexpr std::size_t kSourceIdBytesMax = 128;

// "HOST-PID-RANDOM": a restarted process, or a second agent in this one, has another.
std::string MakeSourceId();

}  // namespace tidemark::agent
