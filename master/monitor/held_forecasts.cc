#include "master/monitor/held_forecasts.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "master/monitor/stragglers.h"
#include "tidemark/reconcile_forecasts.h"

namespace tidemark::monitor {
namespace {

// A published forecast holds while the new forecast differs by less than this fraction of its
// scale. The errors of all estimates are larger.
constexpr double kHolds = 1.0 / 32;
// Lower bound of the scale of a forecast. Differences below 1/8 s are therefore ignored.
constexpr absl::Duration kShortest = absl::Seconds(4);
// Longer forecasts are rounded to whole seconds, which halves their encoded size.
constexpr absl::Duration kWholeSeconds = absl::Seconds(64);

absl::Duration ScaleOf(const Range& range) {
  const absl::Duration lower = range.lower.value_or(range.median);
  const absl::Duration upper = range.upper.value_or(range.median);
  return std::max({range.median, upper - lower, kShortest});
}

bool HasRunOut(const Range& range) {
  return range.upper.value_or(range.median) <= absl::ZeroDuration();
}

// Subtracts the passed time from a remaining time, but not below zero, as wire::Delta() does.
void Age(absl::Duration passed, absl::Duration& left) {
  left = std::max(left - passed, absl::ZeroDuration());
}
void Age(absl::Duration passed, std::optional<Range>& range) {
  if (!range) return;
  Age(passed, range->median);
  if (range->lower) Age(passed, *range->lower);
  if (range->upper) Age(passed, *range->upper);
}

constexpr double kOther = std::numeric_limits<double>::infinity();

double Difference(const std::optional<absl::Duration>& held,
                  const std::optional<absl::Duration>& newer, absl::Duration scale) {
  if (held.has_value() != newer.has_value()) return kOther;
  if (!held) return 0;
  return *held == *newer ? 0 : absl::FDivDuration(absl::AbsDuration(*held - *newer), scale);
}
double Difference(const std::optional<Range>& held, const std::optional<Range>& newer) {
  if (held.has_value() != newer.has_value()) return kOther;
  if (!held) return 0;
  if (HasRunOut(*held) != HasRunOut(*newer)) return kOther;
  const absl::Duration scale = ScaleOf(*newer);
  return std::max({Difference(held->median, newer->median, scale),
                   Difference(held->lower, newer->lower, scale),
                   Difference(held->upper, newer->upper, scale)});
}

void Round(absl::Duration scale, absl::Duration& length) {
  if (scale >= kWholeSeconds) {
    length = absl::Trunc(length + absl::Milliseconds(500), absl::Seconds(1));
  }
}
void Round(std::optional<Range>& range) {
  if (!range) return;
  const absl::Duration scale = ScaleOf(*range);
  Round(scale, range->median);
  if (range->lower) Round(scale, *range->lower);
  if (range->upper) Round(scale, *range->upper);
}

}  // namespace

HeldForecasts::Forecast HeldForecasts::ForecastOf(const StageProgress& stage) {
  return {stage.starts_in, stage.ends_in, stage.task_time};
}

double HeldForecasts::Difference(const Forecast& held, const Forecast& newer) {
  const absl::Duration task_time =
      std::max(newer.task_time.value_or(absl::ZeroDuration()), absl::Milliseconds(1));
  return std::max({monitor::Difference(held.starts_in, newer.starts_in),
                   monitor::Difference(held.ends_in, newer.ends_in),
                   monitor::Difference(held.task_time, newer.task_time, task_time)});
}

void HeldForecasts::Hold(Snapshot& snapshot, bool ends_with_stages) {
  ReconcileForecasts(snapshot, ends_with_stages);
  struct Waiting {
    double difference;
    StageProgress* stage;
    const Forecast* held;
  };
  const absl::Duration passed = snapshot.at - std::exchange(at_, snapshot.at);
  std::vector<Waiting> waiting;
  const auto repeat = [](const Forecast& held, StageProgress& stage) {
    stage.starts_in = held.starts_in;
    stage.ends_in = held.ends_in;
    stage.task_time = held.task_time;
  };
  for (auto& [number, held] : of_stages_) {
    Age(passed, held.starts_in);
    Age(passed, held.ends_in);
  }
  for (StageProgress& stage : snapshot.stages) {
    const auto held = of_stages_.find(stage.id.stage);
    if (held == of_stages_.end()) continue;
    const double difference = Difference(held->second, ForecastOf(stage));
    if (difference < kHolds) {
      repeat(held->second, stage);
    } else if (!stage.started_at && difference < kOther) {
      waiting.push_back({difference, &stage, &held->second});
    }
  }
  std::stable_sort(waiting.begin(), waiting.end(),
                   [](const Waiting& a, const Waiting& b) { return a.difference > b.difference; });
  for (std::size_t i = kRefreshedMax; i < waiting.size(); ++i) {
    repeat(*waiting[i].held, *waiting[i].stage);
  }
  for (StageProgress& stage : snapshot.stages) {
    const Forecast forecast = ForecastOf(stage);
    const auto held = of_stages_.find(stage.id.stage);
    if (held == of_stages_.end() || Difference(held->second, forecast) > 0) {
      Round(stage.starts_in);
      Round(stage.ends_in);
      if (stage.task_time) Round(*stage.task_time, *stage.task_time);
    }
  }
  std::map<std::uint32_t, Forecast> kept;
  for (const StageProgress& stage : snapshot.stages) {
    if (stage.starts_in || stage.ends_in || stage.task_time) {
      kept.emplace_hint(kept.end(), stage.id.stage, ForecastOf(stage));
    }
  }
  of_stages_ = std::move(kept);
}

void HeldForecasts::HoldReason(const facts::JobRecord& state, absl::Time now,
                               std::vector<NamedTask>& named) {
  const auto key_of = [&](const NamedTask& task) -> std::optional<KeyHash> {
    const facts::TaskAttempt* const attempt = FindAttempt(state, task.attempt);
    const bool is_in_group = task.in_heaviest_group && attempt != nullptr && attempt->reduce &&
                             attempt->reduce->running_group;
    return is_in_group ? attempt->reduce->running_group->key : std::nullopt;
  };
  const auto lasts = [&](const NamedTask& task) {
    const facts::TaskAttempt* const attempt = FindAttempt(state, task.attempt);
    const bool runs = attempt == nullptr ? task.waits_for_slot : attempt->life.is_running();
    return runs && key_of(task) == first_key_;
  };
  if (named.empty()) return first_.reset();
  if (first_ && named.front().reason != first_->reason && now - first_since_ < kReasonHeld &&
      lasts(*first_)) {
    const auto known = std::ranges::find(named, first_->attempt, &NamedTask::attempt);
    if (known != named.end()) {
      named.erase(known);
    } else if (named.size() == kStragglersMax) {
      named.pop_back();
    }
    Age(now - std::exchange(first_at_, now), first_->remaining);
    named.insert(named.begin(), *first_);
    return;
  }
  if (!first_ || named.front().reason != first_->reason) first_since_ = now;
  first_ = named.front();
  first_at_ = now;
  first_key_ = key_of(*first_);
}

}  // namespace tidemark::monitor
