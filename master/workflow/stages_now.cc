#include "master/workflow/stages_now.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "master/cost/time_distribution.h"
#include "master/schedule/dag.h"
#include "master/workflow/long_tasks.h"

namespace tidemark::workflow {
namespace {

// How many of the groups and stages that ended last a new one is taken to have waited for.
// Measured: drivers of TPC-DS run at most as many jobs side by side.
constexpr std::size_t kWaitedForMax = 8;
// Limits what a stranger's graph may cost: how many stages one of a profile may wait for.
constexpr std::size_t kParentsMax = 256;
// Limits what a stranger's plans may cost. So many are more than an end is predicted for.
constexpr std::size_t kPlannedMax = 10'001;

double SecondsBetween(absl::Time from, absl::Time to) {
  return std::max(absl::ToDoubleSeconds(to - from), 0.0);
}

// One attempt at a task that has begun.
struct Begun {
  std::size_t stage = 0;
  std::uint32_t index = 0;
  std::uint32_t attempt = 0;
  std::uint32_t stage_attempt = 0;
  absl::Time start;
  std::optional<absl::Time> end;
  std::optional<std::size_t> executor;
  bool counts = false;  // for its task; others only used its slot
  bool is_finished = false;
  std::optional<double> fraction;  // of its input that it is done with, while it runs
  std::uint64_t read_bytes = 0;
  Warmth warmth = Warmth::kRest;
};

// An engine that groups stages may bring more of them, whatever these do.
bool IsOfMapReduce(const model::Stage& stage) {
  return (stage.is_map() || stage.is_reduce()) && stage.opened.group.empty();
}

class Looking {
 public:
  Looking(const model::JobRecord& state, absl::Time now) : state_(state), now_(now) {
    seen_.elapsed = SecondsBetween(state.started_at, now);
    seen_.may_grow = state.has_late_stages;
  }

  WorkflowNow Look() {
    for (const auto& [number, stage] : state_.stages) Add(number, stage);
    std::sort(begun_.begin(), begun_.end(), [](const Begun& a, const Begun& b) {
      return std::tuple(a.start, a.stage, a.index) < std::tuple(b.start, b.stage, b.index);
    });
    FindWarmth();
    FillIn();
    FindGroups();
    FindFreeBefore();
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      FindParents(i);
      FindLag(i);
    }
    BreakCycles();
    FindSlots();
    FindPlanned();
    return std::move(seen_);
  }

 private:
  struct StageFacts {
    const model::Stage* stage = nullptr;
    std::vector<std::size_t> begun;  // that count, in order of their starts
    absl::Time last_end = absl::InfinitePast();
    bool is_done = false;
    // Since when, at its first task's start, nothing else had run; infinite: something still did.
    absl::Time free_since = absl::InfiniteFuture();
  };
  struct Group {
    absl::Time announced = absl::InfiniteFuture();
    absl::Time end = absl::InfinitePast();
    bool is_done = true;
    std::optional<std::size_t> last;  // of its stages that ran
    std::string_view kind;            // the name of its final stage: what it does
    std::vector<std::pair<absl::Time, std::size_t>> ended;  // of its stages: when, and which
  };

  void Add(std::uint32_t number, const model::Stage& stage) {
    const StageOpened& opened = stage.opened;
    place_[number] = stages_.size();
    stages_.push_back({.stage = &stage});
    StageNow& now = seen_.stages.emplace_back();
    now.name = opened.signature.empty() ? opened.name : opened.signature;
    if (!opened.signature.empty()) now.title = opened.name;
    now.number = number;
    now.work = opened.work;
    now.fetches = !opened.parents.empty();
    now.owner = owners_.try_emplace(opened.pool, owners_.size()).first->second;
    if (opened.slots) now.at_once_max = std::max<std::uint64_t>(*opened.slots, 1);
    if (stage.is_skipped()) return;
    now.is_task_count_known = opened.task_count.has_value() || stage.closed;
    now.has_failed = stage.closed && stage.closed->outcome != JobOutcome::kSucceeded;
    const double records_per_byte = stage.closed ? 0 : stage.RecordsPerByte();
    for (const model::Task& task : stage.tasks) AddTask(task, stage, records_per_byte);
    if (!stage.closed) {
      now.tasks = std::max<std::uint64_t>(now.tasks, older_ + opened.task_count.value_or(0));
    }
    older_ = 0;
  }

