#include "bench/blame/judge.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <numeric>

#include "bench/blame/ranking.h"
#include "master/waits/attempts.h"

namespace tidemark::bench {
namespace {

using waits::Attempt;
using waits::Host;
using waits::Pool;
using waits::Query;
using waits::Stage;

Weights Zero(const Workload& workload) {
  return Weights(workload.shape.queries, std::vector<double>(workload.shape.queries, 0));
}

std::array<std::size_t, 3> FirstThree(const std::vector<double>& weights) {
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
  return {order[0], order[1], order[2]};
}

}  // namespace

std::vector<waits::Piece> PiecesOf(const Workload& workload, const Outcome& outcome) {
  waits::Attempts attempts;
  std::vector<waits::Piece> pieces;
  const auto add = [&](const std::optional<waits::Piece>& piece) {
    if (piece.has_value()) pieces.push_back(*piece);
  };
  for (std::uint32_t t = 0; t < workload.tasks.size(); ++t) {
    const SimulatedTask& task = workload.tasks[t];
    if (outcome.tasks[t].ended_at <= 0) continue;
    const auto query = static_cast<std::uint32_t>(workload.stages[task.stage].query);
    // Tasks with the same pool compete for the same slots.
    const Pool pool{workload.shape.shared_slots ? task.host
                                                : workload.shape.hosts * (1 + query) + task.host};
    add(attempts.Start(Attempt{t}, Stage{task.stage}, Host{task.host}, outcome.tasks[t].started_at,
                       outcome.tasks[t].queued_at, pool));
  }
  for (const Report& report : outcome.reports) {
    add(report.is_last ? attempts.End(Attempt{report.task}, report.at, report.totals)
                       : attempts.Report(Attempt{report.task}, report.at, report.totals));
  }
  return pieces;
}

waits::Ledger LedgerOf(const std::vector<waits::Piece>& pieces) {
  waits::Contention contention;
  double until = 0;
  for (const waits::Piece& piece : pieces) {
    until = std::max(until, piece.to);
    if (const absl::Status added = contention.Add(piece); !added.ok()) std::cerr << added << '\n';
  }
  contention.Advance(until + 1);
  return contention.Whole();
}

std::vector<waits::Target> AllTargets(const Workload& workload) {
  std::vector<waits::Target> targets;
  for (std::uint32_t q = 0; q < workload.shape.queries; ++q) {
    targets.push_back({Query{q}, waits::StagesOf(workload.stages, Query{q})});
  }
  return targets;
}

Weights DelaySeconds(const Workload& workload, const waits::Ledger& ledger) {
  Weights weights = Zero(workload);
  for (const waits::Target& target : AllTargets(workload)) {
    const auto delays = waits::Delays(ledger, target.stages);
    for (const auto& [query, seconds] :
         waits::DelayingQueries(delays, workload.stages, workload.shape.queries)) {
      weights[static_cast<std::size_t>(target.query)][static_cast<std::size_t>(query)] = seconds;
    }
  }
  return weights;
}

Weights GraphResponsibilities(const Workload& workload, const waits::Ledger& ledger) {
  Weights weights = Zero(workload);
  const auto graph = waits::Explain(ledger, workload.stages, AllTargets(workload));
  if (!graph.ok()) {
    std::cerr << graph.status() << '\n';
    return weights;
  }
  for (std::size_t t = 0; t < graph->targets.size(); ++t) {
    for (const auto& [query, share] : waits::NoisyQueries(*graph, t, workload.shape.queries)) {
      weights[t][static_cast<std::size_t>(query)] = share;
    }
  }
  return weights;
}

Baselines BaselinesOf(const Workload& workload, const Outcome& outcome) {
  Baselines baselines{Zero(workload), Zero(workload)};
  std::vector<std::vector<std::uint32_t>> on_host(workload.shape.hosts);
  for (std::uint32_t t = 0; t < workload.tasks.size(); ++t) {
    if (outcome.tasks[t].ended_at > 0) on_host[workload.tasks[t].host].push_back(t);
  }
  const auto query_of = [&](std::uint32_t task) {
    return static_cast<std::size_t>(workload.stages[workload.tasks[task].stage].query);
  };
  for (std::vector<std::uint32_t>& tasks : on_host) {
    std::sort(tasks.begin(), tasks.end(), [&](std::uint32_t a, std::uint32_t b) {
      return outcome.tasks[a].started_at < outcome.tasks[b].started_at;
    });
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const TaskTimes& a = outcome.tasks[tasks[i]];
      for (std::size_t j = i + 1; j < tasks.size(); ++j) {
        const TaskTimes& b = outcome.tasks[tasks[j]];
        if (b.started_at >= a.ended_at) break;
        const double overlap = std::min(a.ended_at, b.ended_at) - b.started_at;
        const std::size_t qa = query_of(tasks[i]);
        const std::size_t qb = query_of(tasks[j]);
        if (qa == qb || overlap <= 0) continue;
        baselines.overlap_seconds[qa][qb] += overlap;
        baselines.overlap_seconds[qb][qa] += overlap;
        baselines.stolen_seconds[qa][qb] +=
            overlap * b.processor_seconds / (b.ended_at - b.started_at);
        baselines.stolen_seconds[qb][qa] +=
            overlap * a.processor_seconds / (a.ended_at - a.started_at);
      }
    }
  }
  return baselines;
}

void Score::Add(const std::vector<double>& truth, const std::vector<double>& named) {
  const auto is = FirstThree(truth);
  const auto said = FirstThree(named);
  ++targets;
  if (is[0] != said[0]) return;
  ++top1;
  if (is == said) ++top3_order;
}

}  // namespace tidemark::bench
