#include "master/service/tick_round.h"

#include <algorithm>

namespace tidemark::service {

std::vector<std::size_t> TickRound(const std::vector<DueJob>& due) {
  std::vector<std::size_t> round;
  std::vector<std::size_t> heavy;
  for (std::size_t i = 0; i < due.size(); ++i) {
    (due[i].cost > kHeavyEstimate ? heavy : round).push_back(i);
  }
  std::stable_sort(round.begin(), round.end(),
                   [&](std::size_t a, std::size_t b) { return due[a].cost < due[b].cost; });
  const auto longest = std::min_element(
      heavy.begin(), heavy.end(),
      [&](std::size_t a, std::size_t b) { return due[a].ticked_at < due[b].ticked_at; });
  if (longest != heavy.end()) round.push_back(*longest);
  return round;
}

}  // namespace tidemark::service
