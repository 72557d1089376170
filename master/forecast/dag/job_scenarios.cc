#include "master/forecast/dag/job_scenarios.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "master/forecast/dag/application_forecast.h"
#include "master/forecast/dag/followed_job.h"
#include "master/forecast/dag/jobs_application.h"
#include "master/forecast/dag/task_model.h"
#include "master/forecast/placement/placing.h"
#include "tidemark/field_error.h"
#include "tidemark/late_probability.h"

namespace tidemark::dag {
namespace {

constexpr double kLongestSeconds = 1e10;
// Larger numbers are assumed to be typing errors. ParseScenario() has the same limit.
constexpr std::uint32_t kSlotsMax = 1'000'000;

placement::Resourcing SlotsAlone(std::uint64_t slots) {
  placement::Resourcing on;
  on.cluster.capacity = {.cores = static_cast<double>(slots)};
  return on;
}

std::uint64_t TasksRunning(const LiveJob& job) { return job.map.running + job.reduce.running; }

// Returns the slots that executors or stages report, or 0 if none do.
std::uint64_t ReportedSlots(const LiveJob& job) {
  if (job.left == nullptr) return 0;
  // If the end of a task is reported late, more tasks than slots seem to run for a moment.
  if (job.left->slots > 0) return job.left->slots;
  std::uint64_t reported = 0;
  for (const durations::RemainingStage& stage : job.left->stages) {
    const std::uint64_t most = stage.work.at_once_max;
    if (most != placement::kNoLimit) reported = std::max({reported, most, TasksRunning(job)});
  }
  return reported;
}

// Returns the present slots. Returns nullopt if the slots are not reported and no task waits for
// one, or if no work remains.
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
    for (const durations::RemainingStage& stage : job.left->stages) {
      add(stage.work.running.size(), stage.work.pending);
    }
  }
  const std::uint64_t reported = ReportedSlots(job);
  if (reported > 0 && (running > 0 || is_anything_pending)) return reported;
  if (running == 0 || (is_anything_pending && !is_full)) return std::nullopt;
  return running;
}

double SlotsPerExecutor(const LiveJob& job) {
  return job.left == nullptr ? 0 : job.left->slots_per_executor;
}

// Returns the rounded count, at least 1. Returns 0 (unknown) if it exceeds the type.
std::uint32_t Rounded(double count) {
  constexpr double kMost = std::numeric_limits<std::uint32_t>::max();
  return count <= kMost ? static_cast<std::uint32_t>(std::max(std::round(count), 1.0)) : 0;
}

HeldSlots Held(std::uint32_t slots, const LiveJob& job) {
  const double per_executor = SlotsPerExecutor(job);
  return {.slots = slots, .executors = per_executor > 0 ? Rounded(slots / per_executor) : 0};
}

// Returns the slots of the scenario. Fails with InvalidArgument (FieldError) if the slots exceed
// the limit.
absl::StatusOr<std::uint32_t> SlotsAsked(const Scenario& scenario, const LiveJob& job) {
  if (!scenario.executors) return scenario.slots.value_or(1);
  const double per_executor = SlotsPerExecutor(job);
  const double slots = *scenario.executors * per_executor;
  if (slots <= kSlotsMax) return Rounded(slots);
  if (per_executor > kSlotsMax) {
    return FieldError("executors", fmt::format("the job's executors have {:.12g} slots each, and "
                                               "the limit is {} slots; pass slots instead",
                                               per_executor, kSlotsMax));
  }
  return FieldError(
      "executors",
      fmt::format("must be at most {:.0f}, not {}: the job's executors have {:.12g} slots "
                  "each, and the limit is {} slots",
                  std::floor(kSlotsMax / per_executor), *scenario.executors, per_executor,
                  kSlotsMax));
}

LiveJob LiveJobOf(std::shared_ptr<const Snapshot> newest,
                  std::shared_ptr<const durations::RemainingStages> left, absl::Time now) {
  FollowedJob followed;
  followed.Observe(std::move(newest), std::move(left), /*may_be_retried=*/false);
  return followed.At(now, PlannedJob(), Cluster(), /*data_factor=*/1);
}

Application ApplicationOn(std::uint64_t slots, const LiveJob& job, std::uint64_t slots_now) {
  Application application =
      ApplicationOfJobs({&job, 1}, placement::Parents(1), SlotsAlone(slots_now), JobsOptions());
  application.on = SlotsAlone(slots);
  const std::uint64_t running = TasksRunning(job);
  if (job.left != nullptr && slots > running) {
    application.warm_slots = std::min<std::size_t>(job.left->warm_slots, slots - running);
  }
  // The scenario sets the limit, not the present executors.
  for (durations::RemainingStage& stage : application.stages)
    stage.work.at_once_max = placement::kNoLimit;
  return application;
}

