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
#include "master/facts/evidence_loss.h"
#include "master/facts/phases.h"
#include "master/forecast/dag/slot_history.h"
#include "master/forecast/dag/task_estimate.h"
#include "master/forecast/durations/combined_estimates.h"
#include "master/forecast/durations/task_times.h"
#include "master/forecast/placement/dag.h"
#include "master/forecast/placement/slot_use.h"

namespace tidemark::dag {
namespace {

// A new stage waits for at most this many of the groups and stages that ended last. Drivers of
// TPC-DS run at most this many jobs concurrently.
constexpr std::size_t kWaitedForMax = 8;
// Limits the cost of untrusted plans. Plans with more stages get no forecast.
constexpr std::size_t kPlannedMax = 10'001;

double SecondsBetween(absl::Time from, absl::Time to) {
  return std::max(absl::ToDoubleSeconds(to - from), 0.0);
}

// Cost of a task of an open stage, which is sorted, placed and compared with other tasks. It is
// about 5 us, measured in replays of 100,000 tasks.
constexpr std::size_t kStepsOfTask = 4;

// One started attempt at a task.
struct StartedAttempt {
  std::size_t stage = 0;
  std::uint32_t index = 0;
  std::uint32_t attempt = 0;
  std::uint32_t stage_attempt = 0;
  absl::Time start;
  std::optional<absl::Time> end;
  std::optional<std::size_t> executor;
  bool counts = false;  // whether the attempt represents its task
  bool is_finished = false;
  bool is_unreported = false;      // whether the attempt ended at an unknown time
  std::optional<double> fraction;  // processed share of its input, while it runs
  bool has_read_all = false;       // whether its last report covered all of its input
  std::optional<double> read_for;  // seconds until the last report of progress
  std::uint64_t read_bytes = 0;
  std::uint64_t emitted_bytes = 0;
  double cpu_seconds = 0;
  double fetch_seconds = 0;
  Warmth warmth = Warmth::kRest;
};

// Orders attempts by their starts.
using Place = std::tuple<absl::Time, std::uint32_t, std::uint32_t>;  // start, stage, index

// One attempt at a task of an ended stage.
struct EndedAttempt {
  Place place;
  absl::Time end;
  std::optional<std::size_t> executor;
};

// Returns true for the two stages of MapReduce. An engine with groups may open other stages of
// these kinds.
bool IsOfMapReduce(const facts::Stage& stage) {
  return (stage.is_map() || stage.is_reduce()) && stage.opened.group.empty();
}

enum class Purpose {
  kProfile,  // a profile of the run, in which each stage has all its parents
  // an estimate of the remaining work, in which an ended stage waits only for its parents
  kEstimate,
};

}  // namespace

// Keeps the results for ended stages between calls. An event about such a stage invalidates them. A
// late report about another stage also does if it belongs to an attempt that started before one of
// the kept attempts. The next call then recomputes everything.
class StagesTracker::Impl {
 public:
  explicit Impl(Purpose purpose) : purpose_(purpose) {}

  WorkflowNow& At(const facts::JobRecord& state, absl::Time now) {
    state_ = &state;
    now_ = now;
    beyond_ = facts::FindBeyondSlots(state, now);
    steps_ = 0;
    if (std::exchange(is_outdated_, false) || !Compute()) {
      Reset();
      Compute();  // The kept results may be outdated.
    }
    return result_;
  }
  std::size_t steps() const { return steps_; }

 private:
  struct StageFacts {
    const facts::Stage* stage = nullptr;
    std::uint32_t number = 0;
    std::uint64_t revision = 0;        // revision of the stage at the last visit
    std::vector<std::size_t> started;  // attempts that count, in order of their starts
    bool has_started = false;
    absl::Time last_end = absl::InfinitePast();
    bool is_done = false;
    bool is_settled = false;  // true if the stage and all attempts at its tasks have ended
    bool is_kept = false;     // true if its results are from an earlier call
    std::size_t ended = 0;    // number of its attempts in `ended_`
    std::size_t writer = 0;   // stage that wrote its output, which is another one if it is skipped
    // The earliest and the latest first start of a task of the stage. `started_tasks` counts the
    // started tasks of the newest attempt at the stage.
    absl::Time first_start = absl::InfiniteFuture();
    absl::Time last_start = absl::InfinitePast();
    std::uint64_t started_tasks = 0;
    // At the start of its first task, the time since which nothing else had run; infinite if
    // another stage was running.
    absl::Time free_since = absl::InfiniteFuture();
  };
  struct Group {
    absl::Time announced = absl::InfiniteFuture();
    absl::Time end = absl::InfinitePast();
    bool is_done = true;
    std::optional<std::size_t> last;  // last started stage
    std::string_view kind;            // Name of the final stage, which identifies the group's work.
    // ended stages of the group: (end, index)
    std::vector<std::pair<absl::Time, std::size_t>> ended;
  };

