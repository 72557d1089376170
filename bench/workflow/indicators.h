// Methods that predict the end of a job of stages, in parallel: each follows its events.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "master/forecast/placement/allocation.h"
#include "tidemark/event.h"
#include "tidemark/past_run.h"

namespace tidemark::bench {

// A prediction in seconds from now.
struct Answer {
  std::optional<double> remaining;  // empty without a prediction
  std::optional<double> lower;      // 90 % interval; empty if unknown
  std::optional<double> upper;
  std::vector<double> stage_ends;  // by number of the stage, if predicted
};

class Indicator {
 public:
  virtual ~Indicator() = default;
  virtual void Take(const Event& event) = 0;
  virtual Answer Ask(absl::Time now) = 0;
};

// The methods of master/forecast/papers/papers.h, and `tidemark`: the published values of a
// JobMonitor.
std::vector<std::string> IndicatorNames();
// `history`: past runs, newest first. `on`: the cluster, which the methods of papers receive;
// `tidemark` infers it.
std::unique_ptr<Indicator> MakeIndicator(const std::string& name, std::vector<PastRun> history,
                                         const placement::Resourcing& on);

}  // namespace tidemark::bench