bool IsPredicted(const Snapshot& newest, const LiveJob& live) {
  return live.forecast && !newest.silent_since;
}

absl::Duration ClampedDuration(double seconds) {
  return absl::Seconds(std::clamp(seconds, 0.0, kLongestSeconds));
}

// Evidence of the forecast that is not about the tasks (shared processors, past runs) applies to
// both placements.
Range Stretched(const RunningForecast& forecast, const SecondsRange& as_it_is,
                const SecondsRange& would_be) {
  const double factor = as_it_is.median > 0 ? would_be.median / as_it_is.median : 1;
  const auto bound = [&](double forecast_bound, double now, double then) {
    return forecast_bound * (now > 0 ? then / now : factor);
  };
  const double median = factor * forecast.remaining;
  const double lower = bound(forecast.lower, as_it_is.lower, would_be.lower);
  const double upper = bound(forecast.upper, as_it_is.upper, would_be.upper);
  return {.median = ClampedDuration(median),
          .lower = ClampedDuration(std::min(lower, median)),
          .upper = ClampedDuration(std::max(upper, median))};
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
                    std::shared_ptr<const durations::RemainingStages> left, absl::Time now) {
  const LiveJob live = LiveJobOf(std::move(newest), std::move(left), now);
  const std::optional<std::uint64_t> slots = SlotsOf(live);
  return slots ? Held(Rounded(static_cast<double>(*slots)), live) : HeldSlots();
}

std::optional<SkewGain> SkewGainOf(const durations::RemainingStages& left, std::uint64_t slots) {
  std::optional<SkewGain> most;
  for (const durations::RemainingStage& stage : left.stages) {
    double tasks = 0;
    double sum = 0;
    double squares = 0;
    for (std::size_t i = stage.work.running.size(); i < stage.times.of_task.size(); ++i) {
      const durations::Draws& draws = stage.times.of_task[i];
      if (draws.empty()) continue;
      const double mean =
          std::accumulate(draws.begin(), draws.end(), 0.0) / static_cast<double>(draws.size());
      tasks += 1;
      sum += mean;
      squares += mean * mean;
    }
    if (tasks < 2) continue;
    const double variance = squares / tasks - (sum / tasks) * (sum / tasks);
    const GainBounds bounds = SkewGainBounds(tasks, std::min(tasks, static_cast<double>(slots)),
                                             std::sqrt(std::max(variance, 0.0)));
    const absl::Duration upper = ClampedDuration(bounds.upper_seconds);
    if (upper <= (most ? most->upper : absl::ZeroDuration())) continue;
    most = SkewGain{stage.number, ClampedDuration(bounds.lower_seconds), upper};
  }
  return most;
}

absl::StatusOr<Application> CurrentApplication(
    std::shared_ptr<const Snapshot> newest, std::shared_ptr<const durations::RemainingStages> left,
    absl::Time now) {
  now = std::max(now, newest->at);
  const LiveJob live = LiveJobOf(newest, std::move(left), now);
  const std::optional<std::uint64_t> slots = SlotsOf(live);
  if (!IsPredicted(*newest, live) || !slots) {
    return absl::FailedPreconditionError(
        fmt::format("job {} has no forecast yet, or its number of slots is unknown; retry later",
                    newest->job_id));
  }
  Application application = ApplicationOn(*slots, live, *slots);
  if (application.stages.size() <= MapStageOf(1)) {
    return absl::FailedPreconditionError(fmt::format(
        "job {}: cannot estimate scenarios, because only its task count is known", newest->job_id));
  }
  return application;
}

