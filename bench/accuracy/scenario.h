// What is wrong with a simulated run: the rows of suite `stress`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/accuracy/cost_log.h"
#include "bench/accuracy/node.h"

namespace tidemark::bench {

// Nothing is wrong, unless a member says so.
struct Scenario {
  std::string name;
  std::string description;
  void (*change_costs)(CostLog& log) = nullptr;
  // Of each node; the phase is meant to last `phase_seconds`.
  std::vector<NominalSpeed> (*node_speeds)(std::uint32_t nodes, double phase_seconds) = nullptr;
  double cost_noise = 0;       // standard deviation of the logarithm of a group's cost
  double lost_events = 0;      // share of all but the opening of the job
  bool task_fails = false;     // one of them, half-way through its work; it runs again at once
  bool task_has_twin = false;  // the one that ends last, from half-way through its time
  std::uint32_t slots = 0;     // 0: as the row says

  std::vector<NominalSpeed> SpeedsOf(std::uint32_t nodes, double phase_seconds) const;
};

const std::vector<Scenario>& AllScenarios();
// Empty name: nothing is wrong. NotFound: lists those there are.
absl::StatusOr<Scenario> FindScenario(const std::string& name);

}  // namespace tidemark::bench
