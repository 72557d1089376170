#include "master/forecast/dag/workflow_state.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "master/forecast/dag/task_factors.h"
#include "master/forecast/durations/early_forecast.h"
#include "master/forecast/durations/task_times.h"
#include "master/forecast/placement/dag.h"

namespace tidemark::dag {

namespace {

// Between runs of one program, the bytes of a task differ by less than this factor. kFewBytes,
// which take hardly any time, are added to both. Chosen by hand.
constexpr double kBytesFactor = 4;
constexpr double kFewBytes = 64 << 10;
// Limits the cost of a match among many stages of one name.
constexpr std::size_t kPlacesTriedMax = 16;

// Returns true if all tasks of the stage have ended, so that its bytes are known.
bool HasRead(const StageNow& stage) {
  return stage.read_bytes > 0 && stage.tasks > 0 && stage.finished.size() == stage.tasks;
}

// Returns the natural logarithm of the bytes of a task now over the bytes then; 0 if unknown.
double LogBytesRatio(const PastStage& then, const StageNow& stage) {
  if (!HasRead(stage) || !(then.read_bytes > 0) || then.tasks == 0) return 0;
  return std::log((stage.read_bytes / static_cast<double>(stage.tasks) + kFewBytes) /
                  (then.read_bytes / static_cast<double>(then.tasks) + kFewBytes));
}

bool HasBytesOf(const PastStage& then, const StageNow& stage) {
  return std::abs(LogBytesRatio(then, stage)) < std::log(kBytesFactor);
}

// The indexes of the unmatched stages of a past run.
class Places {
 public:
  void Add(std::size_t place) { places_.insert(places_.end(), place); }
  void Take(std::size_t place) { places_.erase(place); }
  // Returns the nearest index that `fits`, among the nearest kPlacesTriedMax ones. If none fits,
  // returns the nearest one. On a tie, the lower index is nearer.
  template <typename Fits>
  std::optional<std::size_t> Nearest(std::size_t to, Fits fits) const {
    std::optional<std::size_t> nearest;
    auto above = places_.lower_bound(to);
    auto below = above;
    for (std::size_t tried = 0; tried < kPlacesTriedMax; ++tried) {
      if (above == places_.end() && below == places_.begin()) break;
      const bool is_below = below != places_.begin() &&
                            (above == places_.end() || to - *std::prev(below) <= *above - to);
      const std::size_t place = is_below ? *--below : *above++;
      if (fits(place)) return place;
      if (!nearest) nearest = place;
    }
    return nearest;
  }

 private:
  std::set<std::size_t> places_;
};

// Returns the key that identifies a stage: its name, or its work if it has no name.
std::string NameOf(const std::string& name, std::uint64_t work) {
  return name.empty() && work != 0 ? WorkKey(work, name) : name;
}

}  // namespace

std::string WorkKey(std::uint64_t work, const std::string& name) {
  return work != 0 ? absl::StrCat("#", absl::Hex(work)) : name;
}

StageMatches MatchStages(std::span<const StageNow> now, const PastRun& profile) {
  const std::vector<PastStage>& then = profile.stages;
  absl::flat_hash_map<std::string, Places> of_name;
  absl::flat_hash_map<std::pair<std::string, std::uint64_t>, Places> of_name_and_tasks;
  absl::flat_hash_map<std::uint64_t, Places> of_work;
  const auto name_of = [&](std::size_t place) {
    return NameOf(then[place].name, then[place].work);
  };
  for (std::size_t i = 0; i < then.size(); ++i) {
    of_name[name_of(i)].Add(i);
    of_name_and_tasks[{name_of(i), then[i].tasks}].Add(i);
    if (then[i].work != 0) of_work[then[i].work].Add(i);
  }
  StageMatches matches(now.size());
  const auto nearest_of = [&](std::size_t i, const std::string& name) {
    const auto fits = [&](std::size_t place) { return HasBytesOf(then[place], now[i]); };
    const auto alike = of_name_and_tasks.find({name, now[i].tasks});
    std::optional<std::size_t> nearest;
    if (alike != of_name_and_tasks.end()) nearest = alike->second.Nearest(i, fits);
    const auto named = of_name.find(name);
    return nearest || named == of_name.end() ? nearest : named->second.Nearest(i, fits);
  };
  const auto match = [&](std::size_t i) {
    const std::string name = NameOf(now[i].name, now[i].work);
    matches[i] = nearest_of(i, name);
    if (!matches[i] && now[i].work != 0) matches[i] = nearest_of(i, NameOf("", now[i].work));
    // Names number the stages of one work in the order in which they opened, which differs between
    // runs if they run at once.
    const bool is_other =
        matches[i] ? !HasBytesOf(then[*matches[i]], now[i]) : of_name.contains(name);
    const auto alike = is_other ? of_work.find(now[i].work) : of_work.end();
    if (alike != of_work.end()) {
      const auto fits = [&](std::size_t place) { return HasBytesOf(then[place], now[i]); };
      const std::optional<std::size_t> other = alike->second.Nearest(i, fits);
      if (other && fits(*other)) matches[i] = other;
    }
    if (!matches[i]) return;
    const std::size_t place = *matches[i];
    of_name[name_of(place)].Take(place);
    of_name_and_tasks[{name_of(place), then[place].tasks}].Take(place);
    if (then[place].work != 0) of_work[then[place].work].Take(place);
  };
  for (const bool has_read : {true, false}) {
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (HasRead(now[i]) == has_read) match(i);
    }
  }
  return matches;
}