absl::StatusOr<Outcome> ForecastJobOnSlots(std::shared_ptr<const Snapshot> newest,
                                           std::shared_ptr<const durations::RemainingStages> left,
                                           const Scenario& scenario, absl::Time now) {
  const Snapshot& job = *newest;
  now = std::max(now, job.at);
  const LiveJob live = LiveJobOf(newest, std::move(left), now);
  if (!IsPredicted(job, live)) {
    return absl::FailedPreconditionError(fmt::format(
        "job {} has no forecast yet, so its end with more or fewer slots is unknown; retry later",
        job.job_id));
  }
  if (scenario.executors && SlotsPerExecutor(live) == 0) {
    return absl::FailedPreconditionError(
        fmt::format("job {}: its number of executors is unknown; set slots instead", job.job_id));
  }
  const std::optional<std::uint64_t> slots_now = SlotsOf(live);
  if (!slots_now) {
    return absl::FailedPreconditionError(fmt::format(
        "job {}: its number of slots is unknown while no task waits for a slot; retry later",
        job.job_id));
  }
  const absl::StatusOr<std::uint32_t> slots = SlotsAsked(scenario, live);
  if (!slots.ok()) return slots.status();
  const auto as_it_is = ForecastApplication(ApplicationOn(*slots_now, live, *slots_now));
  if (!as_it_is.ok()) return as_it_is.status();
  const auto would_be = ForecastApplication(ApplicationOn(*slots, live, *slots_now));
  if (!would_be.ok()) return would_be.status();
  HeldSlots held = Held(*slots, live);
  if (scenario.executors) held.executors = *scenario.executors;
  return Outcome{
      .snapshot = EndingIn(Stretched(*live.forecast, as_it_is->end, would_be->end), job, now),
      .slots = held.slots,
      .executors = held.executors};
}

namespace {

using durations::Draws;
using facts::LostShare;
using facts::LostTime;

double PartOf(const LostTime& lost, std::uint32_t stage, double LostShare::*bound) {
  const auto seen = lost.by_stage.find(stage);
  if (seen != lost.by_stage.end()) return std::clamp(seen->second.*bound, 0.0, 1.0);
  return bound == &LostShare::upper ? std::clamp(lost.of_all.upper, 0.0, 1.0) : 0;
}

// Multiplies all task times by `factor`. REQUIRES: `times` are of a stage of ApplicationOfJobs(),
// so that similar tasks have a factor.
void Shorten(double factor, durations::TaskTimes& times) {
  for (Draws& task : times.of_task) {
    for (double& seconds : task) seconds *= factor;
  }
  for (double& of_draw : times.factor) of_draw *= factor;
}

// Values of one draw belong together, so the saved time is a difference within the draw.
absl::StatusOr<SecondsRange> TimeSavedBy(double LostShare::*bound, const LostTime& lost,
                                         Application application, const Draws& as_it_is) {
  for (durations::RemainingStage& stage : application.stages) {
    Shorten(1 - PartOf(lost, stage.number, bound), stage.times);
  }
  const absl::StatusOr<ApplicationForecast> without = ForecastApplication(application);
  if (!without.ok()) return without.status();
  Draws sooner;
  for (std::size_t d = 0; d < as_it_is.size(); ++d) {
    sooner.push_back(std::max(as_it_is[d] - without->ends[d], 0.0));
  }
  return RangeOf(std::move(sooner));
}

absl::StatusOr<SecondsRange> TimeSavedWithoutOne(const LostTime& lost,
                                                 const Application& application,
                                                 const Draws& as_it_is) {
  const auto median = TimeSavedBy(&LostShare::share, lost, application, as_it_is);
  if (!median.ok()) return median.status();
  const auto lower = TimeSavedBy(&LostShare::lower, lost, application, as_it_is);
  if (!lower.ok()) return lower.status();
  const auto upper = TimeSavedBy(&LostShare::upper, lost, application, as_it_is);
  if (!upper.ok()) return upper.status();
  return SecondsRange{.median = median->median,
                      .lower = std::min(lower->lower, median->median),
                      .upper = std::max(upper->upper, median->median)};
}

}  // namespace

absl::StatusOr<std::vector<SecondsRange>> TimeSavedWithout(
    std::shared_ptr<const Snapshot> newest, std::shared_ptr<const durations::RemainingStages> left,
    std::span<const LostTime> lost, absl::Time now) {
  const auto application = CurrentApplication(std::move(newest), std::move(left), now);
  if (!application.ok()) return application.status();
  const auto as_it_is = ForecastApplication(*application);
  if (!as_it_is.ok()) return as_it_is.status();
  if (as_it_is->end.upper >= placement::kForever) {
    return absl::FailedPreconditionError("the end of the job is unknown");
  }
  std::vector<SecondsRange> sooner;
  for (const LostTime& to_one : lost) {
    const auto without = TimeSavedWithoutOne(to_one, *application, as_it_is->ends);
    if (!without.ok()) return without.status();
    sooner.push_back(*without);
  }
  return sooner;
}

}  // namespace tidemark::dag
