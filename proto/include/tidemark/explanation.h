// Who slowed a job down: what its queries waited for, where, and because of which others.
//
// A query is what people wait for within a job: a SQL execution, or a job of Spark outside of any;
// a job that names none is one query without a name. Seconds are those by which the query ended
// later: of stages that followed one another, never of two at once. Empty: not told, which is not
// zero.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace tidemark {

// What tasks wait for: a slot, a processor, memory, the network, a disk.
enum class WaitedResource : std::uint8_t { kScheduler, kProcessor, kMemory, kNetwork, kIo };
inline constexpr std::size_t kWaitedResourceCount = 5;
inline constexpr std::array<WaitedResource, kWaitedResourceCount> kWaitedResources = {
    WaitedResource::kScheduler, WaitedResource::kProcessor, WaitedResource::kMemory,
    WaitedResource::kNetwork, WaitedResource::kIo};

template <typename T>
class PerResource {
 public:
  T& operator[](WaitedResource resource) { return values_[static_cast<std::size_t>(resource)]; }
  const T& operator[](WaitedResource resource) const {
    return values_[static_cast<std::size_t>(resource)];
  }
  friend bool operator==(const PerResource&, const PerResource&) = default;

 private:
  std::array<T, kWaitedResourceCount> values_{};
};

// A query that took what another waited for.
struct Culprit {
  std::string job_id;  // empty: of a job that the reader may not see, or that is forgotten
  std::string query;   // of that job; empty: it names none, or is not to be seen
  // That stand behind an empty job_id; 0: none, it is what no task reported, such as processes that
  // are nobody's job, or threads beside those of tasks.
  std::uint32_t jobs = 1;
  WaitedResource resource = WaitedResource::kScheduler;
  std::string host;  // empty: slots, which are not of one host
  double seconds = 0;
  friend bool operator==(const Culprit&, const Culprit&) = default;
};

struct QueryWait {
  std::optional<double> seconds;
  bool is_least = false;  // some tasks did not tell
  friend bool operator==(const QueryWait&, const QueryWait&) = default;
};

struct QueryWaits {
  std::string query;
  std::optional<double> seconds;  // from its start to its end, or until now
  // Slots: only what others held, while no slot was free. The rest: whoever caused it.
  PerResource<QueryWait> waits;
  // Its own doing, beside neighbours: by so much the longest task of a stage took longer than the
  // mean one, what they waited taken off. Empty: no stage of several tasks has ended.
  std::optional<double> skew_seconds;
  std::vector<Culprit> culprits;  // the worst first
  friend bool operator==(const QueryWaits&, const QueryWaits&) = default;
};

struct Explanation {
  std::string job_id;
  std::string run_uid;
  absl::Time at;                       // until when, by the master's clock
  absl::Time since;                    // from when on the job was seen
  bool is_partial = false;             // it ran before, or there was no room for all of it
  std::vector<QueryWaits> queries;     // in the order in which they began
  std::uint32_t queries_left_out = 0;  // older ones
  friend bool operator==(const Explanation&, const Explanation&) = default;
};

// What to explain. Empty: all.
struct ExplainQuestion {
  std::string query;
  std::optional<WaitedResource> resource;
  std::string host;                    // slots are of none
  std::size_t culprits_max = 3;        // of each query
  std::size_t queries_max = 200;       // the newest
  std::optional<absl::Duration> last;  // only what was waited in so much time, in minutes
  friend bool operator==(const ExplainQuestion&, const ExplainQuestion&) = default;
};

}  // namespace tidemark