  // The attempts at one task, those of one attempt at the stage after the other.
  void AddTask(const model::Task& task, const model::Stage& stage, double records_per_byte) {
    const auto& attempts = task.attempts;
    for (auto first = attempts.begin(); first != attempts.end();) {
      const std::uint32_t stage_attempt = first->first.first;
      std::optional<std::size_t> counts;
      for (; first != attempts.end() && first->first.first == stage_attempt; ++first) {
        const model::TaskAttempt& attempt = first->second;
        if (!attempt.life.started_at() && !attempt.life.ended_at()) continue;
        const absl::Time end = attempt.life.ended_at().value_or(now_);
        Begun& begun = begun_.emplace_back();
        begun.stage = stages_.size() - 1;
        begun.index = task.index;
        begun.attempt = first->first.second;
        begun.stage_attempt = stage_attempt;
        begun.start = std::min(attempt.life.started_at().value_or(end), end);
        // What runs has not run for longer than its job, whatever its clock says.
        if (!attempt.life.ended_at()) begun.start = std::max(begun.start, OpenedAt());
        begun.end = attempt.life.ended_at();
        // Slots of MapReduce are of its stages, not of executors.
        if (!IsOfMapReduce(stage)) begun.executor = attempt.executor;
        begun.is_finished = attempt.life.is_finished();
        begun.read_bytes = attempt.bytes_done;
        // Its last report may be late, or lost.
        if (begun.is_finished) {
          begun.read_bytes = std::max(begun.read_bytes, attempt.life.input_bytes.value_or(0));
        }
        // Of a stage that has ended, what still runs is of no use.
        if (!begun.is_finished && (!attempt.life.is_running() || stage.closed)) continue;
        if (!begun.is_finished) {
          begun.fraction = stage.FractionDone(task, attempt, records_per_byte);
        }
        if (!counts || Leads(begun, begun_[*counts])) counts = begun_.size() - 1;
      }
      const bool is_newest = stage_attempt >= stage.opened.attempt;
      if (!counts) continue;  // it has to begin again
      begun_[*counts].counts = true;
      seen_.stages.back().tasks += 1;
      if (!is_newest) ++older_;
    }
  }

  absl::Time OpenedAt() const { return std::min(state_.started_at, now_); }

  // Whether `a` decides when the task ends: the first that has finished, else the first to start.
  static bool Leads(const Begun& a, const Begun& b) {
    if (a.is_finished != b.is_finished) return a.is_finished;
    return a.is_finished ? *a.end < *b.end : a.start < b.start;
  }

  // So many tasks of an executor as it has slots are the first on their slot, and so many of each
  // stage the first of the stage. Of a single slot it is known what it ran last.
  void FindWarmth() {
    absl::flat_hash_map<std::size_t, std::uint64_t> on_executor;
    absl::flat_hash_map<std::size_t, std::size_t> last_stage;  // by executor
    absl::flat_hash_map<std::pair<std::size_t, std::size_t>, std::uint64_t> of_stage;
    std::uint64_t fresh = 0;
    std::uint64_t running = 0;
    for (Begun& task : begun_) {
      running += task.end ? 0 : 1;
      const std::uint64_t slots = task.executor ? state_.executors[*task.executor].opened.slots : 0;
      if (slots > 0) {
        const auto last = last_stage.try_emplace(*task.executor, task.stage).first;
        const bool has_changed = slots == 1 && last->second != task.stage;
        last->second = task.stage;
        const bool is_first = of_stage[{*task.executor, task.stage}]++ < slots || has_changed;
        const bool is_fresh = on_executor[*task.executor]++ < slots;
        if (is_first) task.warmth = is_fresh ? Warmth::kFresh : Warmth::kFirst;
        fresh += task.warmth == Warmth::kFresh ? 1 : 0;
      }
      if (task.counts) stages_[task.stage].begun.push_back(&task - begun_.data());
    }
    seen_.warm_slots = fresh > running ? fresh - running : 0;
    for (std::size_t i = 0; i < stages_.size(); ++i) MarkLastWave(i);
  }

