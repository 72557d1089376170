// ProtoGraph ([PX] section 3): from target queries, by what their stages waited for, where, and
// because of whom, to the queries that were there.
//
//   level  vertex           contribution ([PX] Appendix A, Table 4)
//   0      target query     1
//   1      target stage     weight x its processor time / that of all target stages of its query
//   2      immediate        wait for a resource / time of the stage's tasks, in the queue and
//   running 3      deep             wait for a unit of it on a host (eq. 6) 4      blame eq. 7, of
//   a stage that was there meanwhile 5      source stage     1 6      source query     1
//
// Where it differs from the print, and why, is in docs/adr/0036-blame-is-folded-into-sums.md. What
// is not known has no vertex: a wait that was not measured, a rate without units, a source that
// does not tell. Then the causes that are known bear nothing for it, and levels above sum to less
// than 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "master/waits/impact.h"
#include "master/waits/ledger.h"
#include "master/waits/stage.h"

namespace tidemark::blame {

enum class Level : std::uint8_t {
  kTargetQuery,
  kTargetStage,
  kImmediate,
  kDeep,
  kBlame,
  kSourceStage,
  kSourceQuery,
};

// What a vertex is about; fields that its level does not have are zero.
struct Vertex {
  Level level = Level::kTargetQuery;
  Resource resource = Resource::kScheduler;  // levels 2 to 4
  std::uint32_t target = 0;                  // levels 0 to 4: index of the target
  Query query{};                             // levels 0 and 6
  Stage stage{};                             // levels 1 to 4
  Host host{};                               // levels 3 and 4
  Stage source{};                            // levels 4 and 5
};

// What shall be explained: a query, or some of its stages.
struct Target {
  Query query{};
  std::vector<Stage> stages;
};

// Vertices are sorted by level. Of each: what it contributes on its own (VC), and what it is
// responsible for (DOR), of levels 5 and 6 towards all targets together.
struct ProtoGraph {
  std::vector<Vertex> vertices;
  std::vector<double> contributions;
  std::vector<double> responsibilities;
  std::vector<Edge> edges;  // sorted by parent
  std::vector<Target> targets;
  // Of levels 5 and 6, from `first_source` on: by (vertex - first_source) x targets + target.
  std::vector<double> toward;
  VertexIndex first_source = 0;

  // Of a vertex of any level, towards one target.
  double Responsibility(VertexIndex vertex, std::size_t target) const;
};

// Algorithms 1 to 3. InvalidArgument: a target without stages, or with one that is not in the list
// or of another query; a parent that is wrong (Depths()); more than 2^32 vertices. Stages that
// waited for themselves are sources like others.
// Cost: O(vertices + edges); vertices: meetings of target stages x resources.
absl::StatusOr<ProtoGraph> Explain(const Ledger& ledger, std::span<const StageInfo> stages,
                                   std::span<const Target> targets);

}  // namespace tidemark::blame