namespace {

// A single contradiction refutes a run that fewer than two stages have confirmed. Two in a row
// refute any run. Chosen by hand.
constexpr int kTrustAtFirst = 1;
constexpr int kTrustMax = 3;
constexpr int kContradiction = -2;

// An application that has been idle for this many times the past lag, and for kIdleMin seconds
// more, does not continue as the past run did. Chosen by hand.
constexpr double kIdleLags = 3;
constexpr double kIdleMin = 10;
// Stages that did not come refute a run only if they are this share of the stages that came, since
// caches and optimisers skip single stages of large applications. Chosen by hand.
constexpr double kMissingShareMin = 0.25;

class Comparison {
 public:
  Comparison(const PastRun& run, std::span<const StageNow> now, bool has_sizes)
      : run_(run), now_(now), has_sizes_(has_sizes), matches_(MatchStages(now, run)) {
    for (const PastStage& stage : run.stages) {
      if (stage.work != 0) works_.insert(stage.work);
    }
  }

  // Returns the number of contradictions, or nullopt if they refute the run.
  std::optional<std::size_t> Contradictions() const {
    int trust = kTrustAtFirst;
    std::size_t contradictions = 0;
    double came = 0;
    std::size_t others = 0;  // stages of this run without a counterpart
    for (std::size_t i = 0; i < now_.size(); ++i) {
      const int vote = Vote(i);
      trust = std::min(trust + vote, kTrustMax);
      if (trust <= 0) return std::nullopt;
      contradictions += vote < 0 ? 1 : 0;
      came += vote > 0 ? 1 : 0;
      others += vote < 0 && !matches_[i] ? 1 : 0;
    }
    // An optimiser may have replaced a missing stage by a stage of another name.
    const std::size_t missing = Missing();
    if (missing <= others) return contradictions;
    const std::size_t unexplained = missing - others;
    const bool is_refuted = unexplained >= static_cast<std::size_t>(trust) &&
                            static_cast<double>(unexplained) >= kMissingShareMin * came;
    if (is_refuted) return std::nullopt;
    return contradictions + unexplained;
  }

 private:
  // Returns true if a past run stores the stage. Skipped and failed stages are not stored.
  static bool IsKept(const StageNow& stage) {
    return !stage.has_failed && (stage.tasks > 0 || !stage.is_task_count_known);
  }

  int Vote(std::size_t index) const {
    const StageNow& stage = now_[index];
    if (!IsKept(stage)) return 0;
    if (!matches_[index]) return works_.contains(stage.work) ? 0 : kContradiction;
    const PastStage& then = run_.stages[*matches_[index]];
    const bool agrees = HasParentsOf(then, stage) && (!has_sizes_ || HasSizesOf(then, stage));
    return agrees ? 1 : kContradiction;
  }

  static bool IsOver(const StageNow& stage) {
    return IsKept(stage) && stage.is_task_count_known && stage.finished.size() >= stage.tasks;
  }