  void Reset() {
    result_ = {};
    stages_.clear();
    place_.clear();
    ended_.clear();
    kept_until_.reset();
    known_before_ = 0;
    slots_ = SlotHistory();
    at_once_ = RunningTaskCount();
    use_ = placement::SlotUse();
    added_.clear();
    folded_until_ = -std::numeric_limits<double>::infinity();
    kept_last_end_ = absl::InfinitePast();
  }

  // Computes the stages. Returns false if the kept results are outdated.
  bool Compute() {
    if (kept_until_ && kept_started_at_ != state_->started_at) return false;
    result_ = {.stages = std::move(result_.stages),
               .elapsed = SecondsBetween(state_->started_at, now_),
               .may_grow = state_->has_late_stages};
    started_.clear();
    groups_.clear();
    ended_groups_.clear();
    owners_.clear();
    if (!AddStages()) return false;
    std::sort(started_.begin(), started_.end(),
              [&](const StartedAttempt& a, const StartedAttempt& b) {
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
    FindInputs();
    FindIdle();
    if (result_.may_grow) FindWorked();
    FindPlanned();
    if (purpose_ == Purpose::kEstimate) Keep();
    return true;
  }

  // Returns false if a kept stage has changed, or if a new stage precedes a known one.
  bool AddStages() {
    result_.stages.resize(
        std::min(result_.stages.size(), stages_.size()));  // removes expected stages
    std::size_t i = 0;
    for (const auto& [number, stage] : state_->stages) {
      ++steps_;
      if (i == stages_.size()) {
        place_[number] = i;
        stages_.emplace_back();
        result_.stages.emplace_back();
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
      StageNow& now = result_.stages[i];
      now.owner = owners_.try_emplace(stage.opened.pool, owners_.size()).first->second;
      now.adjusted_deviation = 0;
      ++i;
    }
    return true;
  }

  void Add(std::size_t index, std::uint32_t number, const facts::Stage& stage) {
    const StageOpened& opened = stage.opened;
    StageFacts& facts =
        stages_[index] = {.stage = &stage, .number = number, .revision = stage.revision};
    StageNow& now = result_.stages[index] = {};
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
    now.unreported = facts::UnreportedTasks(stage);
    const double records_per_byte = stage.closed ? 0 : stage.RecordsPerByte();
    facts.is_settled = stage.closed.has_value();
    std::uint64_t older = 0;  // tasks of earlier attempts at the stage
    for (const facts::Task& task : stage.tasks) {
      older += AddTask(index, task, stage, records_per_byte);
    }
    if (!stage.closed) {
      const std::uint64_t given_up = facts::TallyOf(stage).given_up_tasks;
      const std::uint64_t count = opened.task_count.value_or(0);
      now.tasks = std::max<std::uint64_t>(now.tasks, older + count - std::min(count, given_up));
    }
    steps_ += kStepsOfTask * stage.tasks.size() + opened.parents.size();
  }

  // Adds the attempts at one task, grouped by attempt at the stage. Returns the number of earlier
  // attempts at the stage in which the task counts.
  std::uint64_t AddTask(std::size_t index, const facts::Task& task, const facts::Stage& stage,
                        double records_per_byte) {
    std::uint64_t older = 0;
    const auto& attempts = task.attempts;
    for (auto first = attempts.begin(); first != attempts.end();) {
      const std::uint32_t stage_attempt = first->first.first;
      std::optional<std::size_t> counts;
      absl::Time start = absl::InfiniteFuture();
      for (; first != attempts.end() && first->first.first == stage_attempt; ++first) {
        const facts::TaskAttempt& attempt = first->second;
        if (!attempt.life.started_at() && !attempt.life.ended_at()) continue;
        std::optional<absl::Time> ended_at = attempt.life.ended_at();
        // An attempt ends with its executor, even if its end is not reported.
        if (attempt.life.is_running() && attempt.executor) {
          ended_at = state_->executors[*attempt.executor].closed_at;
        }
        const absl::Time end = ended_at.value_or(now_);
        StartedAttempt& started = started_.emplace_back();
        started.stage = index;
        started.index = task.index;
        started.attempt = first->first.second;
        started.stage_attempt = stage_attempt;
        started.start = std::min(attempt.life.started_at().value_or(end), end);
        // A running attempt cannot have started before its job, whatever its clock reports.
        if (!ended_at) started.start = std::max(started.start, OpenedAt());
        started.end = ended_at;
        start = std::min(start, started.start);
        stages_[index].is_settled &= started.end.has_value();
        // In MapReduce, slots belong to stages and not to executors.
        if (!IsOfMapReduce(stage)) started.executor = attempt.executor;
        started.is_finished = attempt.life.is_finished();
        started.read_bytes = attempt.bytes_done;
        started.emitted_bytes = attempt.bytes_emitted;
        started.cpu_seconds = absl::ToDoubleSeconds(attempt.cpu);
        started.fetch_seconds = absl::ToDoubleSeconds(attempt.network_wait);
        // The last report may be late or lost.
        if (started.is_finished) {
          started.read_bytes = std::max(started.read_bytes, attempt.life.input_bytes.value_or(0));
        }
        // Attempts that outlive their stage do not count.
        const bool runs =
            attempt.life.is_running() && !ended_at && !beyond_.ended.contains(&attempt);
        started.is_unreported = !runs && !ended_at;
        if (!started.is_finished && (!runs || stage.closed)) continue;
        if (!started.is_finished) {
          started.fraction = stage.FractionDone(task, attempt, records_per_byte);
        }
        const std::uint64_t input =
            attempt.life.input_bytes.value_or(stage.input_bytes(task).value_or(0));
        started.has_read_all = input > 0 && attempt.bytes_done >= input;
        if (attempt.progressed_at != absl::InfinitePast()) {
          started.read_for = SecondsBetween(started.start, std::min(attempt.progressed_at, end));
        }
        if (!counts || Leads(started, started_[*counts])) counts = started_.size() - 1;
      }
      const bool is_newest = stage_attempt >= stage.opened.attempt;
      if (start != absl::InfiniteFuture()) {
        StageFacts& facts = stages_[index];
        facts.first_start = std::min(facts.first_start, start);
        facts.last_start = std::max(facts.last_start, start);
        facts.started_tasks += is_newest ? 1 : 0;
      }
      if (!counts) continue;  // The task must start again.
      started_[*counts].counts = true;
      result_.stages[index].tasks += 1;
      if (!is_newest) ++older;
    }
    return older;
  }

  Place PlaceOf(const StartedAttempt& task) const {
    return {task.start, stages_[task.stage].number, task.index};
  }

  // Returns a hash of the attempts at tasks of open stages that started before the last attempt of
  // a kept stage. A late report about an attempt changes the hash.
  std::uint64_t HashOfEarly() const {
    std::uint64_t hash = 0;
    for (const StartedAttempt& task : started_) {
      if (!kept_until_ || PlaceOf(task) > *kept_until_) break;
      if (!stages_[task.stage].is_kept) {
        hash += absl::HashOf(PlaceOf(task), task.attempt, task.stage_attempt, task.executor);
      }
    }
    return hash;
  }

  absl::Time OpenedAt() const { return std::min(state_->started_at, now_); }

  // Returns true if `a` determines the end of the task rather than `b`. That is the attempt that
  // finishes first or, if none has finished, the attempt that started first.
  static bool Leads(const StartedAttempt& a, const StartedAttempt& b) {
    if (a.is_finished != b.is_finished) return a.is_finished;
    return a.is_finished ? *a.end < *b.end : a.start < b.start;
  }

  // Returns the warmth of the slot of a task that starts now.
  Warmth WarmthIn(SlotHistory& slots, const Place& place,
                  const std::optional<std::size_t>& executor) const {
    if (!executor) return Warmth::kRest;
    const std::uint64_t on_executor = SlotsOf(state_->executors[*executor]);
    if (on_executor == 0) return Warmth::kRest;
    return slots.Start(*executor, on_executor, std::get<1>(place));
  }

  // Calls `see_ended` for each attempt in `ended_` and `see_started` for each attempt in
  // `started_`, in the order of their starts.
  template <typename SeeEnded, typename SeeStarted>
  void ByStart(SeeEnded see_ended, SeeStarted see_started) {
    auto ended = ended_.begin();
    for (StartedAttempt& task : started_) {
      for (const Place place = PlaceOf(task); ended != ended_.end() && ended->place < place;) {
        see_ended(*ended++);
      }
      see_started(task);
    }
    std::for_each(ended, ended_.end(), see_ended);
  }

  void FindWarmth() {
    SlotHistory slots(&slots_);
    std::uint64_t running = 0;
    ByStart(
        [&](const EndedAttempt& task) { WarmthIn(slots, task.place, task.executor); },
        [&](StartedAttempt& task) {
          running += task.end ? 0 : 1;
          task.warmth = WarmthIn(slots, PlaceOf(task), task.executor);
          if (!task.counts) return;
          stages_[task.stage].started.push_back(static_cast<std::size_t>(&task - started_.data()));
          stages_[task.stage].has_started = true;
        });
    steps_ += ended_.size();
    const std::uint64_t fresh = slots.fresh_tasks();
    result_.warm_slots = fresh > running ? fresh - running : 0;
    for (std::size_t i = 0; i < stages_.size(); ++i) MarkLastWave(i);
  }

  // Marks the tasks of the last wave. A task is in the last wave if fewer tasks of the stage start
  // after it than run at the same time.
  void MarkLastWave(std::size_t index) {
    const std::vector<std::size_t>& started = stages_[index].started;
    std::priority_queue<absl::Time, std::vector<absl::Time>, std::greater<>> ends;
    for (std::size_t i = 0; i < started.size(); ++i) {
      StartedAttempt& task = started_[started[i]];
      while (!ends.empty() && ends.top() <= task.start) ends.pop();
      const std::size_t after = result_.stages[index].tasks - i - 1;
      if (task.warmth == Warmth::kRest && after < ends.size()) task.warmth = Warmth::kLast;
      ends.push(task.end.value_or(absl::InfiniteFuture()));
    }
  }

  void FillIn() {
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      StageNow& now = result_.stages[i];
      StageFacts& facts = stages_[i];
      if (facts.is_kept) continue;
      const std::span<const std::uint64_t> sizes = SizesOf(facts.stage->opened);
      const auto size_of = [&](const StartedAttempt& task) {
        return task.index < sizes.size() ? static_cast<double>(sizes[task.index]) : 0;
      };
      for (const std::size_t place : facts.started) {
        const StartedAttempt& task = started_[place];
        if (task.is_finished) {
          now.read_bytes += static_cast<double>(task.read_bytes);
          now.emitted_bytes += static_cast<double>(task.emitted_bytes);
          now.cpu_seconds += task.cpu_seconds;
          now.fetch_seconds += task.fetch_seconds;
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
        // The end of the stage's last task is unknown.
        facts.is_done &= now.unreported == 0 && !facts.started.empty();
      } else if (now.unreported > 0) {
        facts.last_end = std::max(facts.last_end, closed->at.value_or(facts.last_end));
      }
      if (!facts.is_done) FindPendingSizes(sizes, facts, now);
    }
  }

  // Returns the input sizes by task, or an empty span unless all are known.
  static std::span<const std::uint64_t> SizesOf(const StageOpened& opened) {
    for (const std::vector<std::uint64_t>* sizes : {&opened.task_bytes, &opened.task_records}) {
      if (!sizes->empty() && sizes->size() == opened.task_count) return *sizes;
    }
    return {};
  }

  void FindPendingSizes(std::span<const std::uint64_t> sizes, const StageFacts& facts,
                        StageNow& now) const {
    std::vector<bool> has_started(sizes.size());
    for (const std::size_t place : facts.started) {
      const std::uint32_t index = started_[place].index;
      if (index < sizes.size()) has_started[index] = true;
    }
    for (const facts::Task& task : facts.stage->tasks) {
      if (task.is_given_up() && task.index < sizes.size()) has_started[task.index] = true;
    }
    for (std::size_t index = 0; index < sizes.size(); ++index) {
      if (!has_started[index]) now.pending_sizes.push_back(static_cast<double>(sizes[index]));
    }
  }

  void FindGroups() {
    std::map<absl::Time, std::string_view> kinds;  // names of ungrouped stages
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
      if (facts.has_started) group.last = i;
      if (facts.has_started && facts.is_done) group.ended.emplace_back(facts.last_end, i);
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
      result_.submissions.is_newest_repeated = !known.insert(kind).second;
    }
    result_.submissions.count = kinds.size();
    result_.submissions.kinds = known.size();
  }

  void FindParents(std::size_t index) {
    const StageOpened& opened = stages_[index].stage->opened;
    StageNow& now = result_.stages[index];
    for (const std::uint32_t number : opened.parents) {
      const auto parent = place_.find(number);
      if (parent != place_.end() && parent->second != index) now.parents.push_back(parent->second);
    }
    now.are_parents_open = now.parents.size() == opened.parents.size();
    // The driver submits a job, of the same group or another, after other jobs have ended.
    if (opened.parents.empty() && !opened.group.empty() && !WaitsForNothing(index)) {
      const Group& group = groups_[opened.group];
      WaitFor(ended_groups_, group.announced, index, now);
      WaitFor(group.ended, stages_[index].stage->announced_at, index, now);
    }
    // A skipped stage is complete when the stages that it would have waited for are complete.
    const bool is_skipped = stages_[index].stage->is_skipped();
    for (const std::size_t parent : now.parents) {
      if (!is_skipped) break;
      stages_[index].last_end = std::max(stages_[index].last_end, stages_[parent].last_end);
    }
  }

  bool WaitsForNothing(std::size_t index) const {
    return purpose_ == Purpose::kEstimate && stages_[index].is_settled;
  }

  // Adds those stages of `ended` that had ended by `appeared` as parents.
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
      if (stages_[i].has_started) by_start.push_back(i);
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
    return started_[stages_[index].started.front()].start;
  }

  void FindLag(std::size_t index) {
    StageNow& now = result_.stages[index];
    const StageFacts& facts = stages_[index];
    FindDoneSince(index);
    if (WaitsForNothing(index)) return;
    absl::Time ready = state_->started_at;
    for (const std::size_t parent : now.parents) {
      if (!stages_[parent].is_done) return;
      ready = std::max(ready, stages_[parent].last_end);
    }
    if (const auto& opened_at = facts.stage->opened.opened_at) {
      // The first task may have waited for a slot, unless all slots were free.
      const bool has_waited = !facts.has_started || facts.free_since > *opened_at;
      now.lag = SecondsBetween(ready, has_waited ? *opened_at : FirstStart(index));
    }
    if (!facts.has_started) now.waited = SecondsBetween(ready, now_);
  }

  void FindDoneSince(std::size_t index) {
    const StageFacts& facts = stages_[index];
    if (!facts.is_done) return;
    result_.stages[index].done_since =
        SecondsBetween(std::max(facts.last_end, state_->started_at), now_);
  }

  bool WaitsForLater(std::size_t index) const {
    const std::vector<std::size_t>& parents = result_.stages[index].parents;
    return std::any_of(parents.begin(), parents.end(),
                       [&](std::size_t parent) { return parent > index; });
  }

  // If stages wait for each other, removes parents with higher numbers.
  void BreakCycles() {
    bool may_be_cycle = false;
    for (std::size_t i = 0; i < stages_.size(); ++i) may_be_cycle |= WaitsForLater(i);
    if (!may_be_cycle) return;
    placement::Parents parents;
    for (const StageNow& stage : result_.stages) parents.push_back(stage.parents);
    for (const std::size_t stage : placement::CycleOf(parents)) {
      result_.cycle.push_back(result_.stages[stage].number);
    }
    if (result_.cycle.empty()) return;
    for (std::size_t i = 0; i < parents.size(); ++i) {
      std::erase_if(result_.stages[i].parents, [&](std::size_t parent) { return parent > i; });
    }
  }

  // Finds the input of the stages before their tasks read it.
  void FindInputs() {
    absl::flat_hash_map<std::uint64_t, std::size_t> newest;  // newest ended stage of each work
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      StageNow& now = result_.stages[i];
      stages_[i].writer = i;
      if (stages_[i].stage->is_skipped()) {
        const auto writer = newest.find(now.work);
        if (now.work != 0 && writer != newest.end()) stages_[i].writer = writer->second;
      } else if (stages_[i].is_done) {
        newest[now.work] = i;
      } else {
        now.input_bytes = InputOf(i);
      }
    }
  }

