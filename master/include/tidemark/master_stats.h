// The counters of a master as plain numbers, for dashboards.
//
//   const tidemark::MasterStats stats = master->stats();
//   gauge.Set(stats.connections);
//   counter.Set(stats.events);
//
// Counts are totals since the start of the master and only grow; gauges rise and fall. Units are
// base units (seconds, bytes). The numbers are read sequentially, not all at the same time.
// serve/metrics.cc exports them to Prometheus, and docs/serve.md explains them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tidemark/wait_reason.h"

namespace tidemark {

// A histogram of durations.
struct LatencyCounts {
  // Upper bounds in seconds. The last count is for longer durations.
  static constexpr std::array<double, 12> kBounds = {0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03,
                                                     0.1,    0.2,    0.5,   1,     3,    10};
  // Not cumulative. counts[i] covers the interval that ends at kBounds[i].
  std::array<std::uint64_t, kBounds.size() + 1> counts{};
  // Sum of all observations.
  double sum_seconds = 0;
};

// Copyable. Const values may be shared between threads.
struct MasterStats {
  std::uint64_t events = 0;
  std::uint64_t event_bytes = 0;
  // Rejected events: malformed, for an unknown job, or beyond a limit. events_refused_by_limit
  // counts only events beyond a limit.
  std::uint64_t events_refused = 0;
  std::uint64_t events_refused_by_limit = 0;
  // Calls without a token or with an unknown token.
  std::uint64_t calls_unauthenticated = 0;
  // Calls whose token lacks the required right.
  std::uint64_t calls_denied = 0;
  std::uint64_t calls_refused_by_limit = 0;
  // Connections rejected because of limits on connections or descriptors.
  std::uint64_t connections_refused = 0;
  // Connections closed because the peer did not authenticate in time.
  std::uint64_t connections_cut = 0;
  std::uint64_t snapshots_published = 0;
  // Snapshots that a slow watcher missed.
  std::uint64_t snapshots_skipped = 0;

  // Open connections.
  std::size_t connections = 0;
  // Unauthenticated connections that wait for admission. Included in `connections`.
  std::size_t connections_waiting = 0;
  std::size_t ingest_streams = 0;
  std::size_t watchers = 0;
  // Received events that have not been answered yet.
  std::size_t unanswered_events = 0;

  // Delay of queries by other queries in the last five minutes, in seconds
  // (tidemark/contention.h). Computed every 30 s.
  PerWaitReason<double> contention_seconds;
  // The largest total caused by one query, suffered by one query, and on one host.
  double contention_of_cause_seconds = 0;
  double contention_of_query_seconds = 0;
  double contention_of_host_seconds = 0;

  // Time of one tick, which updates every job whose update interval has elapsed.
  LatencyCounts tick;
  // Time to compute one snapshot of a job.
  LatencyCounts estimate;
  // Time to compute one snapshot of a workflow.
  LatencyCounts workflow_estimate;
  // Time from the arrival of an event until it is durable. Empty if there is no journal.
  LatencyCounts journal;
};

}  // namespace tidemark
