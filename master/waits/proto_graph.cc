#include "master/waits/proto_graph.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "master/forecast/placement/dag.h"

namespace tidemark::waits {
namespace {

std::size_t Index(Stage stage) { return static_cast<std::size_t>(stage); }

absl::StatusOr<placement::Parents> ParentsOf(std::span<const QueryStage> stages) {
  placement::Parents parents(stages.size());
  for (std::size_t s = 0; s < stages.size(); ++s) {
    for (const Stage parent : stages[s].parents) {
      if (Index(parent) >= stages.size() || stages[Index(parent)].query != stages[s].query) {
        return absl::InvalidArgumentError(
            absl::StrCat("stage ", s, ": parent ", Index(parent), " is not a stage of its query"));
      }
      parents[s].push_back(Index(parent));
    }
  }
  return parents;
}

absl::Status CheckTargets(std::span<const QueryStage> stages, std::span<const Target> targets) {
  for (std::size_t t = 0; t < targets.size(); ++t) {
    if (targets[t].stages.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("target ", t, " has no stages; name the stages to explain"));
    }
    for (const Stage stage : targets[t].stages) {
      if (Index(stage) >= stages.size() || stages[Index(stage)].query != targets[t].query) {
        return absl::InvalidArgumentError(
            absl::StrCat("target ", t, ": stage ", Index(stage), " is not a stage of its query"));
      }
    }
  }
  return absl::OkStatus();
}

// The sums of a stage over all hosts.
struct StageTotals {
  double queued_seconds = 0;
  double run_seconds = 0;
  double processor_seconds = 0;
  double processor_measured_seconds = 0;
  PerWaitReason<double> wait_seconds;
  PerWaitReason<double> measured_seconds;
};

StageTotals TotalsOf(const Ledger& ledger, Stage stage) {
  StageTotals totals;
  for (auto at = ledger.stages.lower_bound({stage, Host{}});
       at != ledger.stages.end() && at->first.stage == stage; ++at) {
    const StageOnHost& sums = at->second;
    (IsQueue(at->first.host) ? totals.queued_seconds : totals.run_seconds) += sums.seconds;
    totals.processor_seconds += sums.processor_seconds;
    totals.processor_measured_seconds += sums.processor_measured_seconds;
    for (const WaitReason resource : kWaitReasons) {
      totals.wait_seconds[resource] += sums.waited[resource].wait_seconds;
      totals.measured_seconds[resource] += sums.waited[resource].measured_seconds;
    }
  }
  return totals;
}

// Returns the processor time of each stage. If a stage does not report it, returns the task time
// or, if no task has run, the time in the queue.
std::vector<double> WorkOf(std::span<const StageTotals> stages) {
  std::vector<double> work(stages.size());
  const auto is_any = [&](auto seconds) {
    std::transform(stages.begin(), stages.end(), work.begin(), seconds);
    return std::any_of(work.begin(), work.end(), [](double done) { return done > 0; });
  };
  const bool is_measured = std::all_of(stages.begin(), stages.end(), [](const StageTotals& stage) {
    return stage.processor_measured_seconds > 0 || stage.run_seconds <= 0;
  });
  if (is_measured && is_any([](const StageTotals& stage) { return stage.processor_seconds; })) {
    return work;
  }
  if (is_any([](const StageTotals& stage) { return stage.run_seconds; })) return work;
  is_any([](const StageTotals& stage) { return stage.queued_seconds; });
  return work;
}

// Returns WT / RT. Extrapolates a wait that was measured for a part of the time to all of the time.
double ImmediateContribution(const StageTotals& totals, WaitReason resource) {
  const double seconds = totals.queued_seconds + totals.run_seconds;
  const double measured = totals.measured_seconds[resource];
  if (seconds <= 0 || measured <= 0) return 0;
  const double of = resource == WaitReason::kSlots ? totals.queued_seconds : totals.run_seconds;
  return totals.wait_seconds[resource] * std::max(1.0, of / measured) / seconds;
}

class Builder {
 public:
  Builder(const Ledger& ledger, std::span<const QueryStage> stages,
          std::span<const std::size_t> depths)
      : ledger_(ledger), stages_(stages), depths_(depths) {}

  void AddTargets(std::span<const Target> targets) {
    graph_.targets.assign(targets.begin(), targets.end());
    for (std::uint32_t t = 0; t < targets.size(); ++t) {
      Add({.level = Level::kTargetQuery, .target = t, .query = targets[t].query}, 1);
    }
  }

