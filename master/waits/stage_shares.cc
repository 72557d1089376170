#include "master/waits/stage_shares.h"

#include <algorithm>

namespace tidemark::blame {

void StageShares::Add(Stage stage, double from, double to) {
  if (!(from < to)) return;
  std::vector<Instant>& instants = instants_[stage];
  instants.push_back({.at = from, .tasks = 1});
  instants.push_back({.at = to, .tasks = -1});
}

void StageShares::Sum() {
  for (auto& [stage, instants] : instants_) {
    std::sort(instants.begin(), instants.end(),
              [](const Instant& a, const Instant& b) { return a.at < b.at; });
    std::size_t last = 0;
    for (std::size_t i = 1; i < instants.size(); ++i) {
      if (instants[i].at == instants[last].at) {
        instants[last].tasks += instants[i].tasks;
        continue;
      }
      const double tasks = instants[last].tasks;
      Instant& next = instants[++last];
      next = instants[i];
      next.tasks += tasks;
      next.shared = instants[last - 1].shared;
      if (tasks > 0) next.shared += (next.at - instants[last - 1].at) / tasks;
    }
    instants.resize(last + 1);
  }
}

double StageShares::Of(const Piece& piece) const {
  const auto found = instants_.find(piece.stage);
  if (found == instants_.end() || piece.seconds() <= 0) return 0;
  return (SharedUntil(found->second, piece.to) - SharedUntil(found->second, piece.from)) /
         piece.seconds();
}

// REQUIRES: a piece begins or ends there.
double StageShares::SharedUntil(const std::vector<Instant>& instants, double at) {
  return std::lower_bound(instants.begin(), instants.end(), at,
                          [](const Instant& instant, double to) { return instant.at < to; })
      ->shared;
}

}  // namespace tidemark::blame
