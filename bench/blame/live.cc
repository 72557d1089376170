#include "bench/blame/live.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "bench/accuracy/thread_clock.h"
#include "bench/blame/heap.h"
#include "master/waits/cluster_contention.h"
#include "master/waits/cluster_waits.h"

namespace tidemark::bench {
namespace {

absl::Time Instant(double seconds) {
  return absl::FromUnixSeconds(1'700'000'000) + absl::Seconds(seconds);
}

std::string JobId(std::size_t query) { return fmt::format("job-{}", query); }

absl::Duration Waited(const waits::TaskUse& totals, WaitReason resource) {
  return absl::Seconds(totals.of[resource].wait_seconds.value_or(0));
}

std::uint64_t Moved(const waits::TaskUse& totals, WaitReason resource) {
  return static_cast<std::uint64_t>(totals.of[resource].units.value_or(0));
}

struct Said {
  double at = 0;
  std::size_t query = 0;
  EventBody body;
};

// Returns all events, sorted by time.
std::vector<Said> AllThatIsSaid(const Workload& workload, const Outcome& outcome) {
  std::vector<Said> said;
  for (std::size_t q = 0; q < workload.shape.queries; ++q) {
    const double at = workload.submitted[q];
    said.push_back({at, q, JobOpened{.name = JobId(q)}});
    for (std::uint32_t host = 0; host < workload.shape.hosts; ++host) {
      said.push_back({at, q,
                      ExecutorOpened{.executor = host,
                                     .host = fmt::format("node-{}", host),
                                     .slots = workload.shape.slots}});
    }
  }
  std::vector<std::uint32_t> tasks(workload.stages.size(), 0);
  std::vector<double> queued_at(workload.stages.size(), std::numeric_limits<double>::infinity());
  for (std::size_t t = 0; t < workload.tasks.size(); ++t) {
    const std::uint32_t stage = workload.tasks[t].stage;
    ++tasks[stage];
    queued_at[stage] = std::min(queued_at[stage], outcome.tasks[t].queued_at);
  }
  const auto query_of = [&](std::uint32_t stage) {
    return static_cast<std::size_t>(workload.stages[stage].query);
  };
  for (std::uint32_t s = 0; s < workload.stages.size(); ++s) {
    said.push_back(
        {queued_at[s], query_of(s),
         StageOpened{.stage = s, .task_count = tasks[s], .opened_at = Instant(queued_at[s])}});
  }
  const auto attempt = [&](std::uint32_t t) {
    return AttemptId{.stage = workload.tasks[t].stage, .index = t};
  };
  for (std::uint32_t t = 0; t < workload.tasks.size(); ++t) {
    const double at = outcome.tasks[t].started_at;
    said.push_back({at, query_of(workload.tasks[t].stage),
                    AttemptChanged{.attempt = attempt(t),
                                   .state = AttemptState::kStarted,
                                   .at = Instant(at),
                                   .executor = workload.tasks[t].host}});
  }
  for (const Report& report : outcome.reports) {
    const std::size_t query = query_of(workload.tasks[report.task].stage);
    TaskHeartbeat heartbeat{.attempt = attempt(report.task)};
    heartbeat.time.cpu = absl::Seconds(report.totals.processor_seconds.value_or(0));
    for (const WaitReason reason :
         {WaitReason::kProcessor, WaitReason::kNetwork, WaitReason::kIo}) {
      heartbeat.time.waits[reason] = Waited(report.totals, reason);
      if (!InfoOf(reason).includes_service) continue;
      heartbeat.time.moved_bytes[reason] = Moved(report.totals, reason);
    }
    said.push_back({report.at, query, heartbeat});
    if (!report.is_last) continue;
    said.push_back({report.at, query,
                    AttemptChanged{.attempt = attempt(report.task),
                                   .state = AttemptState::kFinished,
                                   .at = Instant(report.at)}});
  }
  std::stable_sort(said.begin(), said.end(),
                   [](const Said& a, const Said& b) { return a.at < b.at; });
  return said;
}

}  // namespace

Live FollowLive(const Workload& workload, const Outcome& outcome) {
  const std::vector<Said> said = AllThatIsSaid(workload, outcome);
  const double heap_before = HeapMegabytes();
  Live live;
  waits::ClusterWaits waits;
  std::uint64_t sequence = 0;
  std::size_t next = 0;
  double now = 0;
  const auto step = [&] {
    now += 1;
    std::vector<Event> events;
    for (; next < said.size() && said[next].at <= now; ++next) {
      events.push_back({.job_id = JobId(said[next].query),
                        .source_id = "driver",
                        .sequence = ++sequence,
                        .sent_at = Instant(said[next].at),
                        .arrived_at = Instant(now),
                        .body = said[next].body});
    }
    const double before = ThreadSeconds();
    for (const Event& event : events) waits.Apply(event);
    waits.Advance(Instant(now));
    live.update_ms.push_back(1e3 * (ThreadSeconds() - before));
    if (static_cast<int>(now) % 20 == 0) {
      live.memory_mb = std::max(live.memory_mb, HeapMegabytes() - heap_before);
    }
  };
  while (next < said.size()) step();
  for (int more = 0; more < 5; ++more) step();
  const double before_contention = ThreadSeconds();
  waits::ContentionSums sums({}, [](const std::string&) { return true; });
  for (const std::string& job_id : waits.jobs()) waits.AddContention(job_id, sums);
  live.lists = std::move(sums).Finish().lists;
  live.contention_ms = 1e3 * (ThreadSeconds() - before_contention);
  const std::size_t queries = workload.shape.queries;
  for (Weights* weights : {&live.seconds, &live.lower, &live.upper}) {
    weights->assign(queries, std::vector<double>(queries, 0));
  }
  for (std::size_t q = 0; q < queries; ++q) {
    const double before = ThreadSeconds();
    const auto explanation = waits.Ask(JobId(q), {.culprits_max = 1'000});
    live.question_ms.push_back(1e3 * (ThreadSeconds() - before));
    if (!explanation) continue;
    for (const QueryWaits& query : explanation->queries) {
      for (const ContendingQuery& culprit : query.culprits) {
        for (std::size_t by = 0; by < queries; ++by) {
          if (culprit.job_id != JobId(by)) continue;
          live.seconds[q][by] += culprit.seconds;
          live.lower[q][by] += culprit.seconds_lower.value_or(culprit.seconds);
          live.upper[q][by] += culprit.seconds_upper.value_or(culprit.seconds);
        }
      }
    }
  }
  return live;
}

}  // namespace tidemark::bench
