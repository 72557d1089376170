#include "master/forecast/dag/stages_now.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "master/facts/missing_ends.h"
#include "master/forecast/dag/expected_tasks.h"
#include "master/forecast/dag/long_tasks.h"
#include "master/forecast/dag/slot_history.h"
#include "master/forecast/durations/opinions.h"
#include "master/forecast/durations/time_distribution.h"
#include "master/forecast/placement/dag.h"
#include "master/forecast/placement/slot_use.h"

namespace tidemark::workflow {
namespace {

// How many of the groups and stages that ended last a new one is taken to have waited for.
// Measured: drivers of TPC-DS run at most as many jobs side by side.
constexpr std::size_t kWaitedForMax = 8;
// Limits the cost of finding the stages that those of a profile wait for. The limit counts each
// stage once for each way to it, so that one stage may wait for as many as a profile holds.
constexpr std::size_t kWaysMax = 256 * RunProfile::kEdgesMax;
// Limits the cost of untrusted plans. No end is predicted for so many stages.
constexpr std::size_t kPlannedMax = 10'001;

double SecondsBetween(absl::Time from, absl::Time to) {
  return std::max(absl::ToDoubleSeconds(to - from), 0.0);
}

// A task of an open stage is sorted, placed and compared with the others: about 5 us, by replays of
// 100,000 tasks.
constexpr std::size_t kStepsOfTask = 4;

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
  bool is_unreported = false;      // it has ended at an instant that was not reported
  std::optional<double> fraction;  // of its input that it is done with, while it runs
  bool has_read_all = false;       // its last report of progress was of all of its input
  std::optional<double> read_for;  // seconds until it last reported progress
  std::uint64_t read_bytes = 0;
  Warmth warmth = Warmth::kRest;
};

// The order in which attempts begin.
using Place = std::tuple<absl::Time, std::uint32_t, std::uint32_t>;  // start, stage, index

// One attempt at a task of a stage that has ended.
struct Ended {
  Place place;
  absl::Time end;
  std::optional<std::size_t> executor;
};

// An engine that groups stages may bring more of them, whatever these do.
bool IsOfMapReduce(const model::Stage& stage) {
  return (stage.is_map() || stage.is_reduce()) && stage.opened.group.empty();
}

enum class Purpose {
  kProfile,   // a profile of the run: each stage waits for all that it waited for
  kEstimate,  // an estimate of the remaining work: a stage that has ended waits for its parents
              // alone
};

}  // namespace

// Keeps the contribution of a stage that has ended from call to call. The contribution stays exact
// until an event is about the stage, or until an attempt at a task of another stage is reported to
// have begun before one of its attempts. Then the next call computes everything again.
class StagesTracker::Impl {
 public:
  explicit Impl(Purpose purpose) : purpose_(purpose) {}

  WorkflowNow& At(const model::JobRecord& state, absl::Time now) {
    state_ = &state;
    now_ = now;
    beyond_ = model::FindBeyondSlots(state, now);
    steps_ = 0;
    if (std::exchange(is_spoilt_, false) || !Look()) {
      Reset();
      Look();  // the kept contributions may be outdated
    }
    return seen_;
  }
  std::size_t steps() const { return steps_; }

 private:
  struct StageFacts {
    const model::Stage* stage = nullptr;
    std::uint32_t number = 0;
    std::uint64_t revision = 0;      // of the stage, as it was visited
    std::vector<std::size_t> begun;  // that count, in order of their starts
    bool has_begun = false;
    absl::Time last_end = absl::InfinitePast();
    bool is_done = false;
    bool is_settled = false;  // it has ended, and so have all attempts at its tasks
    bool is_kept = false;     // from the last call
    std::size_t ended = 0;    // attempts in `ended_`
    // First starts of its tasks: the earliest and the latest. `begun_tasks` counts the begun tasks
    // of the newest attempt at the stage.
    absl::Time first_start = absl::InfiniteFuture();
    absl::Time last_start = absl::InfinitePast();
    std::uint64_t begun_tasks = 0;
    // Since when, at its first task's start, nothing else had run; infinite: something still did.
    absl::Time free_since = absl::InfiniteFuture();
  };
  struct Group {
    absl::Time announced = absl::InfiniteFuture();
    absl::Time end = absl::InfinitePast();
    bool is_done = true;
    std::optional<std::size_t> last;                        // of its stages that ran
    std::string_view kind;                                  // the name of its final stage: its work
    std::vector<std::pair<absl::Time, std::size_t>> ended;  // of its stages: when, and which
  };

