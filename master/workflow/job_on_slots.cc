#include "master/workflow/job_on_slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "master/estimate/application_estimate.h"
#include "master/schedule/placing.h"
#include "master/workflow/followed_job.h"
#include "master/workflow/jobs_application.h"

namespace tidemark::workflow {
namespace {

schedule::Resourcing SlotsAlone(std::uint64_t slots) {
  schedule::Resourcing on;
  on.cluster.capacity = {.cores = static_cast<double>(slots)};
  return on;
}

absl::Duration Length(double seconds) { return absl::Seconds(std::max(seconds, 0.0)); }

double PassedOf(absl::Duration elapsed, absl::Duration left) {
  const absl::Duration whole = elapsed + left;
  return whole > absl::ZeroDuration() ? absl::FDivDuration(elapsed, whole) : 0;
}

Snapshot EndingIn(const Range& remaining, const Snapshot& newest, absl::Time now) {
  Snapshot snapshot;
  snapshot.job_id = newest.job_id;
  snapshot.run_uid = newest.run_uid;
  snapshot.at = now;
  snapshot.state = newest.state;
  snapshot.info = newest.info;
  snapshot.started_at = newest.started_at;
  snapshot.deadline = newest.deadline;
  snapshot.estimate = newest.estimate;
  snapshot.estimate.remaining = remaining;
  const absl::Duration elapsed = now - newest.started_at.value_or(now);
  snapshot.estimate.fraction_done = PassedOf(elapsed, remaining.median);
  snapshot.estimate.fraction_done_lower = PassedOf(elapsed, *remaining.upper);
  snapshot.estimate.fraction_done_upper = PassedOf(elapsed, *remaining.lower);
  if (snapshot.deadline) snapshot.late_probability = LateProbability(snapshot, *snapshot.deadline);
  return snapshot;
}

}  // namespace

absl::StatusOr<Snapshot> JobOnSlots(std::shared_ptr<const Snapshot> newest,
                                    std::shared_ptr<const cost::StagesLeft> left,
                                    std::uint32_t slots, absl::Time now) {
  const Snapshot& job = *newest;
  now = std::max(now, job.at);
  FollowedJob followed;
  followed.Observe(newest, std::move(left), /*may_be_retried=*/false);
  const LiveJob live = followed.At(now, PlannedJob(), Cluster(), /*data_factor=*/1);
  if (!live.forecast || job.silent_since) {
    return absl::FailedPreconditionError(
        fmt::format("job {}: nothing is predicted of it now, so neither is its end on other slots",
                    job.job_id));
  }
  const std::uint64_t running = live.map.running + live.reduce.running;
  if (running == 0) {
    return absl::FailedPreconditionError(fmt::format(
        "job {}: none of its tasks runs now, so how many slots it has is not known; ask again when "
        "some do",
        job.job_id));
  }
  estimate::Application application =
      ApplicationOfJobs({&live, 1}, schedule::Parents(1), SlotsAlone(running), JobsOptions());
  application.on = SlotsAlone(slots);
  // What its executors have is what is asked about.
  for (cost::StageLeft& stage : application.stages) stage.work.at_once_max = schedule::kNoLimit;
  const absl::StatusOr<estimate::Estimate> estimate = estimate::EstimateApplication(application);
  if (!estimate.ok()) return estimate.status();
  if (estimate->end.upper >= schedule::kForever) {
    return absl::FailedPreconditionError(
        fmt::format("job {}: its tasks do not fit on {} slots", job.job_id, slots));
  }
  return EndingIn({.median = Length(estimate->end.median),
                   .lower = Length(estimate->end.lower),
                   .upper = Length(estimate->end.upper)},
                  job, now);
}

}  // namespace tidemark::workflow
