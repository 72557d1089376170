// Creates cost logs with computed times instead of measured times.
#pragma once

#include <cmath>
#include <cstdint>

#include "bench/accuracy/cost_log.h"

namespace tidemark::bench {

// Returns `groups` key groups of 10, 20, ... bytes. Their values have ten bytes each, and each
// group has values from both map tasks. The first time of a group in milliseconds equals its size
// in bytes. The second and third times are two and three times as long.
inline CostLog SomeCosts(std::uint32_t groups) {
  CostLog log;
  log.identity = "made up";
  log.map_tasks = {{"first", 1000, {}}, {"second", 2000, {}}};
  for (std::uint32_t i = 0; i < groups; ++i) {
    GroupCost& group = log.groups.emplace_back();
    group.key = KeyHash{1000 + i};
    group.values = 2 * (i + 1);
    group.size_bytes = std::uint64_t{10} * group.values;
    group.emitted_bytes = group.size_bytes * group.values;
    const float seconds = 0.001F * static_cast<float>(group.size_bytes);
    group.seconds = {seconds, 2 * seconds, 3 * seconds};
    for (MapTaskLog& task : log.map_tasks) {
      task.shares.push_back({i, static_cast<std::uint32_t>(group.size_bytes / 2)});
    }
  }
  return log;
}

}  // namespace tidemark::bench