  double InputOf(std::size_t index) const {
    const StageOpened& opened = stages_[index].stage->opened;
    double bytes = 0;
    if (!opened.task_bytes.empty() && opened.task_bytes.size() == opened.task_count) {
      for (const std::uint64_t size : opened.task_bytes) bytes += static_cast<double>(size);
      return bytes;
    }
    if (!result_.stages[index].fetches) return 0;
    for (const std::size_t parent : result_.stages[index].parents) {
      const double output = OutputOf(parent);
      if (!(output > 0)) return 0;
      bytes += output;
    }
    return bytes;
  }

  // Returns the output of all tasks of a stage, or 0 if it is unknown.
  double OutputOf(std::size_t index) const {
    const StageNow& writer = result_.stages[stages_[index].writer];
    if (writer.finished.empty()) return 0;
    return writer.emitted_bytes * static_cast<double>(writer.tasks) /
           static_cast<double>(writer.finished.size());
  }

  // Finds the number of tasks that can run at once. Reported slots are an upper limit. If the end
  // of a task is reported after the next start on its slot, more tasks seem to run for a moment. If
  // tasks wait while slots are idle, the number is lower. Returns false if the kept stages are
  // outdated.
  bool FindSlots() {
    steps_ += state_->executors.size();
    const std::vector<bool> is_gone = GoneExecutors();
    std::uint64_t reported = 0;
    std::uint64_t executors = 0;  // number of executors with slots
    for (std::size_t i = 0; i < is_gone.size(); ++i) {
      if (is_gone[i]) continue;
      reported += state_->executors[i].opened.slots;
      executors += state_->executors[i].opened.slots > 0 ? 1 : 0;
      ++result_.executors;
    }
    result_.gone_executors = is_gone.size() - result_.executors;
    use_.SetStages(stages_.size());
    if (!AddExecutors(is_gone)) return false;
    placement::SlotUse use = use_;
    can_fold_ = true;
    if (executors == 0) {
      use.DropSlots();
      for (const StageFacts& facts : stages_) {
        reported = std::max<std::uint64_t>(reported, facts.stage->opened.slots.value_or(0));
      }
      // Stages may report more slots later.
      can_fold_ = reported == 0;
      if (reported > 0 && folded_until_ > -std::numeric_limits<double>::infinity()) return false;
      if (reported > 0) use.AddSlots(-placement::kForever, static_cast<double>(reported));
    }
    result_.are_slots_reported = reported > 0;
    result_.slots = static_cast<double>(reported > 0 ? reported : MostAtOnce());
    AddUse(use);
    const placement::SlotUse::Found found = use.Find(SecondsAt(now_), result_.slots);
    if (reported > 0) result_.used_share = found.slots / result_.slots;
    result_.slots = found.slots;
    if (executors > 0) result_.slots_per_executor = result_.slots / static_cast<double>(executors);
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      std::uint64_t& most = result_.stages[i].at_once_max;
      if (!stages_[i].stage->closed) most = std::min(most, found.at_once_max[i]);
    }
    // The warmth of slots depends on their number.
    return !kept_until_ || result_.used_share == kept_share_;
  }