  void AddTargetStages() {
    for (std::uint32_t t = 0; t < graph_.targets.size(); ++t) {
      std::set<Stage> once(graph_.targets[t].stages.begin(), graph_.targets[t].stages.end());
      std::vector<StageTotals> totals;
      for (const Stage stage : once) totals.push_back(TotalsOf(ledger_, stage));
      const std::vector<double> work = WorkOf(totals);
      double all_work = 0;
      for (const double seconds : work) all_work += seconds;
      std::size_t s = 0;
      for (const Stage stage : once) {
        const double weight = stages_[Index(stage)].target_weight.value_or(
            static_cast<double>(depths_[Index(stage)]));
        AddCause(t, {.level = Level::kTargetStage, .target = t, .stage = stage},
                 all_work > 0 ? weight * work[s] / all_work : 0);
        totals_.push_back(totals[s++]);
      }
    }
  }

  void AddImmediate() {
    const std::size_t first = graph_.targets.size();
    const std::size_t end = graph_.vertices.size();
    for (std::size_t v = first; v < end; ++v) {
      const StageTotals& totals = totals_[v - first];
      for (const WaitReason resource : kWaitReasons) {
        if (totals.measured_seconds[resource] <= 0) continue;
        Vertex vertex = graph_.vertices[v];
        vertex.level = Level::kImmediate;
        vertex.resource = resource;
        AddCause(v, vertex, ImmediateContribution(totals, resource));
      }
    }
  }

  void AddDeep() {
    ForEach(Level::kImmediate, [&](VertexIndex v, const Vertex& immediate) {
      for (auto at = ledger_.stages.lower_bound({immediate.stage, Host{}});
           at != ledger_.stages.end() && at->first.stage == immediate.stage; ++at) {
        const std::optional<double> rate = SecondsPerUnit(at->second.waited[immediate.resource]);
        if (!rate.has_value()) continue;
        Vertex vertex = immediate;
        vertex.level = Level::kDeep;
        vertex.host = at->first.host;
        AddCause(v, vertex, *rate);
      }
    });
  }

  void AddBlame() {
    ForEach(Level::kDeep, [&](VertexIndex v, const Vertex& deep) {
      const StageOnHost& target = ledger_.stages.find({deep.stage, deep.host})->second;
      for (auto at = ledger_.meetings.lower_bound({deep.stage, deep.host, Stage{}});
           at != ledger_.meetings.end() && at->first.target == deep.stage &&
           at->first.host == deep.host;
           ++at) {
        const auto source = ledger_.stages.find({at->first.source, deep.host});
        if (source == ledger_.stages.end()) continue;
        const double concurrency =
            FractionalConcurrency(at->second.overlap_seconds, target.seconds);
        if (concurrency <= 0) continue;
        const std::optional<double> blame =
            Blame(concurrency, target.waited[deep.resource], source->second.waited[deep.resource]);
        if (!blame.has_value()) continue;
        Vertex vertex = deep;
        vertex.level = Level::kBlame;
        vertex.source = at->first.source;
        AddCause(v, vertex, *blame);
      }
    });
  }

  void AddSources() {
    std::map<Stage, std::vector<VertexIndex>> stages;
    ForEach(Level::kBlame, [&](VertexIndex v, const Vertex& blame) {
      if (Index(blame.source) < stages_.size()) stages[blame.source].push_back(v);
    });
    std::map<Query, std::vector<VertexIndex>> queries;
    for (const auto& [stage, children] : stages) {
      const VertexIndex v = Add({.level = Level::kSourceStage, .source = stage}, 1);
      for (const VertexIndex child : children) Connect(v, child);
      queries[stages_[Index(stage)].query].push_back(v);
    }
    for (const auto& [query, children] : queries) {
      const VertexIndex v = Add({.level = Level::kSourceQuery, .query = query}, 1);
      for (const VertexIndex child : children) Connect(v, child);
    }
  }

  ProtoGraph Finish() && {
    SetImpacts(graph_.contributions, graph_.edges);
    graph_.responsibilities = Responsibilities(graph_.contributions, graph_.edges);
    return std::move(graph_);
  }

 private:
  VertexIndex Add(const Vertex& vertex, double contribution) {
    graph_.vertices.push_back(vertex);
    graph_.contributions.push_back(contribution);
    return static_cast<VertexIndex>(graph_.vertices.size() - 1);
  }

  void Connect(VertexIndex parent, std::size_t child) {
    graph_.edges.push_back({.parent = parent, .child = static_cast<VertexIndex>(child)});
  }

  void AddCause(std::size_t of, const Vertex& vertex, double contribution) {
    Connect(Add(vertex, contribution), of);
  }

