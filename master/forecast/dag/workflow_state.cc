#include "master/forecast/dag/workflow_state.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
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

// The indexes of the unmatched stages of a past run.
class Places {
 public:
  void Add(std::size_t place) { places_.insert(places_.end(), place); }
  void Take(std::size_t place) { places_.erase(place); }
  // Returns the nearest index; on a tie, the lower one.
  std::optional<std::size_t> Nearest(std::size_t to) const {
    const auto above = places_.lower_bound(to);
    if (above == places_.begin()) {
      return above == places_.end() ? std::nullopt : std::optional(*above);
    }
    const std::size_t below = *std::prev(above);
    return above == places_.end() || to - below <= *above - to ? below : *above;
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

std::vector<std::optional<std::size_t>> MatchStages(std::span<const StageNow> now,
                                                    const PastRun& profile) {
  absl::flat_hash_map<std::string, Places> of_name;
  absl::flat_hash_map<std::pair<std::string, std::uint64_t>, Places> of_name_and_tasks;
  const auto name_of = [&](std::size_t place) {
    return NameOf(profile.stages[place].name, profile.stages[place].work);
  };
  for (std::size_t i = 0; i < profile.stages.size(); ++i) {
    of_name[name_of(i)].Add(i);
    of_name_and_tasks[{name_of(i), profile.stages[i].tasks}].Add(i);
  }
  std::vector<std::optional<std::size_t>> matches(now.size());
  const auto match = [&](std::size_t i, const std::string& name) {
    const auto named = of_name.find(name);
    if (named == of_name.end()) return;
    const auto alike = of_name_and_tasks.find({name, now[i].tasks});
    if (alike != of_name_and_tasks.end()) matches[i] = alike->second.Nearest(i);
    if (!matches[i]) matches[i] = named->second.Nearest(i);
    if (!matches[i]) return;
    named->second.Take(*matches[i]);
    of_name_and_tasks[{name, profile.stages[*matches[i]].tasks}].Take(*matches[i]);
  };
  for (std::size_t i = 0; i < now.size(); ++i) {
    match(i, NameOf(now[i].name, now[i].work));
    if (!matches[i] && now[i].work != 0) match(i, NameOf("", now[i].work));
  }
  return matches;
}

namespace {

// One contradiction refutes a run that fewer than two stages have confirmed, and two in a row
// refute any. Chosen by hand.
constexpr int kTrustAtFirst = 1;
constexpr int kTrustMax = 3;
constexpr int kContradiction = -2;

// The bytes of a task differ by less than this factor between runs of one program. kFewBytes, which
// take hardly any time, are added to both. Chosen by hand.
constexpr double kBytesFactor = 4;
constexpr double kFewBytes = 64 << 10;

using Matches = std::vector<std::optional<std::size_t>>;

class Comparison {
 public:
  Comparison(const PastRun& run, std::span<const StageNow> now, bool has_sizes)
      : run_(run), now_(now), has_sizes_(has_sizes), matches_(MatchStages(now, run)) {
    for (const PastStage& stage : run.stages) {
      if (stage.work != 0) works_.insert(stage.work);
    }
  }

  bool IsRefuted() const {
    int trust = kTrustAtFirst;
    for (std::size_t i = 0; i < now_.size(); ++i) {
      trust = std::min(trust + Vote(i), kTrustMax);
      if (trust <= 0) return true;
    }
    return false;
  }

 private:
  // Returns true if a past run keeps the stage. It does not keep skipped or failed stages.
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
    const auto finished = static_cast<double>(stage.finished.size());
    const auto tasks = static_cast<double>(stage.tasks);
    const double bytes = finished > 0 ? stage.read_bytes * tasks / finished : 0;
    const bool are_bytes_known = bytes > 0 && then.read_bytes > 0;
    const auto tasks_then = static_cast<double>(then.tasks);
    // Stages that are only expected have the number of tasks of the past run, regardless of the
    // data.
    if (stage.is_task_count_known && then.tasks > 0 &&
        !durations::MayBeOfOneProgram(tasks, tasks_then, 1)) {
      return false;
    }
    if (!are_bytes_known || stage.finished.size() != stage.tasks || then.tasks == 0) return true;
    const double ratio = (bytes / tasks + kFewBytes) / (then.read_bytes / tasks_then + kFewBytes);
    return std::max(ratio, 1 / ratio) < kBytesFactor;
  }

  const PastRun& run_;
  const std::span<const StageNow> now_;
  const bool has_sizes_;
  const Matches matches_;
  std::set<std::uint64_t> works_;
};

}  // namespace

bool HasShapeOf(const PastRun& run, std::span<const StageNow> now, bool has_sizes) {
  return !Comparison(run, now, has_sizes).IsRefuted();
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
  // A kept stage represents itself; another stage represents its parents.
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