  // Adds the slots of executors that have been opened or closed since the last call. Returns
  // false if the aggregated slot use is outdated.
  bool AddExecutors(const std::vector<bool>& is_gone) {
    added_.resize(is_gone.size());
    for (std::size_t i = 0; i < is_gone.size(); ++i) {
      const facts::Executor& executor = state_->executors[i];
      const auto slots = static_cast<double>(executor.opened.slots);
      // It is unknown when an executor of a replaced driver ended.
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

  // Adds the tasks and waits of open stages. The uses of kept stages are already in `use_`.
  void AddUse(placement::SlotUse& use) const {
    for (const StartedAttempt& task : started_) AddTaskUse(task, use);
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      if (!stages_[i].is_kept) AddWait(i, use);
    }
  }

  void AddTaskUse(const StartedAttempt& task, placement::SlotUse& use) const {
    const facts::Stage& stage = *stages_[task.stage].stage;
    if (IsOfMapReduce(stage) || task.is_unreported) return;
    std::optional<absl::Time> end = task.end;
    if (!end && stage.closed) end = stage.closed->at;
    use.AddTask(static_cast<std::uint32_t>(task.stage), SecondsAt(task.start),
                end ? SecondsAt(*end) : std::numeric_limits<double>::infinity());
  }

  void AddWait(std::size_t index, placement::SlotUse& use) const {
    const StageFacts& facts = stages_[index];
    if (facts.first_start == absl::InfiniteFuture() || IsOfMapReduce(*facts.stage)) return;
    const bool waits =
        !facts.stage->closed && facts.stage->opened.task_count.value_or(0) > facts.started_tasks;
    use.AddWait(static_cast<std::uint32_t>(index), SecondsAt(facts.first_start),
                SecondsAt(waits ? now_ : facts.last_start));
  }

  double SecondsAt(absl::Time time) const {
    return absl::ToDoubleSeconds(time - state_->started_at);
  }

  // Returns the number of tasks that the executor can run at once.
  std::uint64_t SlotsOf(const facts::Executor& executor) const {
    const double used = std::round(result_.used_share * executor.opened.slots);
    return executor.opened.slots > 0 ? static_cast<std::uint64_t>(std::max(used, 1.0)) : 0;
  }

  // Finds the stages whose tasks wait only for a slot while no task of the job runs.
  void FindIdle() {
    absl::Time idle_since = std::max(state_->started_at, kept_last_end_);
    for (const StageNow& stage : result_.stages) {
      if (!stage.running.empty()) return;
    }
    for (const StartedAttempt& task : started_) {
      idle_since = std::max(idle_since, task.end.value_or(task.start));
    }
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      StageNow& stage = result_.stages[i];
      const facts::Stage& facts = *stages_[i].stage;
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
      result_.idle_tasks += stage.tasks - stage.finished.size();
      stage.idle_for = SecondsBetween(std::max(idle_since, of_stage), now_);
    }
  }