  // A task is among the last when fewer tasks of its stage start after it than run beside it.
  void MarkLastWave(std::size_t index) {
    const std::vector<std::size_t>& begun = stages_[index].begun;
    std::priority_queue<absl::Time, std::vector<absl::Time>, std::greater<>> ends;
    for (std::size_t i = 0; i < begun.size(); ++i) {
      Begun& task = begun_[begun[i]];
      while (!ends.empty() && ends.top() <= task.start) ends.pop();
      const std::size_t after = seen_.stages[index].tasks - i - 1;
      if (task.warmth == Warmth::kRest && after < ends.size()) task.warmth = Warmth::kLast;
      ends.push(task.end.value_or(absl::InfiniteFuture()));
    }
  }

  void FillIn() {
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      StageNow& now = seen_.stages[i];
      StageFacts& facts = stages_[i];
      const std::span<const std::uint64_t> sizes = SizesOf(facts.stage->opened);
      const auto size_of = [&](const Begun& task) {
        return task.index < sizes.size() ? static_cast<double>(sizes[task.index]) : 0;
      };
      for (const std::size_t place : facts.begun) {
        const Begun& task = begun_[place];
        if (task.is_finished) {
          now.read_bytes += static_cast<double>(task.read_bytes);
          now.finished.push_back(
              {SecondsBetween(task.start, *task.end), task.warmth, task.index, size_of(task)});
          facts.last_end = std::max(facts.last_end, *task.end);
        } else {
          now.running.push_back({SecondsBetween(task.start, now_),
                                 task.warmth,
                                 size_of(task),
                                 task.fraction,
                                 {now.number, task.index, task.attempt, task.stage_attempt}});
        }
      }
      facts.is_done = now.is_task_count_known && now.finished.size() == now.tasks;
      if (!facts.is_done) FindPendingSizes(sizes, facts, now);
    }
  }

  // By task; empty: not known of all of them.
  static std::span<const std::uint64_t> SizesOf(const StageOpened& opened) {
    for (const std::vector<std::uint64_t>* sizes : {&opened.task_bytes, &opened.task_records}) {
      if (!sizes->empty() && sizes->size() == opened.task_count) return *sizes;
    }
    return {};
  }

  void FindPendingSizes(std::span<const std::uint64_t> sizes, const StageFacts& facts,
                        StageNow& now) const {
    std::vector<bool> has_begun(sizes.size());
    for (const std::size_t place : facts.begun) {
      const std::uint32_t index = begun_[place].index;
      if (index < sizes.size()) has_begun[index] = true;
    }
    for (std::size_t index = 0; index < sizes.size(); ++index) {
      if (!has_begun[index]) now.pending_sizes.push_back(static_cast<double>(sizes[index]));
    }
  }