  void Reset() {
    seen_ = {};
    stages_.clear();
    place_.clear();
    ended_.clear();
    kept_until_.reset();
    known_before_ = 0;
    slots_ = SlotHistory();
    at_once_ = RunningTaskCount();
    use_ = schedule::SlotUse();
    added_.clear();
    folded_until_ = -std::numeric_limits<double>::infinity();
    kept_last_end_ = absl::InfinitePast();
  }

  // Returns false if the kept contributions are outdated.
  bool Look() {
    if (kept_until_ && kept_started_at_ != state_->started_at) return false;
    seen_ = {.stages = std::move(seen_.stages),
             .elapsed = SecondsBetween(state_->started_at, now_),
             .may_grow = state_->has_late_stages};
    begun_.clear();
    groups_.clear();
    ended_groups_.clear();
    owners_.clear();
    if (!AddStages()) return false;
    std::sort(begun_.begin(), begun_.end(), [&](const Begun& a, const Begun& b) {
      return std::tuple(PlaceOf(a), a.stage_attempt, a.attempt) <
             std::tuple(PlaceOf(b), b.stage_attempt, b.attempt);
    });
    if (HashOfEarly() != known_before_) return false;
    if (!FindSlots()) return false;
    FindWarmth();
    FillIn();
    FindGroups();
    if (purpose_ == Purpose::kProfile) FindFreeBefore();
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      if (stages_[i].is_kept) {
        FindDoneSince(i);
      } else {
        FindParents(i);
        FindLag(i);
      }
    }
    BreakCycles();
    FindIdle();
    FindPlanned();
    if (purpose_ == Purpose::kEstimate) Keep();
    return true;
  }

  // Returns false if a kept stage has changed, or if a new stage precedes a known one.
  bool AddStages() {
    seen_.stages.resize(std::min(seen_.stages.size(), stages_.size()));  // without expected ones
    std::size_t i = 0;
    for (const auto& [number, stage] : state_->stages) {
      ++steps_;
      if (i == stages_.size()) {
        place_[number] = i;
        stages_.emplace_back();
        seen_.stages.emplace_back();
      } else if (stages_[i].number != number) {
        return false;
      }
      StageFacts& facts = stages_[i];
      facts.stage = &stage;
      if (!facts.is_kept) {
        Add(i, number, stage);
      } else if (facts.revision != stage.revision) {
        return false;
      }
      StageNow& now = seen_.stages[i];
      now.owner = owners_.try_emplace(stage.opened.pool, owners_.size()).first->second;
      now.foretold_deviation = 0;
      ++i;
    }
    return true;
  }

  void Add(std::size_t index, std::uint32_t number, const model::Stage& stage) {
    const StageOpened& opened = stage.opened;
    StageFacts& facts =
        stages_[index] = {.stage = &stage, .number = number, .revision = stage.revision};
    StageNow& now = seen_.stages[index] = {};
    now.name = opened.signature.empty() ? opened.name : opened.signature;
    if (!opened.signature.empty()) now.title = opened.name;
    now.number = number;
    now.work = opened.work;
    now.fetches = !opened.parents.empty();
    if (opened.slots) now.at_once_max = std::max<std::uint64_t>(*opened.slots, 1);
    if (stage.is_skipped()) return;
    now.is_task_count_known = opened.task_count.has_value() || stage.closed;
    now.has_failed = stage.closed && (stage.closed->outcome == JobOutcome::kFailed ||
                                      stage.closed->outcome == JobOutcome::kKilled);
    now.unreported = model::UnreportedTasks(stage);
    const double records_per_byte = stage.closed ? 0 : stage.RecordsPerByte();
    facts.is_settled = stage.closed.has_value();
    std::uint64_t older = 0;  // tasks of earlier attempts at the stage
    for (const model::Task& task : stage.tasks) {
      older += AddTask(index, task, stage, records_per_byte);
    }
    if (!stage.closed) {
      const std::uint64_t given_up = stage.given_up_task_count();
      const std::uint64_t count = opened.task_count.value_or(0);
      now.tasks = std::max<std::uint64_t>(now.tasks, older + count - std::min(count, given_up));
    }
    steps_ += kStepsOfTask * stage.tasks.size() + opened.parents.size();
  }

  // Adds the attempts at one task, by attempt at the stage. Returns how often the task counts for
  // an earlier attempt at the stage.
  std::uint64_t AddTask(std::size_t index, const model::Task& task, const model::Stage& stage,
                        double records_per_byte) {
    std::uint64_t older = 0;
    const auto& attempts = task.attempts;
    for (auto first = attempts.begin(); first != attempts.end();) {
      const std::uint32_t stage_attempt = first->first.first;
      std::optional<std::size_t> counts;
      absl::Time start = absl::InfiniteFuture();
      for (; first != attempts.end() && first->first.first == stage_attempt; ++first) {
        const model::TaskAttempt& attempt = first->second;
        if (!attempt.life.started_at() && !attempt.life.ended_at()) continue;
        std::optional<absl::Time> ended_at = attempt.life.ended_at();
        // An attempt ends with its executor, even if its end is not reported.
        if (attempt.life.is_running() && attempt.executor) {
          ended_at = state_->executors[*attempt.executor].closed_at;
        }
        const absl::Time end = ended_at.value_or(now_);
        Begun& begun = begun_.emplace_back();
        begun.stage = index;
        begun.index = task.index;
        begun.attempt = first->first.second;
        begun.stage_attempt = stage_attempt;
        begun.start = std::min(attempt.life.started_at().value_or(end), end);
        // A running attempt has not run for longer than its job, whatever its clock shows.
        if (!ended_at) begun.start = std::max(begun.start, OpenedAt());
        begun.end = ended_at;
        start = std::min(start, begun.start);
        stages_[index].is_settled &= begun.end.has_value();
        // Slots of MapReduce are of its stages, not of executors.
        if (!IsOfMapReduce(stage)) begun.executor = attempt.executor;
        begun.is_finished = attempt.life.is_finished();
        begun.read_bytes = attempt.bytes_done;
        // Its last report may be late, or lost.
        if (begun.is_finished) {
          begun.read_bytes = std::max(begun.read_bytes, attempt.life.input_bytes.value_or(0));
        }
        // Attempts that outlive their stage are not used.
        const bool runs =
            attempt.life.is_running() && !ended_at && !beyond_.attempts.contains(&attempt);
        begun.is_unreported = !runs && !ended_at;
        if (!begun.is_finished && (!runs || stage.closed)) continue;
        if (!begun.is_finished) {
          begun.fraction = stage.FractionDone(task, attempt, records_per_byte);
        }
        const std::uint64_t input =
            attempt.life.input_bytes.value_or(stage.input_bytes(task).value_or(0));
        begun.has_read_all = input > 0 && attempt.bytes_done >= input;
        if (attempt.progressed_at != absl::InfinitePast()) {
          begun.read_for = SecondsBetween(begun.start, std::min(attempt.progressed_at, end));
        }
        if (!counts || Leads(begun, begun_[*counts])) counts = begun_.size() - 1;
      }
      const bool is_newest = stage_attempt >= stage.opened.attempt;
      if (start != absl::InfiniteFuture()) {
        StageFacts& facts = stages_[index];
        facts.first_start = std::min(facts.first_start, start);
        facts.last_start = std::max(facts.last_start, start);
        facts.begun_tasks += is_newest ? 1 : 0;
      }
      if (!counts) continue;  // it has to begin again
      begun_[*counts].counts = true;
      seen_.stages[index].tasks += 1;
      if (!is_newest) ++older;
    }
    return older;
  }

  Place PlaceOf(const Begun& task) const {
    return {task.start, stages_[task.stage].number, task.index};
  }

  // Returns a hash of the attempts at tasks of open stages that began before the last attempt of a
  // kept stage. An attempt that is reported late changes it.
  std::uint64_t HashOfEarly() const {
    std::uint64_t hash = 0;
    for (const Begun& task : begun_) {
      if (!kept_until_ || PlaceOf(task) > *kept_until_) break;
      if (!stages_[task.stage].is_kept) {
        hash += absl::HashOf(PlaceOf(task), task.attempt, task.stage_attempt, task.executor);
      }
    }
    return hash;
  }

  absl::Time OpenedAt() const { return std::min(state_->started_at, now_); }

  // Whether `a` decides when the task ends: the first that has finished, else the first to start.
  static bool Leads(const Begun& a, const Begun& b) {
    if (a.is_finished != b.is_finished) return a.is_finished;
    return a.is_finished ? *a.end < *b.end : a.start < b.start;
  }

  // Returns how warm the slot of a task is that starts now.
  Warmth WarmthIn(SlotHistory& slots, const Place& place,
                  const std::optional<std::size_t>& executor) const {
    if (!executor) return Warmth::kRest;
    const std::uint64_t on_executor = SlotsOf(state_->executors[*executor]);
    if (on_executor == 0) return Warmth::kRest;
    return slots.Start(*executor, on_executor, std::get<1>(place));
  }

  // Calls `see_ended` with each attempt in `ended_` and `see_begun` with each attempt in `begun_`,
  // in the order of their starts.
  template <typename SeeEnded, typename SeeBegun>
  void ByStart(SeeEnded see_ended, SeeBegun see_begun) {
    auto ended = ended_.begin();
    for (Begun& task : begun_) {
      for (const Place place = PlaceOf(task); ended != ended_.end() && ended->place < place;) {
        see_ended(*ended++);
      }
      see_begun(task);
    }
    std::for_each(ended, ended_.end(), see_ended);
  }

  void FindWarmth() {
    SlotHistory slots(&slots_);
    std::uint64_t running = 0;
    ByStart([&](const Ended& task) { WarmthIn(slots, task.place, task.executor); },
            [&](Begun& task) {
              running += task.end ? 0 : 1;
              task.warmth = WarmthIn(slots, PlaceOf(task), task.executor);
              if (!task.counts) return;
              stages_[task.stage].begun.push_back(static_cast<std::size_t>(&task - begun_.data()));
              stages_[task.stage].has_begun = true;
            });
    steps_ += ended_.size();
    const std::uint64_t fresh = slots.fresh_tasks();
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
      if (facts.is_kept) continue;
      const std::span<const std::uint64_t> sizes = SizesOf(facts.stage->opened);
      const auto size_of = [&](const Begun& task) {
        return task.index < sizes.size() ? static_cast<double>(sizes[task.index]) : 0;
      };
      for (const std::size_t place : facts.begun) {
        const Begun& task = begun_[place];
        if (task.is_finished) {
          now.read_bytes += static_cast<double>(task.read_bytes);
          const double seconds = SecondsBetween(task.start, *task.end);
          const bool was_seen_to_read_all = task.has_read_all && task.read_for;
          now.finished.push_back({seconds, task.warmth, task.index, size_of(task),
                                  was_seen_to_read_all ? *task.read_for : seconds});
          facts.last_end = std::max(facts.last_end, *task.end);
        } else {
          now.running.push_back({SecondsBetween(task.start, now_),
                                 task.warmth,
                                 size_of(task),
                                 task.fraction,
                                 {now.number, task.index, task.attempt, task.stage_attempt},
                                 task.read_for});
        }
      }
      facts.is_done = now.is_task_count_known && now.finished.size() == now.tasks;
      const auto& closed = facts.stage->closed;
      if (closed && closed->outcome == JobOutcome::kUnknown) {
        // Its last task may have ended at any time.
        facts.is_done &= now.unreported == 0 && !facts.begun.empty();
      } else if (now.unreported > 0) {
        facts.last_end = std::max(facts.last_end, closed->at.value_or(facts.last_end));
      }
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
    for (const model::Task& task : facts.stage->tasks) {
      if (task.is_given_up() && task.index < sizes.size()) has_begun[task.index] = true;
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
      if (facts.has_begun) group.last = i;
      if (facts.has_begun && facts.is_done) group.ended.emplace_back(facts.last_end, i);
    }
    for (auto& [name, group] : groups_) {
      std::sort(group.ended.begin(), group.ended.end());
      if (group.is_done && group.last) ended_groups_.emplace_back(group.end, *group.last);
    }
    std::sort(ended_groups_.begin(), ended_groups_.end());
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
    now.are_parents_open = now.parents.size() == opened.parents.size();
    // The driver submits a job, of the same group or another, when others have ended.
    if (opened.parents.empty() && !opened.group.empty() && !WaitsForNothing(index)) {
      const Group& group = groups_[opened.group];
      WaitFor(ended_groups_, group.announced, index, now);
      WaitFor(group.ended, stages_[index].stage->announced_at, index, now);
    }
    // What is skipped is there when what it would have waited for is.
    const bool is_skipped = stages_[index].stage->is_skipped();
    for (const std::size_t parent : now.parents) {
      if (!is_skipped) break;
      stages_[index].last_end = std::max(stages_[index].last_end, stages_[parent].last_end);
    }
  }

  bool WaitsForNothing(std::size_t index) const {
    return purpose_ == Purpose::kEstimate && stages_[index].is_settled;
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
      if (stages_[i].has_begun) by_start.push_back(i);
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
    FindDoneSince(index);
    if (WaitsForNothing(index)) return;
    absl::Time ready = state_->started_at;
    for (const std::size_t parent : now.parents) {
      if (!stages_[parent].is_done) return;
      ready = std::max(ready, stages_[parent].last_end);
    }
    if (const auto& opened_at = facts.stage->opened.opened_at) {
      // Its first task may have waited for a slot, unless all of them were free.
      const bool has_waited = !facts.has_begun || facts.free_since > *opened_at;
      now.lag = SecondsBetween(ready, has_waited ? *opened_at : FirstStart(index));
    }
    if (!facts.has_begun) now.waited = SecondsBetween(ready, now_);
  }

  void FindDoneSince(std::size_t index) {
    const StageFacts& facts = stages_[index];
    if (!facts.is_done) return;
    seen_.stages[index].done_since =
        SecondsBetween(std::max(facts.last_end, state_->started_at), now_);
  }

  bool WaitsForLater(std::size_t index) const {
    const std::vector<std::size_t>& parents = seen_.stages[index].parents;
    return std::any_of(parents.begin(), parents.end(),
                       [&](std::size_t parent) { return parent > index; });
  }

  // Stages that wait for each other, and those behind them, wait for none with a higher number.
  void BreakCycles() {
    bool may_be_cycle = false;
    for (std::size_t i = 0; i < stages_.size(); ++i) may_be_cycle |= WaitsForLater(i);
    if (!may_be_cycle) return;
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

  // Finds how many tasks can run at once. Reported slots are an upper limit: the end of a task may
  // be reported after the start of the next one on its slot, so that more tasks seem to run for a
  // moment. Tasks that wait beside idle slots lower the limit. Returns false if the kept stages are
  // outdated.
  bool FindSlots() {
    steps_ += state_->executors.size();
    const std::vector<bool> is_gone = GoneExecutors();
    std::uint64_t told = 0;
    std::uint64_t executors = 0;  // with slots
    for (std::size_t i = 0; i < is_gone.size(); ++i) {
      if (is_gone[i]) continue;
      told += state_->executors[i].opened.slots;
      executors += state_->executors[i].opened.slots > 0 ? 1 : 0;
      ++seen_.executors;
    }
    seen_.gone_executors = is_gone.size() - seen_.executors;
    use_.SetStages(stages_.size());
    if (!AddExecutors(is_gone)) return false;
    schedule::SlotUse use = use_;
    can_fold_ = true;
    if (executors == 0) {
      use.DropSlots();
      for (const StageFacts& facts : stages_) {
        told = std::max<std::uint64_t>(told, facts.stage->opened.slots.value_or(0));
      }
      // Stages may still report more slots than they did.
      can_fold_ = told == 0;
      if (told > 0 && folded_until_ > -std::numeric_limits<double>::infinity()) return false;
      if (told > 0) use.AddSlots(-schedule::kForever, static_cast<double>(told));
    }
    seen_.are_slots_told = told > 0;
    seen_.slots = static_cast<double>(told > 0 ? told : MostAtOnce());
    AddUse(use);
    const schedule::SlotUse::Found found = use.Find(SecondsAt(now_), seen_.slots);
    if (told > 0) seen_.used_share = found.slots / seen_.slots;
    seen_.slots = found.slots;
    if (executors > 0) seen_.slots_per_executor = seen_.slots / static_cast<double>(executors);
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      std::uint64_t& most = seen_.stages[i].at_once_max;
      if (!stages_[i].stage->closed) most = std::min(most, found.at_once_max[i]);
    }
    // How warm slots are depends on how many there are.
    return !kept_until_ || seen_.used_share == kept_share_;
  }

  // Adds the slots of executors that have come or gone since the last call. Returns false if the
  // folded slot use is outdated.
  bool AddExecutors(const std::vector<bool>& is_gone) {
    added_.resize(is_gone.size());
    for (std::size_t i = 0; i < is_gone.size(); ++i) {
      const model::Executor& executor = state_->executors[i];
      const auto slots = static_cast<double>(executor.opened.slots);
      // The end of an executor that a later driver has replaced is unknown.
      const bool counts = slots > 0 && (!is_gone[i] || executor.is_closed());
      const Added there = {.has_come = counts, .has_gone = counts && executor.closed_at};
      const Added before = std::exchange(added_[i], there);
      if (before.has_come && !counts) return false;
      const double came_at = SecondsAt(executor.opened_at);
      if (there.has_come && !before.has_come) {
        if (came_at < folded_until_) return false;
        use_.AddSlots(came_at, slots);
      }
      if (there.has_gone && !before.has_gone) {
        const double went_at = SecondsAt(*executor.closed_at);
        if (went_at < folded_until_) return false;
        use_.AddSlots(went_at, -slots);
      }
    }
    return true;
  }

  // Adds the tasks and waits of open stages. The tasks and waits of kept stages are in `use_`
  // already.
  void AddUse(schedule::SlotUse& use) const {
    for (const Begun& task : begun_) AddTaskUse(task, use);
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      if (!stages_[i].is_kept) AddWait(i, use);
    }
  }

  void AddTaskUse(const Begun& task, schedule::SlotUse& use) const {
    const model::Stage& stage = *stages_[task.stage].stage;
    if (IsOfMapReduce(stage) || task.is_unreported) return;
    std::optional<absl::Time> end = task.end;
    if (!end && stage.closed) end = stage.closed->at;
    use.AddTask(static_cast<std::uint32_t>(task.stage), SecondsAt(task.start),
                end ? SecondsAt(*end) : std::numeric_limits<double>::infinity());
  }

  void AddWait(std::size_t index, schedule::SlotUse& use) const {
    const StageFacts& facts = stages_[index];
    if (facts.first_start == absl::InfiniteFuture() || IsOfMapReduce(*facts.stage)) return;
    const bool waits =
        !facts.stage->closed && facts.stage->opened.task_count.value_or(0) > facts.begun_tasks;
    use.AddWait(static_cast<std::uint32_t>(index), SecondsAt(facts.first_start),
                SecondsAt(waits ? now_ : facts.last_start));
  }

  double SecondsAt(absl::Time time) const {
    return absl::ToDoubleSeconds(time - state_->started_at);
  }

  // Returns how many tasks the executor can run at once.
  std::uint64_t SlotsOf(const model::Executor& executor) const {
    const double used = std::round(seen_.used_share * executor.opened.slots);
    return executor.opened.slots > 0 ? static_cast<std::uint64_t>(std::max(used, 1.0)) : 0;
  }

  // Finds the stages whose tasks wait for nothing but a slot while no task of the job runs.
  void FindIdle() {
    absl::Time idle_since = std::max(state_->started_at, kept_last_end_);
    for (const StageNow& stage : seen_.stages) {
      if (!stage.running.empty()) return;
    }
    for (const Begun& task : begun_) {
      idle_since = std::max(idle_since, task.end.value_or(task.start));
    }
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      StageNow& stage = seen_.stages[i];
      const model::Stage& facts = *stages_[i].stage;
      if (stages_[i].is_kept) continue;
      const auto group = state_->groups.find(facts.opened.group);
      const bool is_of_ended = group != state_->groups.end() && group->second.closed;
      if (facts.closed || facts.is_skipped() || stages_[i].is_done || is_of_ended) continue;
      absl::Time of_stage = facts.opened.opened_at.value_or(facts.announced_at);
      bool is_ready = stage.tasks > stage.finished.size();
      for (const std::size_t parent : stage.parents) {
        is_ready &= stages_[parent].is_done;
        of_stage = std::max(of_stage, stages_[parent].last_end);
      }
      if (!is_ready) continue;
      seen_.idle_tasks += stage.tasks - stage.finished.size();
      stage.idle_for = SecondsBetween(std::max(idle_since, of_stage), now_);
    }
  }

  // Adds the stages that the plan of each open group names in addition to its existing stages. They
  // run one after the other, and the first waits for all existing stages.
  void FindPlanned() {
    absl::flat_hash_map<std::string_view, std::vector<std::size_t>> of_group;
    for (const auto& [name, group] : state_->groups) {
      if (!group.closed && !group.opened.planned_task_counts.empty()) of_group[name];
    }
    for (std::size_t i = 0; i < stages_.size() && !of_group.empty(); ++i) {
      const model::Stage& stage = *stages_[i].stage;
      const auto group = of_group.find(stage.opened.group);
      if (group != of_group.end() && !stage.is_skipped()) group->second.push_back(i);
    }
    steps_ += state_->groups.size();
    std::uint32_t first = kExpectedStages;  // of the group's stages
    for (const auto& [name, group] : state_->groups) {
      const std::uint32_t number = first;
      first += static_cast<std::uint32_t>(group.opened.planned_task_counts.size());
      const auto of_name = of_group.find(name);
      if (of_name == of_group.end()) continue;
      const std::vector<std::size_t>& there = of_name->second;
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

  // Returns by place whether an executor was closed, or belongs to a driver that a later attempt of
  // the application master has replaced.
  std::vector<bool> GoneExecutors() const {
    std::vector<bool> is_gone;
    for (const model::Executor& executor : state_->executors) {
      is_gone.push_back(executor.is_closed());
    }
    const std::uint32_t newest = state_->opened ? state_->opened->application_master_attempt : 0;
    for (const auto& [id, source] : state_->sources) {
      const std::uint32_t attempt = source.application_master_attempt;
      if (attempt == 0 || attempt == newest) continue;
      for (const auto& [number, place] : source.executors) is_gone[place] = true;
    }
    return is_gone;
  }

  // Executors that are gone count, too: executors released for lack of work return with new work.
  std::uint64_t MostAtOnce() {
    RunningTaskCount at_once = at_once_;
    ByStart([&](const Ended& task) { at_once.Add(std::get<absl::Time>(task.place), task.end); },
            [&](const Begun& task) { at_once.Add(task.start, task.end); });
    return at_once.most();
  }

  // Keeps the contributions of the stages that have ended for later calls.
  void Keep() {
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      StageFacts& facts = stages_[i];
      StageNow& now = seen_.stages[i];
      if (facts.is_kept || !facts.is_settled || !now.are_parents_open) continue;
      facts.is_kept = true;
      AddWait(i, use_);
      facts.begun = {};  // places of this call
      const ExpectedTasks alone =
          ExpectTasksNow({.deviation = cost::kUnknownDeviation}, now, ExpectationConstants());
      if (alone.is_known) now.mean_seconds = alone.Of(Warmth::kRest).mean();
    }
    absl::Time first = absl::InfiniteFuture();  // start of an attempt at a task of another stage
    const std::size_t there = ended_.size();
    for (const Begun& task : begun_) {
      if (!stages_[task.stage].is_kept) {
        first = std::min(first, task.start);
        continue;
      }
      AddTaskUse(task, use_);
      kept_last_end_ = std::max(kept_last_end_, *task.end);
      ended_.push_back({PlaceOf(task), *task.end, task.executor});
      ++stages_[task.stage].ended;
      if (!kept_until_ || *kept_until_ < PlaceOf(task)) kept_until_ = PlaceOf(task);
    }
    std::inplace_merge(ended_.begin(), ended_.begin() + static_cast<std::ptrdiff_t>(there),
                       ended_.end(),
                       [](const Ended& a, const Ended& b) { return a.place < b.place; });
    std::size_t folded = 0;
    for (; folded < ended_.size(); ++folded) {
      const auto& [place, end, executor] = ended_[folded];
      const auto& [start, stage, index] = place;
      if (start >= first) break;
      WarmthIn(slots_, place, executor);
      at_once_.Add(start, end);
      if (--stages_[place_.at(stage)].ended == 0) slots_.Forget(stage);
    }
    ended_.erase(ended_.begin(), ended_.begin() + static_cast<std::ptrdiff_t>(folded));
    if (can_fold_ && kept_until_) {
      first = std::min(first, std::get<absl::Time>(*kept_until_));
      folded_until_ = std::max(folded_until_, SecondsAt(first));
      use_.Fold(folded_until_);
    }
    known_before_ = HashOfEarly();
    kept_share_ = seen_.used_share;
    kept_started_at_ = state_->started_at;
    is_spoilt_ = !seen_.cycle.empty();  // some parents were dropped
  }

  const Purpose purpose_;
  const model::JobRecord* state_ = nullptr;
  absl::Time now_;
  model::BeyondSlots beyond_;
  std::size_t steps_ = 0;
  WorkflowNow seen_;
  std::vector<StageFacts> stages_;
  absl::flat_hash_map<std::uint32_t, std::size_t> place_;
  // Attempts at tasks of kept stages, by start. Attempts that began before every attempt of an open
  // stage are in `slots_` and `at_once_` instead.
  std::vector<Ended> ended_;
  SlotHistory slots_;
  RunningTaskCount at_once_;
  std::optional<Place> kept_until_;  // the last attempt at a task of a stage that is kept
  std::uint64_t known_before_ = 0;   // HashOfEarly() at the end of the last call
  bool is_spoilt_ = false;           // the kept contributions are outdated
  absl::Time kept_last_end_ = absl::InfinitePast();  // of those attempts
  absl::Time kept_started_at_;                       // when the job started, by the last call
  double kept_share_ = 1;                            // of the slots that are in use, likewise
  // Slots and their use by kept stages, which is final up to `folded_until_`.
  schedule::SlotUse use_;
  double folded_until_ = -std::numeric_limits<double>::infinity();
  bool can_fold_ = true;
  struct Added {
    bool has_come = false;
    bool has_gone = false;
  };
  std::vector<Added> added_;  // executors to `use_`
  // Each call sets the rest.
  std::vector<Begun> begun_;
  absl::flat_hash_map<std::string_view, std::size_t> owners_;  // by pool
  std::map<std::string_view, Group> groups_;
  // Groups: when they ended, and their last stage.
  std::vector<std::pair<absl::Time, std::size_t>> ended_groups_;
};