  // Computes for how long at least one stage was in progress.
  void FindWorked() {
    std::vector<std::pair<absl::Time, absl::Time>> spans;
    for (const StageFacts& facts : stages_) {
      if (facts.first_start == absl::InfiniteFuture()) continue;
      const bool has_ended = facts.is_done || facts.stage->closed;
      spans.emplace_back(facts.first_start, has_ended ? facts.last_end : now_);
    }
    std::sort(spans.begin(), spans.end());
    absl::Time until = state_->started_at;
    for (const auto& [start, end] : spans) {
      result_.worked += SecondsBetween(std::max(start, until), std::max(end, until));
      until = std::max(until, end);
    }
  }

  // Adds planned stages of each open group that do not exist yet. They run sequentially, and the
  // first waits for all existing stages.
  void FindPlanned() {
    absl::flat_hash_map<std::string_view, std::vector<std::size_t>> of_group;
    for (const auto& [name, group] : state_->groups) {
      if (!group.closed && !group.opened.planned_task_counts.empty()) of_group[name];
    }
    for (std::size_t i = 0; i < stages_.size() && !of_group.empty(); ++i) {
      const facts::Stage& stage = *stages_[i].stage;
      const auto group = of_group.find(stage.opened.group);
      if (group != of_group.end() && !stage.is_skipped()) group->second.push_back(i);
    }
    steps_ += state_->groups.size();
    std::vector<bool> is_read(stages_.size());  // whether a stage reads the output
    for (std::size_t i = 0; i < stages_.size() && !of_group.empty(); ++i) {
      if (stages_[i].stage->is_skipped()) continue;
      for (const std::size_t parent : result_.stages[i].parents) {
        is_read[stages_[parent].writer] = true;
      }
    }
    std::uint32_t first = kExpectedStages;  // number of the first planned stage
    for (const auto& [name, group] : state_->groups) {
      const std::uint32_t number = first;
      first += static_cast<std::uint32_t>(group.opened.planned_task_counts.size());
      const auto of_name = of_group.find(name);
      if (of_name == of_group.end()) continue;
      const std::vector<std::size_t>& there = of_name->second;
      std::uint64_t tasks = static_cast<std::uint64_t>(std::max(result_.slots, 1.0));
      double unread = 0;     // output that the next stage reads; 0 if unknown
      bool is_known = true;  // whether tasks of all stages that it reads have finished
      for (const std::size_t i : there) {
        tasks = std::max(tasks, result_.stages[i].tasks);
        if (is_read[i]) continue;
        is_known = is_known && !result_.stages[stages_[i].writer].finished.empty();
        unread += OutputOf(i);
      }
      if (!is_known) unread = 0;
      std::vector<std::size_t> before = there;
      const std::vector<std::uint32_t>& counts = group.opened.planned_task_counts;
      for (std::size_t n = there.size(); n < counts.size(); ++n) {
        if (result_.planned.size() == kPlannedMax) return;
        result_.planned.push_back(
            {.number = number + static_cast<std::uint32_t>(n),
             .group = name,
             .tasks = counts[n] > 0 ? counts[n] : tasks,
             .parents = std::exchange(before, {stages_.size() + result_.planned.size()}),
             .owner = there.empty() ? 0 : result_.stages[there.back()].owner,
             .input_bytes = std::exchange(unread, 0)});
      }
    }
  }