  // Returns the seconds since the application has had no tasks; 0 if it has some.
  double IdleFor() const {
    double idle = now_.empty() ? 0 : std::numeric_limits<double>::infinity();
    for (const StageNow& stage : now_) {
      if (IsKept(stage)) idle = std::min(idle, IsOver(stage) ? stage.done_since : 0);
    }
    return std::isfinite(idle) ? idle : 0;
  }

  // Returns the number of missing stages of the past run. A stage is missing if all its parents
  // are over, it has not started, and either two later stages are over or the application is idle.
  // One later stage does not suffice, since jobs that run at once start in any order.
  std::size_t Missing() const {
    std::vector<std::optional<std::size_t>> place(run_.stages.size());
    std::set<std::uint64_t> works;
    std::size_t last_over = 0;  // one above the last past stage whose counterpart is over
    std::size_t second_last_over = 0;
    for (std::size_t i = 0; i < now_.size(); ++i) {
      if (now_[i].work != 0) works.insert(now_[i].work);
      if (!matches_[i]) continue;
      place[*matches_[i]] = i;
      if (!IsOver(now_[i])) continue;
      second_last_over = std::max(second_last_over, std::min(last_over, *matches_[i] + 1));
      last_over = std::max(last_over, *matches_[i] + 1);
    }
    const double idle = IdleFor();
    std::size_t missing = 0;
    for (std::size_t k = 0; k < run_.stages.size(); ++k) {
      const PastStage& then = run_.stages[k];
      // A loop may end earlier than in the past run.
      if (place[k] || works.contains(then.work)) continue;
      const bool is_late = k < second_last_over || idle > kIdleLags * then.lag + kIdleMin;
      const bool could_run = std::ranges::all_of(then.parents, [&](std::size_t parent) {
        return parent < place.size() && place[parent] && IsOver(now_[*place[parent]]);
      });
      missing += is_late && could_run ? 1 : 0;
    }
    return missing;
  }

  // Compares parents by their work, since either of two stages of the same work may be the
  // counterpart.
  bool HasParentsOf(const PastStage& then, const StageNow& stage) const {
    if (stage.fetches != then.fetches) return !stage.fetches && then.parents.empty();
    if (!stage.fetches || !stage.are_parents_open || then.parents.empty()) return true;
    std::multiset<std::string> now_parents;
    for (const std::size_t parent : stage.parents) {
      // The past run has no record of this parent.
      if (!matches_[parent] || !IsKept(now_[parent])) return true;
      now_parents.insert(NameOf(run_.stages[*matches_[parent]]));
    }
    std::multiset<std::string> then_parents;
    for (const std::size_t parent : then.parents) {
      if (parent < run_.stages.size()) then_parents.insert(NameOf(run_.stages[parent]));
    }
    return now_parents == then_parents;
  }

  static std::string NameOf(const PastStage& stage) { return WorkKey(stage.work, stage.name); }

  static bool HasSizesOf(const PastStage& then, const StageNow& stage) {
    // Stages that are only expected have the past run's number of tasks, regardless of the data.
    const bool are_tasks_known = stage.is_task_count_known && then.tasks > 0;
    return (!are_tasks_known || durations::MayBeOfOneProgram(static_cast<double>(stage.tasks),
                                                             static_cast<double>(then.tasks), 1)) &&
           HasBytesOf(then, stage);
  }

  const PastRun& run_;
  const std::span<const StageNow> now_;
  const bool has_sizes_;
  const StageMatches matches_;
  std::set<std::uint64_t> works_;
};

}  // namespace

std::optional<std::size_t> ContradictionsOf(const PastRun& run, std::span<const StageNow> now,
                                            bool has_sizes) {
  return Comparison(run, now, has_sizes).Contradictions();
}

double SizeDistance(const PastRun& run, std::span<const StageNow> now,
                    const StageMatches& matches) {
  double sum = 0;
  double count = 0;
  for (std::size_t i = 0; i < std::min(now.size(), matches.size()); ++i) {
    if (!matches[i] || !HasRead(now[i])) continue;
    sum += LogBytesRatio(run.stages[*matches[i]], now[i]);
    count += 1;
  }
  return count > 0 ? std::abs(sum / count) : 0;
}

