// Rules that predict when a job of stages will end, side by side: each follows its events.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "master/forecast/placement/stage_work.h"
#include "tidemark/event.h"
#include "tidemark/past_run.h"

namespace tidemark::bench {

// Seconds from now.
struct Answer {
  std::optional<double> remaining;  // empty: nothing to say
  std::optional<double> lower;      // 90 % interval, or none
  std::optional<double> upper;
  std::vector<double> stage_ends;  // where it tells them, by number of the stage
};

class Indicator {
 public:
  virtual ~Indicator() = default;
  virtual void Take(const Event& event) = 0;
  virtual Answer Ask(absl::Time now) = 0;
};

// The methods of master/forecast/papers/papers.h, and `tidemark`: what a JobMonitor publishes.
std::vector<std::string> IndicatorNames();
// `history`: earlier runs, the newest first. `on`: the cluster, of which the methods of the papers
// are told; `tidemark` has to find out.
std::unique_ptr<Indicator> MakeIndicator(const std::string& name, std::vector<PastRun> history,
                                         const schedule::Resourcing& on);

}  // namespace tidemark::bench
