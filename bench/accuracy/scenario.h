// The disturbances of a simulated run: the rows of suite `stress`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/accuracy/cost_log.h"
#include "bench/accuracy/timeline.h"

namespace tidemark::bench {

// The default disturbs nothing.
struct Scenario {
  std::string name;
  std::string description;
  void (*change_costs)(CostLog& log) = nullptr;
  // Returns the speed of each node. The planned length of the phase is `phase_seconds`.
  std::vector<NominalSpeed> (*node_speeds)(std::uint32_t nodes, double phase_seconds) = nullptr;
  double cost_noise = 0;       // standard deviation of the logarithm of a group's cost
  double lost_events = 0;      // share of lost events, except the opening of the job
  bool task_fails = false;     // one task fails half-way and runs again at once
  bool task_has_twin = false;  // a second attempt of the last task starts half-way
  std::uint32_t slots = 0;     // 0 for the row's value

  std::vector<NominalSpeed> SpeedsOf(std::uint32_t nodes, double phase_seconds) const;
};

const std::vector<Scenario>& AllScenarios();
// Returns the scenario with this name; an empty name gives no disturbance. Fails with NotFound and
// the list of valid names.
absl::StatusOr<Scenario> FindScenario(const std::string& name);

}  // namespace tidemark::bench
