// Random snapshots that a master might publish, and later snapshots of the same jobs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>

#include "proto/wire/job_codec.h"
#include "tidemark/job.h"

namespace tidemark::test {

// The snapshots depend only on the seed.
class RandomSnapshots {
 public:
  explicit RandomSnapshots(std::uint64_t seed) : random_(seed) {}

  std::uint64_t Upto(std::uint64_t most) { return random_() % (most + 1); }
  bool Chance(std::uint64_t in) { return Upto(in - 1) == 0; }

  // Returns a whole snapshot with stages in order and consistent counts.
  Snapshot First() {
    Snapshot snapshot = {.job_id = "job-" + Text(), .run_uid = Text(), .sequence = 1 + Upto(9)};
    snapshot.at = At();
    snapshot.info =
        JobInfo{Text(), Enum(JobKind::kWorkflow), Text(), Text(), Text(), Text(), Text()};
    if (Chance(2)) snapshot.coverage = SomeCoverage();
    for (std::uint64_t i = Upto(4); i > 0; --i) AddChild(snapshot);
    for (std::uint64_t i = Upto(12); i > 0; --i) AddStage(snapshot);
    Scalars(snapshot);
    return snapshot;
  }

  // Returns a possible later snapshot.
  Snapshot Next(const Snapshot& before) {
    Snapshot snapshot = before;
    const absl::Duration passed = absl::Nanoseconds(static_cast<std::int64_t>(Upto(5'000'000'000)));
    snapshot.sequence += 1 + Upto(3);
    snapshot.at += passed;
    for (StageProgress& stage : snapshot.stages) {
      Shorten(passed, stage.starts_in);
      Shorten(passed, stage.ends_in);
      if (Chance(4)) stage = SomeStage(stage.id);
    }
    for (Child& child : snapshot.children) {
      Shorten(passed, child.starts_in);
      Shorten(passed, child.estimate.remaining);
      if (Chance(4)) child = SomeChild(child.number);
    }
    for (StageInfo& stage : snapshot.stage_infos) {
      if (Chance(9)) ++stage.attempt;
    }
    if (Chance(3)) RemoveStage(snapshot);
    for (std::uint64_t i = Upto(2); i > 0; --i) AddStage(snapshot);
    if (Chance(4)) AddChild(snapshot);
    if (Chance(3)) snapshot.coverage = SomeCoverage();
    if (Chance(5)) snapshot.info->name += "!";
    if (Chance(2)) Scalars(snapshot);
    snapshot.counts = CountParts(snapshot);
    return snapshot;
  }

  std::string Text() {
    const char* const texts[] = {"", "two-path", "群組", "a b"};
    return texts[Upto(3)];
  }

 private:
  static void Shorten(absl::Duration passed, std::optional<Range>& range) {
    if (!range) return;
    const auto shorten = [&](absl::Duration& left) {
      left = std::max(left - passed, absl::ZeroDuration());
    };
    shorten(range->median);
    if (range->lower) shorten(*range->lower);
    if (range->upper) shorten(*range->upper);
  }

  double Fraction() { return static_cast<double>(Upto(1000)) / 1000; }
  absl::Duration Length() {
    return absl::Microseconds(static_cast<std::int64_t>(Upto(90'000'000)));
  }
  absl::Time At() { return absl::FromUnixSeconds(1'700'000'000) + Length(); }
  template <typename T>
  T Enum(T last) {
    return static_cast<T>(Upto(static_cast<std::uint64_t>(last)));
  }
  std::optional<Range> SomeRange() {
    if (Chance(2)) return std::nullopt;
    const absl::Duration least = Length();
    Range range = {.median = least + Length()};
    if (Chance(2)) range.lower = least;
    if (Chance(2)) range.upper = range.median + Length();
    return range;
  }
  Estimate SomeEstimate() {
    return {Enum(EstimateState::kFinal),
            Fraction(),
            Fraction(),
            Fraction(),
            SomeRange(),
            Enum(Basis::kDone),
            Fraction(),
            Text(),
            Enum(EstimateMethod::kJobs)};
  }
  Coverage SomeCoverage() {
    return {.newest_event_at = At(), .lost_events = Upto(3), .map_profiles = Fraction()};
  }
  StageProgress SomeStage(StageId id) {
    StageProgress stage = {.id = id,
                           .state = Enum(StageState::kExpected),
                           .fraction_done = Fraction(),
                           .tasks = Upto(1000),
                           .running_tasks = Upto(10),
                           .starts_in = SomeRange(),
                           .ends_in = SomeRange(),
                           .bottleneck = Text(),
                           .is_critical = Chance(2)};
    if (Chance(2)) stage.started_at = At();
    if (Chance(4)) stage.shuffle = ShuffleProgress{Fraction(), Upto(3), Upto(3)};
    if (Chance(4)) stage.task_time = Length();
    return stage;
  }
  Child SomeChild(std::uint32_t number) {
    return {.number = number,
            .name = "child",
            .state = Enum(ChildState::kCancelled),
            .estimate = SomeEstimate(),
            .starts_in = SomeRange(),
            .after = {1, 2}};
  }
  void AddChild(Snapshot& snapshot) {
    snapshot.children.push_back(
        SomeChild(static_cast<std::uint32_t>(snapshot.children.size()) + 1));
  }
  void AddStage(Snapshot& snapshot) {
    const StageId id = {.child = static_cast<std::uint32_t>(Upto(snapshot.children.size())),
                        .stage = static_cast<std::uint32_t>(Upto(40))};
    const auto place = std::lower_bound(
        snapshot.stages.begin(), snapshot.stages.end(), id,
        [](const StageProgress& stage, const StageId& wanted) { return stage.id < wanted; });
    if (place != snapshot.stages.end() && place->id == id) return;
    snapshot.stage_infos.insert(
        snapshot.stage_infos.begin() + (place - snapshot.stages.begin()),
        {.id = id, .name = Text(), .kind = Enum(StageKind::kGeneric), .parents = {0}});
    snapshot.stages.insert(place, SomeStage(id));
  }
  void RemoveStage(Snapshot& snapshot) {
    if (snapshot.stages.empty()) return;
    const auto at = static_cast<std::ptrdiff_t>(Upto(snapshot.stages.size() - 1));
    snapshot.stages.erase(snapshot.stages.begin() + at);
    snapshot.stage_infos.erase(snapshot.stage_infos.begin() + at);
  }
  void Scalars(Snapshot& snapshot) {
    snapshot.state = Enum(JobState::kUnknownEnd);
    snapshot.is_final = Chance(5);
    snapshot.message = Text();
    snapshot.started_at = At();
    snapshot.ended_at.reset();
    if (Chance(3)) snapshot.ended_at = At();
    snapshot.estimate = SomeEstimate();
    snapshot.silent_since.reset();
    if (Chance(3)) snapshot.silent_since = At();
    snapshot.notes.assign(Upto(2), "note");
    snapshot.deadline.reset();
    snapshot.late_probability.reset();
    if (Chance(3)) snapshot.deadline = At();
    if (snapshot.deadline && Chance(2)) snapshot.late_probability = Fraction();
    snapshot.named_tasks.assign(Upto(3), {.attempt = {1, 0, 2, 3}, .remaining = SomeRange()});
    snapshot.indicators.assign(Upto(2), {.estimate = SomeEstimate()});
    snapshot.errors.assign(Upto(1), {.indicator = "hadoop", .last_stage_avg_points = 3});
    snapshot.counts = CountParts(snapshot);
  }

  std::mt19937_64 random_;
};

}  // namespace tidemark::test
