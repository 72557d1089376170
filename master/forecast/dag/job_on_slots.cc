#include "master/forecast/dag/job_on_slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "master/forecast/dag/application_estimate.h"
#include "master/forecast/dag/followed_job.h"
#include "master/forecast/dag/jobs_application.h"
#include "master/forecast/placement/placing.h"
#include "tidemark/field_error.h"

namespace tidemark::workflow {
namespace {

constexpr double kLongestSeconds = 1e10;
// More is taken for a typing error; ParseScenario() has the same limit.
constexpr std::uint32_t kSlotsMax = 1'000'000;

schedule::Resourcing SlotsAlone(std::uint64_t slots) {
  schedule::Resourcing on;
  on.cluster.capacity = {.cores = static_cast<double>(slots)};
  return on;
}

std::uint64_t TasksRunning(const LiveJob& job) { return job.map.running + job.reduce.running; }

// That its executors tell, or its stages.
std::uint64_t ToldSlots(const LiveJob& job) {
  if (job.left == nullptr) return 0;
  // More may seem to run for moments, while the end of a task is told late.
  if (job.left->slots > 0) return job.left->slots;
  std::uint64_t told = 0;
  for (const cost::StageLeft& stage : job.left->stages) {
    const std::uint64_t most = stage.work.at_once_max;
    if (most != schedule::kNoLimit) told = std::max({told, most, TasksRunning(job)});
  }
  return told;
}

// That it has now; empty: not told, and nothing waits for one that shows it; or nothing is known to
// be left for them to do.
std::optional<std::uint64_t> SlotsOf(const LiveJob& job) {
  const std::uint64_t running = TasksRunning(job);
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
      add(stage.work.running.size(), stage.work.pending);
    }
  }
  const std::uint64_t told = ToldSlots(job);
  if (told > 0 && (running > 0 || is_anything_pending)) return told;
  if (running == 0 || (is_anything_pending && !is_full)) return std::nullopt;
  return running;
}

double SlotsPerExecutor(const LiveJob& job) {
  return job.left == nullptr ? 0 : job.left->slots_per_executor;
}

// Of what there is, at least 1; 0, which is "not known", where the answer has no room for it.
std::uint32_t Rounded(double count) {
  constexpr double kMost = std::numeric_limits<std::uint32_t>::max();
  return count <= kMost ? static_cast<std::uint32_t>(std::max(std::round(count), 1.0)) : 0;
}

HeldSlots Held(std::uint32_t slots, const LiveJob& job) {
  const double per_executor = SlotsPerExecutor(job);
  return {.slots = slots, .executors = per_executor > 0 ? Rounded(slots / per_executor) : 0};
}

// On so many the job would be. InvalidArgument (FieldError): more than can be asked about.
absl::StatusOr<std::uint32_t> SlotsAsked(const Scenario& scenario, const LiveJob& job) {
  if (!scenario.executors) return scenario.slots.value_or(1);
  const double per_executor = SlotsPerExecutor(job);
  const double slots = *scenario.executors * per_executor;
  if (slots <= kSlotsMax) return Rounded(slots);
  if (per_executor > kSlotsMax) {
    return FieldError("executors",
                      fmt::format("its executors have {:.12g} slots each, and at most {} slots can "
                                  "be asked about; ask about slots",
                                  per_executor, kSlotsMax));
  }
  return FieldError("executors",
                    fmt::format("must be at most {:.0f}, not {}: its executors have {:.12g} slots "
                                "each, and at most {} slots can be asked about",
                                std::floor(kSlotsMax / per_executor), *scenario.executors,
                                per_executor, kSlotsMax));
}

LiveJob LiveJobOf(std::shared_ptr<const Snapshot> newest,
                  std::shared_ptr<const cost::StagesLeft> left, absl::Time now) {
  FollowedJob followed;
  followed.Observe(std::move(newest), std::move(left), /*may_be_retried=*/false);
  return followed.At(now, PlannedJob(), Cluster(), /*data_factor=*/1);
}

estimate::Application ApplicationOn(std::uint64_t slots, const LiveJob& job,
                                    std::uint64_t slots_now) {
  estimate::Application application =
      ApplicationOfJobs({&job, 1}, schedule::Parents(1), SlotsAlone(slots_now), JobsOptions());
  application.on = SlotsAlone(slots);
  const std::uint64_t running = TasksRunning(job);
  if (job.left != nullptr && slots > running) {
    application.warm_slots = std::min<std::size_t>(job.left->warm_slots, slots - running);
  }
  // What its executors have is what is asked about.
  for (cost::StageLeft& stage : application.stages) stage.work.at_once_max = schedule::kNoLimit;
  return application;
}