StagesTracker::StagesTracker() : impl_(std::make_unique<Impl>(Purpose::kEstimate)) {}
StagesTracker::StagesTracker(StagesTracker&&) noexcept = default;
StagesTracker& StagesTracker::operator=(StagesTracker&&) noexcept = default;
StagesTracker::~StagesTracker() = default;
WorkflowNow& StagesTracker::At(const model::JobRecord& state, absl::Time now) {
  return impl_->At(state, now);
}
std::size_t StagesTracker::steps() const { return impl_->steps(); }

namespace {

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
  return std::move(StagesTracker::Impl(Purpose::kProfile).At(state, now));
}

schedule::Resourcing ResourcingOf(const WorkflowNow& now) {
  const bool takes_turns = std::any_of(now.stages.begin(), now.stages.end(),
                                       [](const StageNow& stage) { return stage.owner > 0; });
  return {.cluster = {.capacity = {.cores = std::max(now.slots, 1.0)},
                      .policy = takes_turns ? schedule::Policy::kFair : schedule::Policy::kFifo}};
}

RunProfile ProfileOf(const WorkflowNow& now) {
  RunProfile run = {.slots = std::max(now.slots, 1.0), .used_share = now.used_share};
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
  std::size_t ways = 0;
  for (const std::size_t i : *order) {
    std::set<std::size_t> before;
    for (const std::size_t parent : parents[i]) {
      ways += stands_for[parent].size();
      if (ways > kWaysMax) return run;
      before.insert(stands_for[parent].begin(), stands_for[parent].end());
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
                            .tasks = stage.tasks + stage.unreported,
                            .read_bytes = stage.read_bytes *
                                          static_cast<double>(stage.tasks + stage.unreported) /
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
