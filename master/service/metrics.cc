#include "master/service/metrics.h"

#include <algorithm>
#include <chrono>
#include <ctime>

namespace tidemark::service {
namespace {

std::int64_t MonotonicNanos() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::size_t NotNegative(std::int64_t value) {
  return static_cast<std::size_t>(std::max<std::int64_t>(value, 0));
}

}  // namespace

void LatencyHistogram::Observe(absl::Duration latency) {
  const absl::Duration counted = std::max(latency, absl::ZeroDuration());
  const double seconds = absl::ToDoubleSeconds(counted);
  const auto& bounds = LatencyCounts::kBounds;
  const auto bound = std::lower_bound(bounds.begin(), bounds.end(), seconds);
  counts_[static_cast<std::size_t>(bound - bounds.begin())].fetch_add(1, std::memory_order_relaxed);
  sum_nanos_.fetch_add(absl::ToInt64Nanoseconds(counted), std::memory_order_relaxed);
}

LatencyCounts LatencyHistogram::Read() const {
  LatencyCounts latencies;
  for (std::size_t i = 0; i < counts_.size(); ++i) latencies.counts[i] = counts_[i].load();
  latencies.sum_seconds = static_cast<double>(sum_nanos_.load()) / 1e9;
  return latencies;
}

void Metrics::SetContention(const ClusterContention& contention) {
  std::array<double, kContentionKindCount> largest{};
  PerWaitReason<double> by_resource;
  for (const ContentionList& list : contention.lists) {
    for (const ContentionRow& row : list.rows) {
      if (row.cause && row.cause->jobs == 0) continue;  // Excludes processes outside Tidemark.
      const double seconds = row.seconds ? row.seconds->value : 0;
      double& most = largest[static_cast<std::size_t>(list.kind)];
      most = std::max(most, seconds);
      if (list.kind == ContentionKind::kResources) by_resource[*row.resource] = seconds;
    }
  }
  const auto largest_of = [&](ContentionKind kind) {
    return largest[static_cast<std::size_t>(kind)];
  };
  for (const WaitReason reason : kWaitReasons) {
    contention_seconds[static_cast<std::size_t>(reason)].store(by_resource[reason]);
  }
  contention_of_cause_seconds.store(largest_of(ContentionKind::kCausingQueries));
  contention_of_query_seconds.store(largest_of(ContentionKind::kDelayedQueries));
  contention_of_host_seconds.store(largest_of(ContentionKind::kHosts));
}

MasterStats Metrics::Read() const {
  PerWaitReason<double> contention;
  for (const WaitReason reason : kWaitReasons) {
    contention[reason] = contention_seconds[static_cast<std::size_t>(reason)].load();
  }
  return {.events = events.load(),
          .event_bytes = event_bytes.load(),
          .events_refused = events_refused.load(),
          .events_refused_by_limit = events_refused_by_limit.load(),
          .calls_unauthenticated = calls_unauthenticated.load(),
          .calls_denied = calls_denied.load(),
          .calls_refused_by_limit = calls_refused_by_limit.load(),
          .connections_refused = connections_refused.load(),
          .connections_cut = connections_cut.load(),
          .snapshots_published = snapshots_published.load(),
          .snapshots_skipped = snapshots_skipped.load(),
          .connections = connections.load(),
          .connections_waiting = connections_waiting.load(),
          .ingest_streams = NotNegative(ingest_streams.load()),
          .unanswered_events = NotNegative(unanswered_events.load()),
          .contention_seconds = contention,
          .contention_of_cause_seconds = contention_of_cause_seconds.load(),
          .contention_of_query_seconds = contention_of_query_seconds.load(),
          .contention_of_host_seconds = contention_of_host_seconds.load(),
          .tick = tick.Read(),
          .estimate = estimate.Read(),
          .workflow_estimate = workflow_estimate.Read(),
          .journal = journal.Read()};
}

absl::Duration ThreadCpuTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return absl::DurationFromTimespec(time);
}

Stopwatch::Stopwatch(LatencyHistogram* histogram)
    : histogram_(histogram), started_nanos_(histogram == nullptr ? 0 : MonotonicNanos()) {}

Stopwatch::~Stopwatch() {
  if (histogram_ != nullptr) {
    histogram_->Observe(absl::Nanoseconds(MonotonicNanos() - started_nanos_));
  }
}

}  // namespace tidemark::service