bool IsPredicted(const Snapshot& newest, const LiveJob& live) {
  return live.forecast && !newest.silent_since;
}

absl::Duration Length(double seconds) {
  return absl::Seconds(std::clamp(seconds, 0.0, kLongestSeconds));
}

// What the forecast knows beyond the tasks (processors that they share, earlier runs) holds for
// both.
Range Stretched(const RunningForecast& forecast, const estimate::Range& as_it_is,
                const estimate::Range& would_be) {
  const double factor = as_it_is.median > 0 ? would_be.median / as_it_is.median : 1;
  const auto bound = [&](double said, double now, double then) {
    return said * (now > 0 ? then / now : factor);
  };
  const double median = factor * forecast.remaining;
  const double lower = bound(forecast.lower, as_it_is.lower, would_be.lower);
  const double upper = bound(forecast.upper, as_it_is.upper, would_be.upper);
  return {.median = Length(median),
          .lower = Length(std::min(lower, median)),
          .upper = Length(std::max(upper, median))};
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

HeldSlots SlotsHeld(std::shared_ptr<const Snapshot> newest,
                    std::shared_ptr<const cost::StagesLeft> left, absl::Time now) {
  const LiveJob live = LiveJobOf(std::move(newest), std::move(left), now);
  const std::optional<std::uint64_t> slots = SlotsOf(live);
  return slots ? Held(Rounded(static_cast<double>(*slots)), live) : HeldSlots();
}

absl::StatusOr<estimate::Application> JobAsItIs(std::shared_ptr<const Snapshot> newest,
                                                std::shared_ptr<const cost::StagesLeft> left,
                                                absl::Time now) {
  now = std::max(now, newest->at);
  const LiveJob live = LiveJobOf(newest, std::move(left), now);
  const std::optional<std::uint64_t> slots = SlotsOf(live);
  if (!IsPredicted(*newest, live) || !slots) {
    return absl::FailedPreconditionError(fmt::format(
        "job {}: nothing is predicted of it now, or its slots are not known", newest->job_id));
  }
  estimate::Application application = ApplicationOn(*slots, live, *slots);
  if (application.stages.size() <= MapStageOf(1)) {
    return absl::FailedPreconditionError(
        fmt::format("job {}: of its tasks only the number is known", newest->job_id));
  }
  return application;
}

absl::StatusOr<Outcome> JobOnSlots(std::shared_ptr<const Snapshot> newest,
                                   std::shared_ptr<const cost::StagesLeft> left,
                                   const Scenario& scenario, absl::Time now) {
  const Snapshot& job = *newest;
  now = std::max(now, job.at);
  const LiveJob live = LiveJobOf(newest, std::move(left), now);
  if (!IsPredicted(job, live)) {
    return absl::FailedPreconditionError(
        fmt::format("job {}: nothing is predicted of it now, so neither is its end on other slots",
                    job.job_id));
  }
  if (scenario.executors && SlotsPerExecutor(live) == 0) {
    return absl::FailedPreconditionError(
        fmt::format("job {}: no executor of it is known now; ask about slots", job.job_id));
  }
  const std::optional<std::uint64_t> slots_now = SlotsOf(live);
  if (!slots_now) {
    return absl::FailedPreconditionError(
        fmt::format("job {}: how many slots it has is not known while none of its tasks waits for "
                    "one that others use; ask again later",
                    job.job_id));
  }
  const absl::StatusOr<std::uint32_t> slots = SlotsAsked(scenario, live);
  if (!slots.ok()) return slots.status();
  const auto as_it_is = estimate::EstimateApplication(ApplicationOn(*slots_now, live, *slots_now));
  if (!as_it_is.ok()) return as_it_is.status();
  const auto would_be = estimate::EstimateApplication(ApplicationOn(*slots, live, *slots_now));
  if (!would_be.ok()) return would_be.status();
  HeldSlots held = Held(*slots, live);
  if (scenario.executors) held.executors = *scenario.executors;
  return Outcome{
      .snapshot = EndingIn(Stretched(*live.forecast, as_it_is->end, would_be->end), job, now),
      .slots = held.slots,
      .executors = held.executors};
}

}  // namespace tidemark::workflow
