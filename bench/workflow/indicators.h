// Methods that predict the end of a job of stages. They run in parallel, and each of them receives
// the job's events.
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
  std::optional<double> shown_remaining;  // makes the shown progress exact; empty: as `remaining`
  std::vector<double> stage_ends;         // by stage number, if predicted
};

class Indicator {
 public:
  virtual ~Indicator() = default;
  virtual void Take(const Event& event) = 0;
  virtual Answer Ask(absl::Time now) = 0;
};

// Returns the names of the methods in master/forecast/papers/papers.h, and `tidemark`, which uses
// the published values of a JobMonitor.
std::vector<std::string> IndicatorNames();
// `history` contains past runs, the newest first. `on` is the cluster, which the published methods
// receive. `tidemark` infers the cluster.
std::unique_ptr<Indicator> MakeIndicator(const std::string& name, std::vector<PastRun> history,
                                         const placement::Resourcing& on);

}  // namespace tidemark::bench
