// The time that tasks of a job lost to contention.
#pragma once

#include <cstdint>
#include <map>

namespace tidemark::facts {

// A share of the time of tasks, in 0..1. lower <= share <= upper.
struct LostShare {
  double share = 0;
  double lower = 0;
  double upper = 0;
  friend bool operator==(const LostShare&, const LostShare&) = default;
};

struct LostTime {
  // Shares of the stages that have run tasks, by stage number.
  std::map<std::uint32_t, LostShare> by_stage;
  LostShare of_all;  // share over all tasks of these stages
};

}  // namespace tidemark::facts
