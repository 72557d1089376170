#include "master/waits/proto_graph.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "master/waits/rate.h"

namespace tidemark::blame {
namespace {

std::size_t Index(Stage stage) { return static_cast<std::size_t>(stage); }

absl::Status CheckTargets(std::span<const StageInfo> stages, std::span<const Target> targets) {
  for (std::size_t t = 0; t < targets.size(); ++t) {
    if (targets[t].stages.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("target ", t, " has no stages; name those to be explained"));
    }
    for (const Stage stage : targets[t].stages) {
      if (Index(stage) >= stages.size() || stages[Index(stage)].query != targets[t].query) {
        return absl::InvalidArgumentError(
            absl::StrCat("target ", t, ": stage ", Index(stage), " is no stage of its query"));
      }
    }
  }
  return absl::OkStatus();
}

// Of a stage, on all hosts.
struct StageTotals {
  double queued_seconds = 0;
  double run_seconds = 0;
  double processor_seconds = 0;
  double processor_measured_seconds = 0;
  PerResource<double> wait_seconds;
  PerResource<double> measured_seconds;
};

StageTotals TotalsOf(const Ledger& ledger, Stage stage) {
  StageTotals totals;
  for (auto at = ledger.stages.lower_bound({stage, Host{}});
       at != ledger.stages.end() && at->first.stage == stage; ++at) {
    const StageOnHost& sums = at->second;
    (IsQueue(at->first.host) ? totals.queued_seconds : totals.run_seconds) += sums.seconds;
    totals.processor_seconds += sums.processor_seconds;
    totals.processor_measured_seconds += sums.processor_measured_seconds;
    for (const Resource resource : kResources) {
      totals.wait_seconds[resource] += sums.waited[resource].wait_seconds;
      totals.measured_seconds[resource] += sums.waited[resource].measured_seconds;
    }
  }
  return totals;
}

// Processor time; where a stage does not tell it, the time of tasks; where none has run, in the
// queue.
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

// WT / RT; where the wait was measured in a part of the time only, as if it was the same elsewhere.
double ImmediateContribution(const StageTotals& totals, Resource resource) {
  const double seconds = totals.queued_seconds + totals.run_seconds;
  const double measured = totals.measured_seconds[resource];
  if (seconds <= 0 || measured <= 0) return 0;
  const double of = resource == Resource::kScheduler ? totals.queued_seconds : totals.run_seconds;
  return totals.wait_seconds[resource] * std::max(1.0, of / measured) / seconds;
}

class Builder {
 public:
  Builder(const Ledger& ledger, std::span<const StageInfo> stages,
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
      for (const Resource resource : kResources) {
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
    graph_.first_source = static_cast<VertexIndex>(graph_.vertices.size());
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
    SetToward();
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

  // Vertices that are there when it begins; the last ones are of this level.
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

  void SetToward() {
    const std::size_t targets = graph_.targets.size();
    graph_.toward.assign((graph_.vertices.size() - graph_.first_source) * targets, 0);
    for (const Edge& edge : graph_.edges) {
      if (edge.parent < graph_.first_source) continue;
      double* sums = &graph_.toward[(edge.parent - graph_.first_source) * targets];
      for (std::size_t t = 0; t < targets; ++t) {
        sums[t] += edge.impact * graph_.Responsibility(edge.child, t);
      }
    }
  }

  const Ledger& ledger_;
  const std::span<const StageInfo> stages_;
  const std::span<const std::size_t> depths_;
  ProtoGraph graph_;
  std::vector<StageTotals> totals_;  // by target stage
};

// Levels 1 to 4 are a tree whose leaves are at most all meetings of target stages, for each
// resource.
bool IsTooLarge(const Ledger& ledger, std::span<const Target> targets) {
  const std::size_t bound = kResourceCount * (ledger.meetings.size() + 3 * ledger.stages.size());
  return bound > std::numeric_limits<VertexIndex>::max() / 4 / (targets.size() + 1);
}

}  // namespace

double ProtoGraph::Responsibility(VertexIndex vertex, std::size_t target) const {
  if (vertex >= first_source) return toward[(vertex - first_source) * targets.size() + target];
  return vertices[vertex].target == target ? responsibilities[vertex] : 0;
}

absl::StatusOr<ProtoGraph> Explain(const Ledger& ledger, std::span<const StageInfo> stages,
                                   std::span<const Target> targets) {
  if (absl::Status checked = CheckTargets(stages, targets); !checked.ok()) return checked;
  const absl::StatusOr<std::vector<std::size_t>> depths = Depths(stages);
  if (!depths.ok()) return depths.status();
  if (IsTooLarge(ledger, targets)) {
    return absl::InvalidArgumentError(
        absl::StrCat(ledger.meetings.size(), " meetings and ", targets.size(),
                     " targets make too large a graph; ask for fewer targets"));
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

}  // namespace tidemark::blame
