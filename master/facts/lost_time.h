// What tasks of a job lost because something else took what they waited for.
#pragma once

#include <cstdint>
#include <map>

namespace tidemark::model {

// A part of the time of tasks: 0..1, lower <= share <= upper.
struct LostShare {
  double share = 0;
  double lower = 0;
  double upper = 0;
  friend bool operator==(const LostShare&, const LostShare&) = default;
};

struct LostTime {
  std::map<std::uint32_t, LostShare>
      by_stage;      // by number in the job, of those that have run tasks
  LostShare of_all;  // of their tasks together
};

}  // namespace tidemark::model