namespace {

// Limits the cost of finding the parents in a profile. Each stage counts once for each path to it.
// The limit lets one stage wait for as many stages as a profile can have.
constexpr std::size_t kWaysMax = 256 * PastRun::kEdgesMax;

// Returns true if the stage ran to its end. Other stages have an uncertain number of tasks.
bool IsComplete(const StageNow& stage) { return !stage.has_failed && !stage.finished.empty(); }

}  // namespace

PastRun ProfileOf(const WorkflowNow& now) {
  PastRun run = {.slots = std::max(now.slots, 1.0), .used_share = now.used_share};
  placement::Parents parents;
  std::size_t kept = 0;
  std::size_t edges = 0;
  for (const StageNow& stage : now.stages) {
    parents.push_back(stage.parents);
    kept += IsComplete(stage) ? 1 : 0;
    edges += stage.parents.size();
  }
  if (kept == 0 || kept > PastRun::kStagesMax || edges > PastRun::kEdgesMax) return run;
  const auto order = placement::TopologicalOrder(parents);
  if (!order.ok()) return run;
  // A kept stage represents itself; any other stage represents its parents.
  std::vector<std::set<std::size_t>> represented_by(now.stages.size());
  std::size_t ways = 0;
  for (const std::size_t i : *order) {
    std::set<std::size_t> before;
    for (const std::size_t parent : parents[i]) {
      ways += represented_by[parent].size();
      if (ways > kWaysMax) return run;
      before.insert(represented_by[parent].begin(), represented_by[parent].end());
    }
    parents[i].assign(before.begin(), before.end());
    represented_by[i] = IsComplete(now.stages[i]) ? std::set<std::size_t>{i} : std::move(before);
  }
  const std::size_t most = std::max<std::size_t>(PastRun::kTaskTimesMax / (kWarmths * kept), 1);
  const std::size_t long_tasks_most = PastRun::kLongTasksMax / kept;
  std::vector<std::size_t> place(now.stages.size());
  for (std::size_t i = 0; i < now.stages.size(); ++i) {
    const StageNow& stage = now.stages[i];
    if (!IsComplete(stage)) continue;
    place[i] = run.stages.size();
    PastStage profile = {
        .name = stage.name,
        .title = stage.title,
        .work = stage.work,
        .fetches = stage.fetches,
        .tasks = stage.tasks + stage.unreported,
        .read_bytes = stage.read_bytes * static_cast<double>(stage.tasks + stage.unreported) /
                      static_cast<double>(stage.finished.size()),
        .cpu_seconds = stage.cpu_seconds / static_cast<double>(stage.finished.size()),
        .fetch_seconds = stage.fetch_seconds / static_cast<double>(stage.finished.size()),
        .lag = stage.lag.value_or(0)};
    for (const FinishedTask& task : stage.finished) {
      profile.seconds[static_cast<std::size_t>(task.warmth)].push_back(task.seconds);
    }
    for (auto& seconds : profile.seconds) {
      seconds = durations::EvenlyChosen(std::move(seconds), most);
    }
    profile.long_tasks = LongTasksOf(stage);
    if (profile.long_tasks.size() > long_tasks_most) profile.long_tasks.clear();
    run.stages.push_back(std::move(profile));
  }
  for (std::size_t i = 0; i < now.stages.size(); ++i) {
    if (!IsComplete(now.stages[i])) continue;
    for (const std::size_t parent : parents[i]) {
      run.stages[place[i]].parents.push_back(place[parent]);
    }
  }
  if (!CanBeKept(run)) {
    for (PastStage& stage : run.stages) stage.title.clear();
  }
  if (!CanBeKept(run)) run.stages.clear();
  return run;
}

placement::Resourcing ResourcingOf(const WorkflowNow& now) {
  const bool takes_turns = std::any_of(now.stages.begin(), now.stages.end(),
                                       [](const StageNow& stage) { return stage.owner > 0; });
  return {.cluster = {.capacity = {.cores = std::max(now.slots, 1.0)},
                      .policy = takes_turns ? placement::Policy::kFair : placement::Policy::kFifo}};
}

}  // namespace tidemark::dag