  // Calls `function` for each vertex of `level`, which must be the last level. Does not call it for
  // vertices that `function` adds.
  template <typename Function>
  void ForEach(Level level, Function function) {
    const auto end = static_cast<VertexIndex>(graph_.vertices.size());
    VertexIndex first = end;
    while (first > 0 && graph_.vertices[first - 1].level == level) --first;
    for (VertexIndex v = first; v < end; ++v) {
      const Vertex vertex = graph_.vertices[v];
      function(v, vertex);
    }
  }

  const Ledger& ledger_;
  const std::span<const QueryStage> stages_;
  const std::span<const std::size_t> depths_;
  ProtoGraph graph_;
  std::vector<StageTotals> totals_;  // by target stage
};

// Levels 1 to 4 are a tree with at most one leaf for each resource and meeting of a target stage.
bool IsTooLarge(const Ledger& ledger, std::span<const Target> targets) {
  const std::size_t bound = kWaitReasonCount * (ledger.meetings.size() + 3 * ledger.stages.size());
  return bound > std::numeric_limits<VertexIndex>::max() / 4 / (targets.size() + 1);
}

}  // namespace

absl::StatusOr<std::vector<std::size_t>> Depths(std::span<const QueryStage> stages) {
  absl::StatusOr<placement::Parents> parents = ParentsOf(stages);
  if (!parents.ok()) return parents.status();
  const auto order = placement::TopologicalOrder(*parents);
  if (!order.ok()) return order.status();
  std::vector<std::size_t> depths(stages.size(), 1);
  for (auto s = order->rbegin(); s != order->rend(); ++s) {
    for (const std::size_t parent : (*parents)[*s]) {
      depths[parent] = std::max(depths[parent], depths[*s] + 1);
    }
  }
  return depths;
}

std::optional<double> SecondsPerUnit(const Waited& waited) {
  if (waited.measured_seconds <= 0 && waited.wait_seconds <= 0) return std::nullopt;
  if (waited.rated_units > 0) return waited.rated_wait_seconds / waited.rated_units;
  if (waited.wait_seconds <= 0) return 0;
  return std::nullopt;
}

double FractionalConcurrency(double overlap_seconds, double target_seconds) {
  if (target_seconds <= 0) return 0;
  return overlap_seconds / target_seconds;
}

std::optional<double> Blame(double fractional_concurrency, const Waited& target,
                            const Waited& source) {
  const std::optional<double> target_rate = SecondsPerUnit(target);
  const std::optional<double> source_rate = SecondsPerUnit(source);
  if (!target_rate.has_value() || !source_rate.has_value()) return std::nullopt;
  // A source without requests used nothing.
  if (source.rated_units <= 0 || *target_rate <= 0) return 0;
  const double ratio =
      *target_rate >= kRateRatioMax * *source_rate ? kRateRatioMax : *target_rate / *source_rate;
  return fractional_concurrency * ratio;
}

void SetImpacts(std::span<const double> contributions, std::span<Edge> edges) {
  std::vector<double> of_all_parents(contributions.size(), 0);
  for (const Edge& edge : edges) of_all_parents[edge.child] += contributions[edge.parent];
  for (Edge& edge : edges) {
    const double all = of_all_parents[edge.child];
    edge.impact = all > 0 ? contributions[edge.parent] / all : 0;
  }
}

std::vector<double> Responsibilities(std::span<const double> contributions,
                                     std::span<const Edge> edges) {
  std::vector<double> responsibilities(contributions.begin(), contributions.end());
  for (std::size_t e = 0; e < edges.size();) {
    const VertexIndex parent = edges[e].parent;
    double sum = 0;
    for (; e < edges.size() && edges[e].parent == parent; ++e) {
      sum += edges[e].impact * responsibilities[edges[e].child];
    }
    responsibilities[parent] = sum;
  }
  return responsibilities;
}

absl::StatusOr<ProtoGraph> Explain(const Ledger& ledger, std::span<const QueryStage> stages,
                                   std::span<const Target> targets) {
  if (absl::Status checked = CheckTargets(stages, targets); !checked.ok()) return checked;
  const absl::StatusOr<std::vector<std::size_t>> depths = Depths(stages);
  if (!depths.ok()) return depths.status();
  if (IsTooLarge(ledger, targets)) {
    return absl::InvalidArgumentError(
        absl::StrCat(ledger.meetings.size(), " meetings and ", targets.size(),
                     " targets make the graph too large; pass fewer targets"));
  }
  Builder builder(ledger, stages, *depths);
  builder.AddTargets(targets);
  builder.AddTargetStages();
  builder.AddImmediate();
  builder.AddDeep();
  builder.AddBlame();
  builder.AddSources();
  return std::move(builder).Finish();
}

}  // namespace tidemark::waits
