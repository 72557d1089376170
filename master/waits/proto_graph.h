// ProtoGraph ([PX] sections 2 to 4) leads from target queries to the queries that caused their
// waits, by stage, resource, host and neighbour.
//
//     level  vertex        contribution ([PX] Appendix A, Table 4)
//     0      target query  1
//     1      target stage  weight x its processor time / processor time of all target stages of its
//     query
//     2      immediate     wait for a resource / time of the stage's tasks, queued and running
//     3      deep          wait for a unit of the resource on a host (eq. 6)
//     4      blame         eq. 7, for a stage that was present during the wait
//     5      source stage  1
//     6      source query  1
//
// docs/internals/adr/0032 lists the differences from the paper. Unknown values (an unmeasured wait,
// a rate without units, a source that reports nothing) have no vertex. Known causes bear no
// responsibility for unknown causes, so the levels above sum to less than 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "master/waits/ledger.h"

namespace tidemark::waits {

// A stage on the cluster. Its number is its index in the list of stages.
struct QueryStage {
  Query query{};
  std::vector<Stage> parents;  // stages of the same query that this stage waits for
  // [PX] Appendix A, Table 4: weight of a target stage. If empty, the weight is the stage's depth.
  std::optional<double> target_weight;
};

// [PX] 2.1: returns the number of stages on the longest path from each stage to a last stage of
// its query, counting both; a last stage has depth 1. Fails with InvalidArgument if a parent does
// not exist or belongs to another query, or if there is a cycle. O((stages + edges) log(stages +
// edges)).
absl::StatusOr<std::vector<std::size_t>> Depths(std::span<const QueryStage> stages);

// Rates ([PX] 3.3 and 3.4). No result is infinite.

// RATP (eq. 1 and 6): returns wait / units, the seconds of waiting per unit of a resource, for a
// task or for a stage's tasks on a host. Returns 0 if there was no wait. Returns nullopt if the
// rate is unknown, or infinite because there was a wait but no request.
std::optional<double> SecondsPerUnit(const Waited& waited);

// FC of 3.4: returns the seconds of overlap, summed over pairs of tasks, per second of the
// target's tasks on the host. The result exceeds 1 if several tasks of the source are present. It
// is 0 if `target_seconds` is 0.
double FractionalConcurrency(double overlap_seconds, double target_seconds);

// Upper limit of the ratio in Blame(), since a source without waits would otherwise bear infinitely
// more blame than others. Chosen by hand.
inline constexpr double kRateRatioMax = 100;

// Eq. 2 and 7: returns FC x (seconds per unit of the target / of the source), with the ratio at
// most kRateRatioMax. Returns 0 if the target did not wait or there was no overlap, and nullopt if
// a rate is unknown.
std::optional<double> Blame(double fractional_concurrency, const Waited& target,
                            const Waited& source);

// Algorithms 2 and 3 of [PX] on any layered graph. They convert the vertices' own contributions to
// responsibilities.

using VertexIndex = std::uint32_t;

// An edge from a cause (parent) to its effect (child), which is one level nearer to the target.
struct Edge {
  VertexIndex parent = 0;
  VertexIndex child = 0;
  double impact = 0;
};

// Eq. 3: sets impact(u, v) = VC(u) / sum of VC over all parents of v. The impacts on v sum to 1, or
// are zero if no parent contributes. Contributions are indexed by vertex, and finite and not
// negative. O(vertices + edges).
void SetImpacts(std::span<const double> contributions, std::span<Edge> edges);

// DOR of 4.1.3: returns the contribution of a vertex without children and, for other vertices, the
// sum over the children of impact x responsibility. REQUIRES: children have lower indexes than
// their parents, and edges are sorted by parent. O(vertices + edges).
std::vector<double> Responsibilities(std::span<const double> contributions,
                                     std::span<const Edge> edges);

enum class Level : std::uint8_t {
  kTargetQuery,
  kTargetStage,
  kImmediate,
  kDeep,
  kBlame,
  kSourceStage,
  kSourceQuery,
};

// The subject of a vertex. Fields that do not apply to its level are zero.
struct Vertex {
  Level level = Level::kTargetQuery;
  WaitReason resource = WaitReason::kSlots;  // levels 2 to 4
  std::uint32_t target = 0;                  // levels 0 to 4: index of the target
  Query query{};                             // levels 0 and 6
  Stage stage{};                             // levels 1 to 4
  Host host{};                               // levels 3 and 4
  Stage source{};                            // levels 4 and 5
};

// The subject of an explanation: a query, or some of its stages.
struct Target {
  Query query{};
  std::vector<Stage> stages;
};

// Vertices are sorted by level. Each has its own contribution (VC) and its responsibility (DOR). At
// levels 5 and 6, the responsibility is towards all targets together.
struct ProtoGraph {
  std::vector<Vertex> vertices;
  std::vector<double> contributions;
  std::vector<double> responsibilities;
  std::vector<Edge> edges;  // sorted by parent
  std::vector<Target> targets;
};

// Algorithms 1 to 3. Stages that waited for themselves are sources like others. Fails like
// Depths(). Fails with InvalidArgument if a target has no stages, if a stage of a target is unknown
// or belongs to another query, or if there are more than 2^32 vertices. O(vertices + edges). The
// number of vertices is O(meetings of target stages x resources).
absl::StatusOr<ProtoGraph> Explain(const Ledger& ledger, std::span<const QueryStage> stages,
                                   std::span<const Target> targets);

}  // namespace tidemark::waits
