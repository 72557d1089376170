#include "master/workflow/job_on_slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "master/estimate/application_estimate.h"
#include "master/schedule/placing.h"
#include "master/workflow/followed_job.h"
#include "master/workflow/jobs_application.h"

namespace tidemark::workflow {
namespace {

constexpr double kLongestSeconds = 1e10;

schedule::Resourcing SlotsAlone(std::uint64_t slots) {
  schedule::Resourcing on;
  on.cluster.capacity = {.cores = static_cast<double>(slots)};
  return on;
}

// That it has now; empty: not told, and nothing waits for one that shows it.
std::optional<std::uint64_t> SlotsOf(const LiveJob& job) {
  const std::uint64_t running = job.map.running + job.reduce.running;
  std::uint64_t told = 0;
  bool is_anything_pending = false;
  bool is_full = false;
  const auto add = [&](std::uint64_t running_there, std::uint64_t pending) {
    is_anything_pending |= pending > 0;
    is_full |= running_there > 0 && pending > 0;
  };
  if (job.left == nullptr) {
    add(job.map.running, job.map.pending);
    add(job.reduce.running, job.reduce.pending);
  } else {
    for (const cost::StageLeft& stage : job.left->stages) {
      const std::uint64_t most = stage.work.at_once_max;
      if (most != schedule::kNoLimit) told = std::max(told, most);
      add(stage.work.running.size(), stage.work.pending);
    }
  }
  if (running == 0 || (told == 0 && is_anything_pending && !is_full)) return std::nullopt;
  return std::max(running, told);
}

absl::StatusOr<estimate::Estimate> EstimateOn(std::uint64_t slots, const LiveJob& job,
                                              std::uint64_t slots_now) {
  estimate::Application application =
      ApplicationOfJobs({&job, 1}, schedule::Parents(1), SlotsAlone(slots_now), JobsOptions());
  application.on = SlotsAlone(slots);
  // What its executors have is what is asked about.
  for (cost::StageLeft& stage : application.stages) stage.work.at_once_max = schedule::kNoLimit;
  return estimate::EstimateApplication(application);
}

absl::Duration Length(double seconds) {
  return absl::Seconds(std::clamp(seconds, 0.0, kLongestSeconds));
}

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
  const std::optional<std::uint64_t> slots_now = SlotsOf(live);
  if (!slots_now) {
    return absl::FailedPreconditionError(
        fmt::format("job {}: how many slots it has is not known while none of its tasks waits for "
                    "one that others use; ask again later",
                    job.job_id));
  }
  const auto as_it_is = EstimateOn(*slots_now, live, *slots_now);
  if (!as_it_is.ok()) return as_it_is.status();
  const auto would_be = EstimateOn(slots, live, *slots_now);
  if (!would_be.ok()) return would_be.status();
  // What the forecast knows beyond the tasks (processors that they share, earlier runs) holds for
  // both.
  const double factor = as_it_is->end.median > 0 ? would_be->end.median / as_it_is->end.median : 1;
  return EndingIn({.median = Length(factor * live.forecast->remaining),
                   .lower = Length(factor * live.forecast->lower),
                   .upper = Length(factor * live.forecast->upper)},
                  job, now);
}

}  // namespace tidemark::workflow
