#include "tidemark/reconcile_forecasts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tidemark {
namespace {

using Bound = std::optional<absl::Duration>;
// indexed by part; each element lists the parts for which this part waits
using Edges = std::vector<std::vector<std::size_t>>;

// Raises a bound to at least `least`, if both are known.
void Raise(Bound& bound, const Bound& least) {
  if (bound && least) bound = std::max(*bound, *least);
}

void Lower(Bound& bound, const Bound& most) {
  if (bound && most) bound = std::min(*bound, *most);
}

void Raise(std::optional<Range>& range, const std::optional<Range>& least) {
  if (!range || !least) return;
  range->median = std::max(range->median, least->median);
  Raise(range->lower, least->lower);
  Raise(range->upper, least->upper);
  Raise(range->upper, range->median);
}

void Lower(std::optional<Range>& range, const std::optional<Range>& most) {
  if (!range || !most) return;
  range->median = std::min(range->median, most->median);
  Lower(range->lower, most->lower);
  Lower(range->upper, most->upper);
  Lower(range->lower, range->median);
}

// Returns a range with the later one of each pair of numbers.
std::optional<Range> Later(const std::optional<Range>& one, const std::optional<Range>& other) {
  if (!one || !other) return one ? one : other;
  Range later = {
      .median = std::max(one->median, other->median), .lower = one->lower, .upper = one->upper};
  if (other->lower) later.lower = std::max(later.lower.value_or(*other->lower), *other->lower);
  if (other->upper) later.upper = std::max(later.upper.value_or(*other->upper), *other->upper);
  return later;
}

// Returns the median of `whole`, and its bounds if `part` has them.
Range WithBoundsOf(const Range& part, const Range& whole) {
  return {.median = whole.median,
          .lower = part.lower ? whole.lower : std::nullopt,
          .upper = part.upper ? whole.upper : std::nullopt};
}

// Returns the parts in topological order, so that each part follows the parts for which it waits.
// Omits parts in a cycle, and all parts that depend on a cycle.
std::vector<std::size_t> Ordered(const Edges& parents) {
  Edges children(parents.size());
  std::vector<std::size_t> waits_for(parents.size());
  for (std::size_t i = 0; i < parents.size(); ++i) {
    waits_for[i] = parents[i].size();
    for (const std::size_t parent : parents[i]) children[parent].push_back(i);
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < parents.size(); ++i) {
    if (waits_for[i] == 0) order.push_back(i);
  }
  for (std::size_t next = 0; next < order.size(); ++next) {
    for (const std::size_t child : children[order[next]]) {
      if (--waits_for[child] == 0) order.push_back(child);
    }
  }
  return order;
}

// The stages of one job, which are at the positions from `begin` to `end` in the snapshot.
struct StagesOfJob {
  std::size_t begin = 0;
  std::size_t end = 0;
};

class Reconciler {
 public:
  explicit Reconciler(Snapshot& snapshot) : snapshot_(snapshot) {
    for (std::size_t i = 0; i < snapshot.stages.size(); ++i) {
      StagesOfJob& job = stages_of_[snapshot.stages[i].id.child];
      if (job.end == 0) job.begin = i;
      job.end = i + 1;
    }
  }

  void Order() {
    if (snapshot_.children.empty()) {
      for (const auto& [job, stages] : stages_of_) OrderStages(stages, std::nullopt);
      return;
    }
    const Edges parents = ParentsOfChildren();
    for (const std::size_t i : Ordered(parents)) {
      Child& child = snapshot_.children[i];
      std::optional<Range> start;
      for (const std::size_t parent : parents[i]) {
        start = Later(start, snapshot_.children[parent].estimate.remaining);
      }
      Raise(child.starts_in, start);
      if (child.starts_in) start = Later(start, child.starts_in);
      std::optional<Range>& end = child.estimate.remaining;
      if (const auto own = stages_of_.find(child.number); own != stages_of_.end()) {
        Raise(end, OrderStages(own->second, start));
      }
      Raise(end, child.starts_in);
    }
  }

