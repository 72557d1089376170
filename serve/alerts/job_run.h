// The identity of one run of a job, and the ids of messages that were sent about it. Pure.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "tidemark/job.h"

namespace tidemark::serve {

// Returns a text that differs between any two runs and stays the same after a restart.
std::string RunOf(const Snapshot& job);

// Returns "2026-01-02T03:04:05.678Z".
std::string UtcText(absl::Time at);

// Returns 16 hexadecimal digits.
std::string ShortHash(const std::string& text);
// Returns a UUID of version 8 (RFC 9562) with 122 bits of a hash.
std::string UuidOf(const std::string& text);

// Returns true if one of `patterns` matches the name of the job, or its id if it has no name. A *
// in a pattern matches any text.
bool IsNamedBy(const std::vector<std::string>& patterns, const Snapshot& job);

// Returns the basis of an estimate in the words of messages. Returns "" if the basis is unknown or
// there is no estimate.
constexpr std::string_view NameOf(Basis basis) {
  switch (basis) {
    case Basis::kGuess:
      return "guess";
    case Basis::kEarlierRuns:
      return "earlier_runs";
    case Basis::kThisRun:
      return "this_run";
    case Basis::kUnknown:
    case Basis::kDone:
      break;
  }
  return "";
}

// A bounded set of ids of sent messages. It keeps at least the newest kKept ids and drops older
// ones, including the initial ids. Not thread-safe.
class RecentIds {
 public:
  static constexpr std::size_t kKept = 10'000;

  explicit RecentIds(std::set<std::string> ids = {}) : older_(std::move(ids)) {}

  // Returns false if the id is in the set already.
  bool Insert(const std::string& id) {
    if (newer_.contains(id) || older_.contains(id)) return false;
    if (newer_.size() >= kKept) older_ = std::exchange(newer_, {});
    newer_.insert(id);
    return true;
  }

 private:
  std::set<std::string> newer_;
  std::set<std::string> older_;
};

}  // namespace tidemark::serve
