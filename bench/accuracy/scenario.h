// The disturbances of simulated runs, which form the rows of the suite `stress`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/accuracy/cost_log.h"
#include "bench/accuracy/timeline.h"

namespace tidemark::bench {

// The default has no disturbance.
struct Scenario {
  std::string name;
  std::string description;
  void (*change_costs)(CostLog& log) = nullptr;
  // Returns the speed of each node. `phase_seconds` is the planned length of the phase.
  std::vector<NominalSpeed> (*node_speeds)(std::uint32_t nodes, double phase_seconds) = nullptr;
  double cost_noise = 0;       // standard deviation of the logarithm of the cost of a group
  double lost_events = 0;      // share of events that are lost, except the opening of the job
  bool task_fails = false;     // one task fails half-way and immediately runs again
  bool task_has_twin = false;  // a second attempt of the last task starts half-way
  std::uint32_t slots = 0;     // 0 selects the value of the row

  std::vector<NominalSpeed> SpeedsOf(std::uint32_t nodes, double phase_seconds) const;
};

const std::vector<Scenario>& AllScenarios();
// Returns the scenario with the given name, or one without disturbances if the name is empty. Fails
// with NotFound and the list of valid names.
absl::StatusOr<Scenario> FindScenario(const std::string& name);

}  // namespace tidemark::bench