  void FindGroups() {
    std::map<absl::Time, std::string_view> kinds;  // of stages without a group, by instant
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const StageFacts& facts = stages_[i];
      const absl::Time announced = facts.stage->announced_at;
      if (facts.stage->opened.group.empty()) {
        kinds[announced] = facts.stage->opened.name;
        continue;
      }
      Group& group = groups_[facts.stage->opened.group];
      group.announced = std::min(group.announced, announced);
      group.end = std::max(group.end, facts.last_end);
      group.is_done &= facts.is_done;
      group.kind = facts.stage->opened.name;
      if (!facts.begun.empty()) group.last = i;
      if (!facts.begun.empty() && facts.is_done) group.ended.emplace_back(facts.last_end, i);
    }
    for (auto& [name, group] : groups_) {
      std::sort(group.ended.begin(), group.ended.end());
      if (group.is_done && group.last) ended_.emplace_back(group.end, *group.last);
    }
    std::sort(ended_.begin(), ended_.end());
    CountSubmissions({kinds.begin(), kinds.end()});
  }

  void CountSubmissions(std::multimap<absl::Time, std::string_view> kinds) {
    for (const auto& [name, group] : groups_) kinds.emplace(group.announced, group.kind);
    if (kinds.empty()) return;
    std::set<std::string_view> known;
    for (const auto& [at, kind] : kinds) {
      seen_.submissions.is_newest_repeated = !known.insert(kind).second;
    }
    seen_.submissions.count = kinds.size();
    seen_.submissions.kinds = known.size();
  }

  void FindParents(std::size_t index) {
    const StageOpened& opened = stages_[index].stage->opened;
    StageNow& now = seen_.stages[index];
    for (const std::uint32_t number : opened.parents) {
      const auto parent = place_.find(number);
      if (parent != place_.end() && parent->second != index) now.parents.push_back(parent->second);
    }
    // The driver submits a job, of the same group or another, when others have ended.
    if (opened.parents.empty() && !opened.group.empty()) {
      const Group& group = groups_[opened.group];
      WaitFor(ended_, group.announced, index, now);
      WaitFor(group.ended, stages_[index].stage->announced_at, index, now);
    }
    // What is skipped is there when what it would have waited for is.
    const bool is_skipped = stages_[index].stage->is_skipped();
    for (const std::size_t parent : now.parents) {
      if (!is_skipped) break;
      stages_[index].last_end = std::max(stages_[index].last_end, stages_[parent].last_end);
    }
  }

  // For those of `ended` that had ended at `appeared`.
  static void WaitFor(const std::vector<std::pair<absl::Time, std::size_t>>& ended,
                      absl::Time appeared, std::size_t index, StageNow& now) {
    auto at = std::upper_bound(ended.begin(), ended.end(), std::pair(appeared, index));
    for (std::size_t n = 0; n < kWaitedForMax && at != ended.begin(); ++n) {
      --at;
      if (at->second < index) now.parents.push_back(at->second);
    }
  }

  void FindFreeBefore() {
    std::vector<std::size_t> by_start;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      if (!stages_[i].begun.empty()) by_start.push_back(i);
    }
    std::sort(by_start.begin(), by_start.end(), [&](std::size_t a, std::size_t b) {
      return std::tuple(FirstStart(a), a) < std::tuple(FirstStart(b), b);
    });
    absl::Time free_since = absl::InfinitePast();
    for (const std::size_t i : by_start) {
      stages_[i].free_since = free_since;
      if (!stages_[i].is_done) return;
      free_since = std::max(free_since, stages_[i].last_end);
    }
  }

  absl::Time FirstStart(std::size_t index) const {
    return begun_[stages_[index].begun.front()].start;
  }

  void FindLag(std::size_t index) {
    StageNow& now = seen_.stages[index];
    const StageFacts& facts = stages_[index];
    if (facts.is_done) {
      now.done_since = SecondsBetween(std::max(facts.last_end, state_.started_at), now_);
    }
    absl::Time ready = state_.started_at;
    for (const std::size_t parent : now.parents) {
      if (!stages_[parent].is_done) return;
      ready = std::max(ready, stages_[parent].last_end);
    }
    if (const auto& opened_at = facts.stage->opened.opened_at) {
      // Its first task may have waited for a slot, unless all of them were free.
      const bool has_waited = facts.begun.empty() || facts.free_since > *opened_at;
      now.lag = SecondsBetween(ready, has_waited ? *opened_at : FirstStart(index));
    }
    if (facts.begun.empty()) now.waited = SecondsBetween(ready, now_);
  }

  // Stages that wait for each other, and those behind them, wait for none with a higher number.
  void BreakCycles() {
    schedule::Parents parents;
    for (const StageNow& stage : seen_.stages) parents.push_back(stage.parents);
    for (const std::size_t stage : schedule::CycleOf(parents)) {
      seen_.cycle.push_back(seen_.stages[stage].number);
    }
    if (seen_.cycle.empty()) return;
    for (std::size_t i = 0; i < parents.size(); ++i) {
      std::erase_if(seen_.stages[i].parents, [&](std::size_t parent) { return parent > i; });
    }
  }

  // What was seen does not add to what is told: the end of a task may be told late, when the next
  // on its slot has started, so that for moments more seem to run than there are slots.
  void FindSlots() {
    const std::vector<bool> is_gone = GoneExecutors();
    std::uint64_t told = 0;
    std::uint64_t executors = 0;
    for (std::size_t i = 0; i < is_gone.size(); ++i) {
      const std::uint64_t slots = is_gone[i] ? 0 : state_.executors[i].opened.slots;
      told += slots;
      executors += slots > 0 ? 1 : 0;
    }
    if (executors > 0) {
      seen_.slots_per_executor = static_cast<double>(told) / static_cast<double>(executors);
    } else {
      for (const StageFacts& facts : stages_) {
        told = std::max<std::uint64_t>(told, facts.stage->opened.slots.value_or(0));
      }
    }
    seen_.are_slots_told = told > 0;
    seen_.slots = static_cast<double>(told > 0 ? told : MostAtOnce());
  }

  // Of each group that has not ended, what its plan names beyond the stages that there are. They
  // run one after the other, and the first waits for all that there are.
  void FindPlanned() {
    absl::flat_hash_map<std::string_view, std::vector<std::size_t>> of_group;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const model::Stage& stage = *stages_[i].stage;
      if (!stage.is_skipped()) of_group[stage.opened.group].push_back(i);
    }
    std::uint32_t first = kExpectedStages;  // of the group's stages
    for (const auto& [name, group] : state_.groups) {
      const std::uint32_t number = first;
      first += static_cast<std::uint32_t>(group.opened.planned_task_counts.size());
      if (group.closed) continue;
      const std::vector<std::size_t>& there = of_group[name];
      std::uint64_t tasks = static_cast<std::uint64_t>(std::max(seen_.slots, 1.0));
      for (const std::size_t i : there) tasks = std::max(tasks, seen_.stages[i].tasks);
      std::vector<std::size_t> before = there;
      const std::vector<std::uint32_t>& counts = group.opened.planned_task_counts;
      for (std::size_t n = there.size(); n < counts.size(); ++n) {
        if (seen_.planned.size() == kPlannedMax) return;
        seen_.planned.push_back(
            {.number = number + static_cast<std::uint32_t>(n),
             .group = name,
             .tasks = counts[n] > 0 ? counts[n] : tasks,
             .parents = std::exchange(before, {stages_.size() + seen_.planned.size()}),
             .owner = there.empty() ? 0 : seen_.stages[there.back()].owner});
      }
    }
  }

  // By place: those that were closed, and those of drivers that a later attempt of the application
  // master has replaced.
  std::vector<bool> GoneExecutors() const {
    std::vector<bool> is_gone;
    for (const model::Executor& executor : state_.executors) is_gone.push_back(executor.is_closed);
    const std::uint32_t newest = state_.opened ? state_.opened->application_master_attempt : 0;
    for (const auto& [id, source] : state_.sources) {
      const std::uint32_t attempt = source.application_master_attempt;
      if (attempt == 0 || attempt == newest) continue;
      for (const auto& [number, place] : source.executors) is_gone[place] = true;
    }
    return is_gone;
  }

  // Also on executors that are gone: those that were given up for want of work come again with it.
  std::uint64_t MostAtOnce() const {
    std::vector<std::pair<absl::Time, int>> changes;
    for (const Begun& task : begun_) {
      changes.emplace_back(task.start, 1);
      if (task.end) changes.emplace_back(*task.end, -1);
    }
    std::sort(changes.begin(), changes.end());
    std::int64_t running = 0;
    std::int64_t most = 0;
    for (const auto& [at, change] : changes) most = std::max(most, running += change);
    return static_cast<std::uint64_t>(most);
  }

  const model::JobRecord& state_;
  const absl::Time now_;
  WorkflowNow seen_;
  std::vector<StageFacts> stages_;
  std::vector<Begun> begun_;
  absl::flat_hash_map<std::string, std::size_t> owners_;  // by pool
  absl::flat_hash_map<std::uint32_t, std::size_t> place_;
  absl::flat_hash_map<std::string, Group> groups_;
  std::vector<std::pair<absl::Time, std::size_t>> ended_;  // groups: when, and their last stage
  std::uint64_t older_ = 0;  // tasks of earlier attempts at the stage that is being added
};

