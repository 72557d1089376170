// What a master counts, for dashboards: plain numbers, whatever exports them.
//
//   const tidemark::MasterStats stats = master->stats();
//   gauge.Set(stats.connections);
//   counter.Set(stats.events);
//
// Counts are totals since the start of the master and only grow; what is "open now" goes up and
// down. Units are base units: seconds, bytes. The numbers are read one after the other, not all at
// one instant. serve/metrics_families.cc exports them to Prometheus, docs/serve.md explains them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tidemark {

// A histogram of durations: how many observations fell between two bounds.
struct LatencyCounts {
  // Upper bounds, in seconds; one more count is for what is above the last.
  static constexpr std::array<double, 12> kBounds = {0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03,
                                                     0.1,    0.2,    0.5,   1,     3,    10};
  // Not cumulative: counts[i] is of the interval that ends at kBounds[i].
  std::array<std::uint64_t, kBounds.size() + 1> counts{};
  // Of all observations: divided by the sum of counts, their mean.
  double sum_seconds = 0;
};

// Copyable; one value is safe to share between threads when const.
struct MasterStats {
  // Events, as they came off the network.
  std::uint64_t events = 0;
  std::uint64_t event_bytes = 0;
  // Malformed, of no open job, or beyond a limit; the second counts the last of these alone.
  std::uint64_t events_refused = 0;
  std::uint64_t events_refused_by_limit = 0;
  // Without a token, or with an unknown one.
  std::uint64_t calls_unauthenticated = 0;
  // With a token that lacks the right.
  std::uint64_t calls_denied = 0;
  std::uint64_t calls_refused_by_limit = 0;
  // For lack of room or descriptors.
  std::uint64_t connections_refused = 0;
  // Of strangers, who showed no valid token in time.
  std::uint64_t connections_cut = 0;
  std::uint64_t snapshots_published = 0;
  // Those that a watcher was too slow for.
  std::uint64_t snapshots_skipped = 0;

  // Open now.
  std::size_t connections = 0;
  // Part of the above: of strangers not yet listened to.
  std::size_t connections_waiting = 0;
  std::size_t ingest_streams = 0;
  std::size_t watchers = 0;
  // Events that were read and are not answered yet.
  std::size_t unanswered_events = 0;

  // One round over all jobs that are due.
  LatencyCounts tick;
  // One snapshot of one job, and of one workflow.
  LatencyCounts estimate;
  LatencyCounts workflow_estimate;
  // From an event's arrival to its being on the disk; none without a journal.
  LatencyCounts journal;
};

}  // namespace tidemark
