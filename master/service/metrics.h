// The counters behind MasterStats.
//
// Thread-safe. Each counter is atomic, but two counters read together may differ by a few events.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"
#include "tidemark/contention.h"
#include "tidemark/master_stats.h"
#include "tidemark/wait_reason.h"

namespace tidemark::service {

using Counter = std::atomic<std::uint64_t>;

class LatencyHistogram {
 public:
  // O(bounds). A negative duration counts as zero.
  void Observe(absl::Duration latency);
  LatencyCounts Read() const;

 private:
  std::array<Counter, LatencyCounts::kBounds.size() + 1> counts_{};
  std::atomic<std::int64_t> sum_nanos_{0};
};

struct Metrics {
  Counter events{0};
  Counter event_bytes{0};
  Counter events_refused{0};
  Counter events_refused_by_limit{0};
  Counter calls_unauthenticated{0};
  Counter calls_denied{0};
  Counter calls_refused_by_limit{0};
  Counter connections_refused{0};
  Counter connections_cut{0};
  Counter snapshots_published{0};
  Counter snapshots_skipped{0};
  std::atomic<std::size_t> connections{0};
  std::atomic<std::size_t> connections_waiting{0};
  std::atomic<std::int64_t> ingest_streams{0};
  std::atomic<std::int64_t> unanswered_events{0};
  std::array<std::atomic<double>, kWaitReasonCount> contention_seconds{};
  std::atomic<double> contention_of_cause_seconds{0};
  std::atomic<double> contention_of_query_seconds{0};
  std::atomic<double> contention_of_host_seconds{0};
  LatencyHistogram tick;
  LatencyHistogram estimate;
  LatencyHistogram workflow_estimate;
  LatencyHistogram journal;

  // Reads all values except the number of watchers.
  MasterStats Read() const;
  // Replaces the values of contention.
  void SetContention(const ClusterContention& contention);
};

// Returns the processor time of the calling thread.
absl::Duration ThreadCpuTime();

// Records the time between its construction and its destruction. `histogram` may be null.
class Stopwatch {
 public:
  explicit Stopwatch(LatencyHistogram* histogram);
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  LatencyHistogram* const histogram_;
  const std::int64_t started_nanos_;
};

}  // namespace tidemark::service
