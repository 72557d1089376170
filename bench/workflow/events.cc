#include "bench/workflow/events.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "tidemark/job_monitor.h"

namespace tidemark::bench {
namespace {

// Time between two reports of a running task in seconds, as for Spark's executors.
constexpr double kBeat = 10;

StageOpened Opening(const Trace& trace, std::uint32_t number) {
  const TraceStage& stage = trace.stages[number];
  StageOpened opened = {.stage = number,
                        .name = stage.title.empty() ? stage.name : stage.title,
                        .signature = stage.name,
                        .group = stage.group,
                        .kind = stage.kind,
                        .task_count = static_cast<std::uint32_t>(stage.tasks.size()),
                        .work = stage.work};
  for (const std::size_t parent : stage.parents) {
    opened.parents.push_back(static_cast<std::uint32_t>(parent));
  }
  if (trace.policy != placement::Policy::kFifo) opened.pool = absl::StrCat(stage.owner);
  return opened;
}

}  // namespace

absl::Time At(double seconds) {
  return absl::FromUnixSeconds(1'700'000'000) + absl::Seconds(seconds);
}

Replay::Replay(const Trace& trace) : trace_(trace) {
  JobOpened job = {.name = trace.name, .engine = "replay", .submitted_at = At(0)};
  for (std::uint32_t i = 0; i < trace.stages.size(); ++i) {
    if (trace.stages[i].group.empty()) job.stages.push_back(bench::Opening(trace, i));
  }
  Add(0, std::move(job));
  for (std::uint32_t i = 0; i < trace.executors.size(); ++i) {
    const TraceExecutor& executor = trace.executors[i];
    Add(executor.at, ExecutorOpened{.executor = i, .slots = executor.slots});
  }
  for (auto [at, body] : trace.groups) {
    if (auto* const opened = std::get_if<GroupOpened>(&body)) opened->opened_at = bench::At(at);
    if (auto* const closed = std::get_if<GroupClosed>(&body)) closed->at = bench::At(at);
    Add(at, std::move(body));
  }
  AddStages();
  std::stable_sort(bodies_.begin(), bodies_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  while (opening_ < bodies_.size() && bodies_[opening_].first <= 0 &&
         !std::holds_alternative<AttemptChanged>(bodies_[opening_].second)) {
    ++opening_;
  }
}

void Replay::AddStages() {
  for (std::uint32_t i = 0; i < trace_.stages.size(); ++i) {
    const TraceStage& stage = trace_.stages[i];
    if (!stage.group.empty()) Add(stage.visible_at, bench::Opening(trace_, i));
  }
  for (std::uint32_t i = 0; i < trace_.stages.size(); ++i) {
    const TraceStage& stage = trace_.stages[i];
    if (!stage.submitted_at) continue;
    StageOpened opened = bench::Opening(trace_, i);
    opened.opened_at = At(*stage.submitted_at);
    Add(*stage.submitted_at, std::move(opened));
  }
  for (std::uint32_t i = 0; i < trace_.stages.size(); ++i) {
    for (std::uint32_t t = 0; t < trace_.stages[i].tasks.size(); ++t) {
      AddTask({.stage = i, .index = t});
    }
  }
}

void Replay::AddTask(const AttemptId& attempt) {
  const TraceStage& stage = trace_.stages[attempt.stage];
  const TraceTask& task = stage.tasks[attempt.index];
  AttemptChanged changed = {.attempt = attempt, .input_bytes = task.bytes};
  if (task.bytes) {
    changed.state = AttemptState::kQueued;
    Add(stage.visible_at, changed);
  }
  changed.executor = task.executor;
  const auto enter = [&](AttemptState state, double at) {
    changed.state = state;
    changed.at = At(at);
    Add(at, changed);
  };
  enter(AttemptState::kStarted, task.start);
  if (task.shuffled) enter(AttemptState::kShuffled, *task.shuffled);
  if (task.read_bytes > 0 || task.emitted_bytes > 0) {
    Add(task.end, TaskHeartbeat{.attempt = attempt,
                                .bytes_done = task.read_bytes,
                                .bytes_emitted = task.emitted_bytes});
  }
  enter(AttemptState::kFinished, task.end);
}

TaskHeartbeat Replay::Heartbeat(const AttemptId& attempt, double at) const {
  const TraceTask& task = trace_.stages[attempt.stage].tasks[attempt.index];
  TaskHeartbeat heartbeat = {.attempt = attempt};
  if (task.bytes && task.end > task.start) {
    const double read = (at - task.start) / (task.end - task.start);
    heartbeat.bytes_done = static_cast<std::uint64_t>(read * static_cast<double>(*task.bytes));
  }
  return heartbeat;
}

void Replay::Add(double at, EventBody body) {
  bodies_.emplace_back(std::max(at, 0.0), std::move(body));
}

void Replay::BeatUntil(double at, Take take) {
  if (running_.empty()) return;
  while (sent_at_ + kBeat < at) {
    const double next = sent_at_ + kBeat;
    Send(next, Heartbeat(running_.begin()->second, next), take);
  }
}

void Replay::Send(double at, EventBody body, Take take) {
  sent_at_ = at;
  take({.job_id = "replay",
        .source_id = "driver",
        .sequence = ++sequence_,
        .sent_at = At(at),
        .arrived_at = At(at),
        .body = std::move(body)});
}

void Replay::Opening(Take take) {
  for (; next_ < opening_; ++next_) Send(0, bodies_[next_].second, take);
}

void Replay::Until(double seconds, Take take) {
  for (; next_ < bodies_.size() && bodies_[next_].first <= seconds; ++next_) {
    const auto& [at, body] = bodies_[next_];
    BeatUntil(at, take);
    if (const auto* changed = std::get_if<AttemptChanged>(&body)) {
      const std::pair task(changed->attempt.stage, changed->attempt.index);
      if (changed->state == AttemptState::kStarted) running_[task] = changed->attempt;
      if (changed->state == AttemptState::kFinished) running_.erase(task);
    }
    Send(at, body, take);
  }
  BeatUntil(seconds, take);
  for (const auto& [task, attempt] : running_) {
    Send(seconds, Heartbeat(attempt, seconds), take);
  }
}

void Replay::ToTheEnd(Take take) {
  Until(trace_.end, take);
  Send(trace_.end, JobClosed{.outcome = JobOutcome::kSucceeded, .at = At(trace_.end)}, take);
}

PastRun RunOf(const Trace& trace) {
  JobMonitor monitor("replay", {});
  Replay(trace).ToTheEnd([&](const Event& event) { monitor.Apply(event).IgnoreError(); });
  return PastRunOf(monitor.Tick(At(trace.end)), monitor.Summary()).value_or(PastRun{});
}

}  // namespace tidemark::bench
