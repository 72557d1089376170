// Reads a response of WatchJob without its snapshot, which a server that forwards it to many
// readers need not parse for each of them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace tidemark::wire {

struct WatchResponseHead {
  std::string resume_token;
  std::uint64_t skipped_snapshots = 0;
  bool restarted = false;
  std::uint64_t base_sequence = 0;  // of the snapshot; 0 if it is whole
};

// Returns nullopt if the bytes are not a v1::WatchJobResponse. O(fields of the snapshot).
std::optional<WatchResponseHead> ReadWatchResponseHead(absl::string_view response);

}  // namespace tidemark::wire