// Of others, earlier runs say nothing of how many tasks the stage has.
bool RanWhole(const StageNow& stage) { return !stage.has_failed && !stage.finished.empty(); }

}  // namespace

bool HasOtherStages(const model::JobRecord& state) {
  return std::any_of(state.stages.begin(), state.stages.end(), [](const auto& entry) {
    const model::Stage& stage = entry.second;
    if (IsOfMapReduce(stage)) return false;
    return stage.opened.task_count.value_or(0) > 0 || !stage.tasks.empty();
  });
}

WorkflowNow StagesNow(const model::JobRecord& state, absl::Time now) {
  return Looking(state, now).Look();
}

schedule::Resourcing ResourcingOf(const WorkflowNow& now) {
  const bool takes_turns = std::any_of(now.stages.begin(), now.stages.end(),
                                       [](const StageNow& stage) { return stage.owner > 0; });
  return {.cluster = {.capacity = {.cores = std::max(now.slots, 1.0)},
                      .policy = takes_turns ? schedule::Policy::kFair : schedule::Policy::kFifo}};
}

RunProfile ProfileOf(const WorkflowNow& now) {
  RunProfile run = {.slots = std::max(now.slots, 1.0)};
  schedule::Parents parents;
  std::size_t kept = 0;
  std::size_t edges = 0;
  for (const StageNow& stage : now.stages) {
    parents.push_back(stage.parents);
    kept += RanWhole(stage) ? 1 : 0;
    edges += stage.parents.size();
  }
  if (kept == 0 || kept > RunProfile::kStagesMax || edges > RunProfile::kEdgesMax) return run;
  const auto order = schedule::TopologicalOrder(parents);
  if (!order.ok()) return run;
  // Those that are kept stand for themselves, the others for what they waited for.
  std::vector<std::set<std::size_t>> stands_for(now.stages.size());
  for (const std::size_t i : *order) {
    std::set<std::size_t> before;
    for (const std::size_t parent : parents[i]) {
      before.insert(stands_for[parent].begin(), stands_for[parent].end());
      if (before.size() > kParentsMax) return run;
    }
    parents[i].assign(before.begin(), before.end());
    stands_for[i] = RanWhole(now.stages[i]) ? std::set<std::size_t>{i} : std::move(before);
  }
  const std::size_t most = std::max<std::size_t>(RunProfile::kTaskTimesMax / (kWarmths * kept), 1);
  const std::size_t long_tasks_most = RunProfile::kLongTasksMax / kept;
  std::vector<std::size_t> place(now.stages.size());
  for (std::size_t i = 0; i < now.stages.size(); ++i) {
    const StageNow& stage = now.stages[i];
    if (!RanWhole(stage)) continue;
    place[i] = run.stages.size();
    StageProfile profile = {.name = stage.name,
                            .title = stage.title,
                            .work = stage.work,
                            .fetches = stage.fetches,
                            .tasks = stage.tasks,
                            .read_bytes = stage.read_bytes * static_cast<double>(stage.tasks) /
                                          static_cast<double>(stage.finished.size()),
                            .lag = stage.lag.value_or(0)};
    for (const FinishedTask& task : stage.finished) {
      profile.seconds[static_cast<std::size_t>(task.warmth)].push_back(task.seconds);
    }
    for (auto& seconds : profile.seconds) {
      seconds = cost::EvenlyChosen(std::move(seconds), most);
    }
    profile.long_tasks = LongTasksOf(stage);
    if (profile.long_tasks.size() > long_tasks_most) profile.long_tasks.clear();
    run.stages.push_back(std::move(profile));
  }
  for (std::size_t i = 0; i < now.stages.size(); ++i) {
    if (!RanWhole(now.stages[i])) continue;
    for (const std::size_t parent : parents[i]) {
      run.stages[place[i]].parents.push_back(place[parent]);
    }
  }
  if (!CanBeKept(run)) {
    for (StageProfile& stage : run.stages) stage.title.clear();
  }
  if (!CanBeKept(run)) run.stages.clear();
  return run;
}

}  // namespace tidemark::workflow
