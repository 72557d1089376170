#include "bench/workflow/spark_log.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "spark/log_reader.h"

namespace tidemark::bench {
namespace {

// The runs of one application, built from the events of its driver.
class Runs {
 public:
  void Take(const Event& event) {
    std::visit([&](const auto& body) { Take(event, body); }, event.body);
  }

  Trace Build(std::uint64_t slots_max) {
    for (const auto& [number, run] : stages_) begin_ = std::min(begin_, run.told_at);
    Trace trace = {.slots = std::max(static_cast<double>(slots_max), 1.0)};
    for (const auto& [at, slots] : executors_) {
      trace.executors.push_back({std::max(Seconds(at), 0.0), slots});
    }
    for (auto& [at, body] : groups_) {
      trace.groups.emplace_back(std::max(Seconds(at), 0.0), std::move(body));
    }
    for (const auto& [number, run] : stages_) {
      if (run.tasks.empty()) continue;
      place_[number] = trace.stages.size();
      trace.stages.push_back(Build(run));
    }
    Finish(trace);
    return trace;
  }

  bool has_job() const { return !stages_.empty(); }

 private:
  struct Task {
    absl::Time start;
    std::optional<absl::Time> end;
    std::optional<std::uint32_t> executor;
    std::uint64_t read_bytes = 0;
    std::uint64_t emitted_bytes = 0;
  };
  struct Run {
    StageOpened opened;  // the first description
    absl::Time told_at;
    std::optional<absl::Time> submitted_at;  // the latest submission
    std::vector<Task> tasks;                 // tasks of all attempts, in the order of their ends
  };

  template <typename Body>
  void Take(const Event&, const Body&) {}

  void Take(const Event& event, const ExecutorOpened& executor) {
    executors_.emplace_back(event.arrived_at, std::max(executor.slots, 1u));
  }

  void Take(const Event& event, const StageOpened& stage) {
    Run& run = stages_.try_emplace(stage.stage, Run{.opened = stage, .told_at = event.arrived_at})
                   .first->second;
    if (stage.opened_at) run.submitted_at = stage.opened_at;
  }

  void Take(const Event& event, const GroupOpened& group) {
    groups_.emplace_back(event.arrived_at, group);
  }
  void Take(const Event& event, const GroupClosed& group) {
    groups_.emplace_back(event.arrived_at, group);
  }

  void Take(const Event&, const TaskHeartbeat& totals) {
    const auto task = running_.find(KeyOf(totals.attempt));
    if (task == running_.end()) return;
    task->second.read_bytes = totals.bytes_done;
    task->second.emitted_bytes = totals.bytes_emitted;
  }

  void Take(const Event&, const AttemptChanged& changed) {
    const AttemptId& id = changed.attempt;
    const auto key = KeyOf(id);
    if (changed.state == AttemptState::kStarted) {
      running_[key] = {.start = *changed.at, .end = {}, .executor = changed.executor};
      return;
    }
    const auto task = running_.find(key);
    if (task == running_.end()) return;  // This is an obsolete attempt.
    task->second.end = changed.at;
    if (*changed.at >= task->second.start) stages_[id.stage].tasks.push_back(task->second);
    running_.erase(task);
  }

  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
  static Key KeyOf(const AttemptId& id) {
    return {id.stage, id.stage_attempt, id.index, id.attempt};
  }

  double Seconds(absl::Time at) const {
    return static_cast<double>(absl::ToInt64Milliseconds(at - begin_)) * 1e-3;
  }

  TraceStage Build(const Run& run) {
    const StageOpened& opened = run.opened;
    // The signature identifies the stage. Without a signature, the name and number of tasks do.
    TraceStage built = {.name = opened.signature.empty()
                                    ? absl::StrCat(opened.name, " of ", *opened.task_count)
                                    : opened.signature,
                        .title = opened.name,
                        .group = run.opened.group,
                        .work = run.opened.work,
                        .visible_at = Seconds(run.told_at),
                        .submitted_at = Seconds(run.submitted_at.value_or(run.told_at))};
    for (const std::uint32_t parent : run.opened.parents) AddParent(parent, built);
    for (const Task& task : run.tasks) {
      built.tasks.push_back({.start = Seconds(task.start),
                             .end = Seconds(*task.end),
                             .executor = task.executor,
                             .read_bytes = task.read_bytes,
                             .emitted_bytes = task.emitted_bytes});
    }
    return built;
  }

  // A parent without tasks is replaced by its own parents.
  void AddParent(std::uint32_t parent, TraceStage& stage) {
    if (const auto place = place_.find(parent); place != place_.end()) {
      stage.parents.push_back(place->second);
    } else if (const auto skipped = stages_.find(parent); skipped != stages_.end()) {
      for (const std::uint32_t grandparent : skipped->second.opened.parents) {
        AddParent(grandparent, stage);
      }
    }
  }

  absl::Time begin_ = absl::InfiniteFuture();
  std::vector<std::pair<absl::Time, std::uint32_t>> executors_;
  std::vector<std::pair<absl::Time, EventBody>> groups_;
  std::map<std::uint32_t, Run> stages_;
  std::map<std::uint32_t, std::size_t> place_;
  std::map<Key, Task> running_;
};

}  // namespace

absl::StatusOr<Trace> ReadSparkLog(const std::string& path) {
  const auto log = spark::LogReader::Open(path, {});
  if (!log.ok()) return log.status();
  Runs runs;
  for (;;) {
    const auto event = (*log)->Next();
    if (!event.ok()) return event.status();
    if (!*event) break;
    runs.Take(**event);
  }
  if (!runs.has_job()) return absl::InvalidArgumentError(absl::StrCat(path, ": no job"));
  return runs.Build((*log)->application().slots_max());
}

}  // namespace tidemark::bench