  void EndWithTheWhole(bool ends_with_parts) {
    const std::optional<Range>& whole = snapshot_.estimate.remaining;
    for (StageProgress& stage : snapshot_.stages) {
      Lower(stage.starts_in, whole);
      Lower(stage.ends_in, whole);
    }
    for (Child& child : snapshot_.children) {
      Lower(child.starts_in, whole);
      Lower(child.estimate.remaining, whole);
    }
    for (Group& group : snapshot_.groups) Lower(group.ends_in, whole);
    if (!ends_with_parts || !whole) return;
    const auto end_of_child = [](Child & child) -> auto& { return child.estimate.remaining; };
    const auto end_of_stage = [](StageProgress & stage) -> auto& { return stage.ends_in; };
    StageProgress* last = nullptr;
    if (snapshot_.children.empty()) {
      last = LastOf(snapshot_.stages.begin(), snapshot_.stages.end(), end_of_stage);
    } else {
      Child* const child =
          LastOf(snapshot_.children.begin(), snapshot_.children.end(), end_of_child);
      if (child == nullptr) return;
      child->estimate.remaining = WithBoundsOf(*child->estimate.remaining, *whole);
      const auto own = stages_of_.find(child->number);
      if (own == stages_of_.end()) return;
      const auto stages = snapshot_.stages.begin();
      last = LastOf(stages + static_cast<std::ptrdiff_t>(own->second.begin),
                    stages + static_cast<std::ptrdiff_t>(own->second.end), end_of_stage);
    }
    if (last == nullptr) return;
    last->ends_in = WithBoundsOf(*last->ends_in, *whole);
    const std::string group_of_last = GroupOf(*last);
    for (Group& group : snapshot_.groups) {
      if (group.ends_in && !group_of_last.empty() && group.group == group_of_last) {
        group.ends_in = WithBoundsOf(*group.ends_in, *whole);
      }
    }
  }

 private:
  Edges ParentsOfChildren() const {
    std::map<std::uint32_t, std::size_t> place_of;
    for (std::size_t i = 0; i < snapshot_.children.size(); ++i) {
      place_of.emplace(snapshot_.children[i].number, i);
    }
    Edges parents(snapshot_.children.size());
    for (std::size_t i = 0; i < parents.size(); ++i) {
      for (const std::uint32_t number : snapshot_.children[i].after) {
        const auto place = place_of.find(number);
        if (place != place_of.end()) parents[i].push_back(place->second);
      }
    }
    return parents;
  }

  const StageInfo* InfoOf(StageId id) const {
    const auto info = std::ranges::lower_bound(snapshot_.stage_infos, id, {}, &StageInfo::id);
    return info == snapshot_.stage_infos.end() || info->id != id ? nullptr : &*info;
  }

  // Returns "" if the stage belongs to no group.
  std::string GroupOf(const StageProgress& stage) const {
    const StageInfo* const info = InfoOf(stage.id);
    return info == nullptr ? std::string() : info->group;
  }

  // Orders the stages of one job, which does not start before `start`. Returns the end of the last
  // stage.
  std::optional<Range> OrderStages(const StagesOfJob& job, const std::optional<Range>& start) {
    const auto begin = snapshot_.stages.begin() + static_cast<std::ptrdiff_t>(job.begin);
    const auto end = snapshot_.stages.begin() + static_cast<std::ptrdiff_t>(job.end);
    Edges parents(job.end - job.begin);
    for (std::size_t i = 0; i < parents.size(); ++i) {
      const StageInfo* const info = InfoOf(begin[static_cast<std::ptrdiff_t>(i)].id);
      if (info == nullptr) continue;
      for (const std::uint32_t number : info->parents) {
        const StageId id = {info->id.child, number};
        const auto parent = std::ranges::lower_bound(begin, end, id, {}, &StageProgress::id);
        if (parent != end && parent->id == id) {
          parents[i].push_back(static_cast<std::size_t>(parent - begin));
        }
      }
    }
    std::optional<Range> last;
    for (const std::size_t i : Ordered(parents)) {
      StageProgress& stage = begin[static_cast<std::ptrdiff_t>(i)];
      std::optional<Range> least = start;
      for (const std::size_t parent : parents[i]) {
        least = Later(least, begin[static_cast<std::ptrdiff_t>(parent)].ends_in);
      }
      Raise(stage.starts_in, least);
      Raise(stage.ends_in, stage.starts_in);
      last = Later(last, stage.ends_in);
    }
    return last;
  }

  // Returns the part that ends last. If parts of the critical path have a forecast, considers only
  // those.
  template <typename Iterator, typename EndOf>
  static auto LastOf(Iterator begin, Iterator end, EndOf end_of) -> decltype(&*begin) {
    decltype(&*begin) last = nullptr;
    const auto key = [&](auto& part) { return std::pair(part.is_critical, end_of(part)->median); };
    for (auto part = begin; part != end; ++part) {
      if (end_of(*part) && (last == nullptr || key(*part) > key(*last))) last = &*part;
    }
    return last;
  }

  Snapshot& snapshot_;
  std::map<std::uint32_t, StagesOfJob> stages_of_;  // by Child::number
};

}  // namespace

void ReconcileForecasts(Snapshot& snapshot, bool ends_with_parts) {
  Reconciler reconciler(snapshot);
  reconciler.Order();
  reconciler.EndWithTheWhole(ends_with_parts);
}

}  // namespace tidemark
