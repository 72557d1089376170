#include "whatif/advise/choice.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tidemark::advise {
namespace {

class Chooser {
 public:
  Chooser(const History& history, std::optional<double> space_bytes, std::vector<Point>& points)
      : space_bytes_(space_bytes), points_(points) {
    FindNesting(history);
  }

  Choice Choose() {
    FindOpen();
    double left = space_bytes_.value_or(0);
    while (const auto best = BestOf(left)) {
      choice_.saved += Gain(*best);
      choice_.kept.insert(*best);
      left -= *points_[*best].bytes;
    }
    TakeTheBestAloneIfThatSavesMore();
    DropTheIdle();
    for (const std::size_t i : open_) {
      if (choice_.kept.contains(i)) continue;
      points_[i].bar =
          Gain(i).lower > 0 ? "others save more in the space" : "what is advised saves the same";
    }
    return std::move(choice_);
  }

 private:
  void FindOpen() {
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (!points_[i].bar.empty()) continue;
      if (space_bytes_ && *points_[i].bytes > *space_bytes_) {
        points_[i].bar = "it does not fit into the space";
      } else {
        open_.push_back(i);
      }
    }
  }

  std::optional<std::size_t> BestOf(double left) const {
    std::optional<std::size_t> best;
    double best_rank = 0;
    for (const std::size_t i : open_) {
      if (choice_.kept.contains(i)) continue;
      const double bytes = *points_[i].bytes;
      if (space_bytes_ && bytes > left) continue;
      const Range gain = Gain(i);
      if (!(gain.lower > 0) || !(gain.expected > 0)) continue;
      const double rank = space_bytes_ ? gain.expected / std::max(1.0, bytes) : gain.expected;
      if (best && rank <= best_rank) continue;
      best = i;
      best_rank = rank;
    }
    return best;
  }

  void TakeTheBestAloneIfThatSavesMore() {
    const auto best =
        std::max_element(open_.begin(), open_.end(), [&](std::size_t a, std::size_t b) {
          return points_[a].saved.expected < points_[b].saved.expected;
        });
    if (best == open_.end() || points_[*best].saved.expected <= choice_.saved.expected) return;
    choice_.kept = {*best};
    choice_.saved = points_[*best].saved;
  }

  // What is within another that was taken after it may save nothing any more.
  void DropTheIdle() {
    for (bool is_changed = true; is_changed;) {
      is_changed = false;
      for (const std::size_t i : std::set<std::size_t>(choice_.kept)) {
        choice_.kept.erase(i);
        const Range gain = Gain(i);
        if (gain.lower > 0) {
          choice_.kept.insert(i);
        } else {
          choice_.saved -= gain;
          is_changed = true;
        }
      }
    }
  }

  // Of each use, which points are within it, and the other way round.
  void FindNesting(const History& history) {
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> point_at;  // plan, operator
    for (std::size_t i = 0; i < points_.size(); ++i) {
      for (const Occurrence& use : points_[i].uses) point_at[{use.plan, use.op}] = i;
    }
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (!points_[i].bar.empty()) continue;
      for (const Occurrence& use : points_[i].uses) {
        const auto prefix = PrefixOf(history.plans[use.plan], use.op);
        const auto begin = point_at.lower_bound({use.plan, 0});
        for (auto at = begin; at != point_at.end() && at->first.first == use.plan; ++at) {
          const std::size_t op = at->first.second;
          if (op < use.op && prefix[op] && points_[at->second].bar.empty()) {
            within_[{i, use.plan}].insert(at->second);
            around_[{at->second, use.plan}].insert(i);
          }
        }
      }
    }
  }

  const Occurrence* UseIn(std::size_t point, std::size_t plan) const {
    for (const Occurrence& use : points_[point].uses) {
      if (use.plan == plan) return &use;
    }
    return nullptr;
  }

  // What a plan saves by chosen points within `point`; those within others of them count once.
  Range SavedWithin(std::size_t point, std::size_t plan) const {
    Range saved;
    const auto found = within_.find({point, plan});
    if (found == within_.end()) return saved;
    for (const std::size_t inner : found->second) {
      if (!choice_.kept.contains(inner)) continue;
      const auto around = around_.find({inner, plan});
      const bool is_covered =
          around != around_.end() &&
          std::any_of(around->second.begin(), around->second.end(), [&](std::size_t outer) {
            return choice_.kept.contains(outer) && found->second.contains(outer);
          });
      const Occurrence* use = UseIn(inner, plan);
      if (!is_covered && use != nullptr && !use->is_first) saved += use->benefit;
    }
    return saved;
  }

  // What a point adds to those that are chosen.
  Range Gain(std::size_t point) const {
    Range gain;
    for (const Occurrence& use : points_[point].uses) {
      const auto around = around_.find({point, use.plan});
      const bool is_covered =
          around != around_.end() &&
          std::any_of(around->second.begin(), around->second.end(), [&](std::size_t outer) {
            const Occurrence* of_outer =
                choice_.kept.contains(outer) ? UseIn(outer, use.plan) : nullptr;
            return of_outer != nullptr && !of_outer->is_first;
          });
      if (use.is_first) {
        gain = gain - points_[point].write_seconds;
      } else if (!is_covered) {
        gain += use.benefit;
        gain -= SavedWithin(point, use.plan);
      }
    }
    return gain;
  }

  const std::optional<double> space_bytes_;
  std::vector<Point>& points_;
  std::vector<std::size_t> open_;  // that may be taken
  Choice choice_;
  // By point and plan: points within it, and around it.
  std::map<std::pair<std::size_t, std::size_t>, std::set<std::size_t>> within_, around_;
};

}  // namespace

Choice Choose(const History& history, std::optional<double> space_bytes,
              std::vector<Point>& points) {
  return Chooser(history, space_bytes, points).Choose();
}

}  // namespace tidemark::advise