  // For each executor, returns true if it was closed, or if it belongs to a driver that a later
  // attempt of the application master has replaced.
  std::vector<bool> GoneExecutors() const {
    std::vector<bool> is_gone;
    for (const facts::Executor& executor : state_->executors) {
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

  // Returns the largest number of concurrent tasks. Closed executors count, since an engine that
  // releases idle executors regains them for new work.
  std::uint64_t MostAtOnce() {
    RunningTaskCount at_once = at_once_;
    ByStart(
        [&](const EndedAttempt& task) { at_once.Add(std::get<absl::Time>(task.place), task.end); },
        [&](const StartedAttempt& task) { at_once.Add(task.start, task.end); });
    return at_once.most();
  }

  // Keeps the results for ended stages for later calls.
  void Keep() {
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      StageFacts& facts = stages_[i];
      StageNow& now = result_.stages[i];
      if (facts.is_kept || !facts.is_settled || !now.are_parents_open) continue;
      facts.is_kept = true;
      AddWait(i, use_);
      facts.started = {};  // The indexes are valid in this call only.
      const TaskEstimate alone =
          EstimateTasksNow({.deviation = durations::kUnknownDeviation}, now, EstimateConstants());
      if (alone.is_known) now.mean_seconds = alone.Of(Warmth::kRest).mean();
    }
    absl::Time first = absl::InfiniteFuture();  // first start of an attempt of another stage
    const std::size_t there = ended_.size();
    for (const StartedAttempt& task : started_) {
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
    std::inplace_merge(
        ended_.begin(), ended_.begin() + static_cast<std::ptrdiff_t>(there), ended_.end(),
        [](const EndedAttempt& a, const EndedAttempt& b) { return a.place < b.place; });
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
    kept_share_ = result_.used_share;
    kept_started_at_ = state_->started_at;
    is_outdated_ = !result_.cycle.empty();  // Some parents were removed.
  }

  const Purpose purpose_;
  const facts::JobRecord* state_ = nullptr;
  absl::Time now_;
  facts::BeyondSlots beyond_;
  std::size_t steps_ = 0;
  WorkflowNow result_;
  std::vector<StageFacts> stages_;
  absl::flat_hash_map<std::uint32_t, std::size_t> place_;
  // Attempts at tasks of kept stages, by start. Attempts that started before every attempt of an
  // open stage are aggregated in `slots_` and `at_once_` instead.
  std::vector<EndedAttempt> ended_;
  SlotHistory slots_;
  RunningTaskCount at_once_;
  std::optional<Place> kept_until_;                  // last attempt at a task of a kept stage
  std::uint64_t known_before_ = 0;                   // HashOfEarly() at the end of the last call
  bool is_outdated_ = false;                         // whether the kept results are outdated
  absl::Time kept_last_end_ = absl::InfinitePast();  // end of the last kept attempt
  absl::Time kept_started_at_;                       // start of the job at the last call
  double kept_share_ = 1;                            // used share of the slots at the last call
  // Slots and their use by kept stages, final until `folded_until_`.
  placement::SlotUse use_;
  double folded_until_ = -std::numeric_limits<double>::infinity();
  bool can_fold_ = true;
  struct Added {
    bool has_come = false;
    bool has_gone = false;
  };
  std::vector<Added> added_;  // executors in `use_`
  // The following fields are set by each call.
  std::vector<StartedAttempt> started_;
  absl::flat_hash_map<std::string_view, std::size_t> owners_;  // by pool
  std::map<std::string_view, Group> groups_;
  // Ended groups, each with its end and its last stage.
  std::vector<std::pair<absl::Time, std::size_t>> ended_groups_;
};

StagesTracker::StagesTracker() : impl_(std::make_unique<Impl>(Purpose::kEstimate)) {}
StagesTracker::StagesTracker(StagesTracker&&) noexcept = default;
StagesTracker& StagesTracker::operator=(StagesTracker&&) noexcept = default;
StagesTracker::~StagesTracker() = default;
WorkflowNow& StagesTracker::At(const facts::JobRecord& state, absl::Time now) {
  return impl_->At(state, now);
}
std::size_t StagesTracker::steps() const { return impl_->steps(); }

bool HasOtherStages(const facts::JobRecord& state) {
  return std::any_of(state.stages.begin(), state.stages.end(), [](const auto& entry) {
    const facts::Stage& stage = entry.second;
    if (IsOfMapReduce(stage)) return false;
    return stage.opened.task_count.value_or(0) > 0 || !stage.tasks.empty();
  });
}

WorkflowNow StagesNow(const facts::JobRecord& state, absl::Time now) {
  return std::move(StagesTracker::Impl(Purpose::kProfile).At(state, now));
}

}  // namespace tidemark::dag
