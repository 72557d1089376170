#include "master/forecast/dag/job_without.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "master/forecast/dag/job_on_slots.h"
#include "master/forecast/placement/placing.h"

namespace tidemark::workflow {
namespace {

using cost::Draws;
using model::LostShare;
using model::LostTime;

double PartOf(const LostTime& lost, std::uint32_t stage, double LostShare::*bound) {
  const auto seen = lost.by_stage.find(stage);
  if (seen != lost.by_stage.end()) return std::clamp(seen->second.*bound, 0.0, 1.0);
  return bound == &LostShare::upper ? std::clamp(lost.of_all.upper, 0.0, 1.0) : 0;
}

// REQUIRES: of a stage of ApplicationOfJobs(), where tasks that are alike have a factor.
void Shorten(double factor, cost::TaskTimes& times) {
  for (Draws& task : times.of_task) {
    for (double& seconds : task) seconds *= factor;
  }
  for (double& of_draw : times.factor) of_draw *= factor;
}

// The numbers of a draw belong together, so that what is gained is a difference within it.
absl::StatusOr<estimate::Range> SoonerBy(double LostShare::*bound, const LostTime& lost,
                                         estimate::Application application, const Draws& as_it_is) {
  for (cost::StageLeft& stage : application.stages) {
    Shorten(1 - PartOf(lost, stage.number, bound), stage.times);
  }
  const absl::StatusOr<estimate::Estimate> without = estimate::EstimateApplication(application);
  if (!without.ok()) return without.status();
  Draws sooner;
  for (std::size_t d = 0; d < as_it_is.size(); ++d) {
    sooner.push_back(std::max(as_it_is[d] - without->ends[d], 0.0));
  }
  return estimate::RangeOf(std::move(sooner));
}

absl::StatusOr<estimate::Range> SoonerWithoutOne(const LostTime& lost,
                                                 const estimate::Application& application,
                                                 const Draws& as_it_is) {
  const auto median = SoonerBy(&LostShare::share, lost, application, as_it_is);
  if (!median.ok()) return median.status();
  const auto lower = SoonerBy(&LostShare::lower, lost, application, as_it_is);
  if (!lower.ok()) return lower.status();
  const auto upper = SoonerBy(&LostShare::upper, lost, application, as_it_is);
  if (!upper.ok()) return upper.status();
  return estimate::Range{.median = median->median,
                         .lower = std::min(lower->lower, median->median),
                         .upper = std::max(upper->upper, median->median)};
}

}  // namespace

absl::StatusOr<std::vector<estimate::Range>> SoonerWithout(
    std::shared_ptr<const Snapshot> newest, std::shared_ptr<const cost::StagesLeft> left,
    std::span<const LostTime> lost, absl::Time now) {
  const auto application = JobAsItIs(std::move(newest), std::move(left), now);
  if (!application.ok()) return application.status();
  const auto as_it_is = estimate::EstimateApplication(*application);
  if (!as_it_is.ok()) return as_it_is.status();
  if (as_it_is->end.upper >= schedule::kForever) {
    return absl::FailedPreconditionError("when the job ends is not known");
  }
  std::vector<estimate::Range> sooner;
  for (const LostTime& to_one : lost) {
    const auto without = SoonerWithoutOne(to_one, *application, as_it_is->ends);
    if (!without.ok()) return without.status();
    sooner.push_back(*without);
  }
  return sooner;
}

}  // namespace tidemark::workflow
