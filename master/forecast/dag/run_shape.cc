#include "master/forecast/dag/run_shape.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "master/forecast/dag/match_stages.h"
#include "master/forecast/durations/task_counts.h"

namespace tidemark::workflow {
namespace {

// Chosen by hand: one contradiction refutes a run that fewer than two stages have confirmed, and
// two in a row refute any.
constexpr int kTrustAtFirst = 1;
constexpr int kTrustMax = 3;
constexpr int kContradiction = -2;

// The bytes of a task differ by less than this factor between runs of one program. Bytes that take
// hardly any time are added to both. Chosen by hand.
constexpr double kBytesFactor = 4;
constexpr double kFewBytes = 64 << 10;

using Matches = std::vector<std::optional<std::size_t>>;

class Comparison {
 public:
  Comparison(const RunProfile& run, std::span<const StageNow> now, bool has_sizes)
      : run_(run), now_(now), has_sizes_(has_sizes), matches_(MatchStages(now, run)) {
    for (const StageProfile& stage : run.stages) {
      if (stage.work != 0) works_.insert(stage.work);
    }
  }

  bool IsRefuted() const {
    int trust = kTrustAtFirst;
    for (std::size_t i = 0; i < now_.size(); ++i) {
      trust = std::min(trust + Vote(i), kTrustMax);
      if (trust <= 0) return true;
    }
    return false;
  }

 private:
  // A past run keeps no stages that were skipped or that failed.
  static bool IsKept(const StageNow& stage) {
    return !stage.has_failed && (stage.tasks > 0 || !stage.is_task_count_known);
  }

  int Vote(std::size_t index) const {
    const StageNow& stage = now_[index];
    if (!IsKept(stage)) return 0;
    if (!matches_[index]) return works_.contains(stage.work) ? 0 : kContradiction;
    const StageProfile& then = run_.stages[*matches_[index]];
    const bool agrees = HasParentsOf(then, stage) && (!has_sizes_ || HasSizesOf(then, stage));
    return agrees ? 1 : kContradiction;
  }

  // Compares parents by their work: of two with the same work, either may be the counterpart.
  bool HasParentsOf(const StageProfile& then, const StageNow& stage) const {
    if (stage.fetches != then.fetches) return !stage.fetches && then.parents.empty();
    if (!stage.fetches || !stage.are_parents_open || then.parents.empty()) return true;
    std::multiset<std::string> now_parents;
    for (const std::size_t parent : stage.parents) {
      // The past run's record of this place is unknown.
      if (!matches_[parent] || !IsKept(now_[parent])) return true;
      now_parents.insert(NameOf(run_.stages[*matches_[parent]]));
    }
    std::multiset<std::string> then_parents;
    for (const std::size_t parent : then.parents) {
      if (parent < run_.stages.size()) then_parents.insert(NameOf(run_.stages[parent]));
    }
    return now_parents == then_parents;
  }

  static std::string NameOf(const StageProfile& stage) { return WorkKey(stage.work, stage.name); }

  static bool HasSizesOf(const StageProfile& then, const StageNow& stage) {
    const auto finished = static_cast<double>(stage.finished.size());
    const auto tasks = static_cast<double>(stage.tasks);
    const double bytes = finished > 0 ? stage.read_bytes * tasks / finished : 0;
    const bool are_bytes_known = bytes > 0 && then.read_bytes > 0;
    const auto tasks_then = static_cast<double>(then.tasks);
    // The stages that are still expected have as many tasks as then, whatever the data.
    if (stage.is_task_count_known && then.tasks > 0 &&
        !cost::MayBeOfOneProgram(tasks, tasks_then, 1)) {
      return false;
    }
    if (!are_bytes_known || stage.finished.size() != stage.tasks || then.tasks == 0) return true;
    const double ratio = (bytes / tasks + kFewBytes) / (then.read_bytes / tasks_then + kFewBytes);
    return std::max(ratio, 1 / ratio) < kBytesFactor;
  }

  const RunProfile& run_;
  const std::span<const StageNow> now_;
  const bool has_sizes_;
  const Matches matches_;
  std::set<std::uint64_t> works_;
};

}  // namespace

bool HasShapeOf(const RunProfile& run, std::span<const StageNow> now, bool has_sizes) {
  return !Comparison(run, now, has_sizes).IsRefuted();
}

}  // namespace tidemark::workflow
