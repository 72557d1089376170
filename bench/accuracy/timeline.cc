#include "bench/accuracy/timeline.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tidemark::bench {
namespace {

// The lower bound of the noise, which keeps the speed positive.
constexpr double kNoiseMin = -0.9;

}  // namespace

Node::Node(const NominalSpeed& nominal, const Noise& noise, std::uint64_t seed)
    : nominal_(nominal), noise_(noise), random_(seed) {}

double Node::SpeedIn(std::size_t step) {
  const double kept = std::exp(-noise_.step_seconds / noise_.correlation_seconds);
  while (noises_.size() <= step) {
    const double fresh = noise_.deviation * random_.Normal();
    noises_.push_back(noises_.empty() ? fresh
                                      : kept * noises_.back() + std::sqrt(1 - kept * kept) * fresh);
  }
  const double begins = static_cast<double>(step) * noise_.step_seconds;
  return nominal_.At(begins) * (1 + std::max(noises_[step], kNoiseMin));
}

double Node::Advance(double start, double work_seconds) {
  double now = start;
  for (auto step = static_cast<std::size_t>(start / noise_.step_seconds);; ++step) {
    const double speed = SpeedIn(step);
    const double step_ends = static_cast<double>(step + 1) * noise_.step_seconds;
    const double possible = (step_ends - now) * speed;
    if (work_seconds <= possible) return now + work_seconds / speed;
    work_seconds -= std::max(possible, 0.0);
    now = step_ends;
  }
}

std::vector<Node> WithoutNoise(const std::vector<NominalSpeed>& speeds, double step_seconds) {
  std::vector<Node> nodes;
  nodes.reserve(speeds.size());
  for (const NominalSpeed& speed : speeds) {
    nodes.emplace_back(speed, Node::Noise{.step_seconds = step_seconds}, 0);
  }
  return nodes;
}

namespace {

class Scheduler {
 public:
  Scheduler(const Workload& workload, std::vector<Node>& nodes, const TimelineOptions& options)
      : workload_(workload), nodes_(nodes), options_(options), free_at_(nodes.size(), 0) {}

  Timeline Run() {
    for (std::uint32_t task = 0; task < workload_.task_count(); ++task) RunTask(task);
    if (options_.task_has_twin) AddTwin();
    for (const Attempt& attempt : timeline_.attempts) {
      timeline_.end = std::max(timeline_.end, attempt.end);
    }
    return std::move(timeline_);
  }

 private:
  void RunTask(std::uint32_t task) {
    const auto slot = static_cast<std::uint32_t>(
        std::min_element(free_at_.begin(), free_at_.end()) - free_at_.begin());
    Attempt attempt = Begin(task, 0, slot, free_at_[slot]);
    if (options_.task_fails && task == options_.failing_task) {
      double work = 0;
      for (const float seconds : workload_.SecondsOf(task)) work += seconds;
      attempt.end = nodes_[slot].Advance(attempt.start, work / 2);
      attempt.outcome = AttemptState::kFailed;
      Attempt again = Begin(task, 1, slot, attempt.end);
      timeline_.attempts.push_back(std::move(attempt));
      attempt = std::move(again);
    }
    free_at_[slot] = attempt.end;
    timeline_.attempts.push_back(std::move(attempt));
  }

  // Returns an attempt that runs until it finishes.
  Attempt Begin(std::uint32_t task, std::uint32_t number, std::uint32_t slot, double start) {
    Attempt attempt = {.task = task, .number = number, .slot = slot, .start = start};
    const std::span<const float> seconds = workload_.SecondsOf(task);
    attempt.group_ends.reserve(seconds.size());
    double now = start;
    for (const float cost : seconds) {
      now = nodes_[slot].Advance(now, cost);
      attempt.group_ends.push_back(now);
    }
    attempt.end = now;
    return attempt;
  }

  void AddTwin() {
    Attempt& last =
        *std::max_element(timeline_.attempts.begin(), timeline_.attempts.end(),
                          [](const Attempt& a, const Attempt& b) { return a.end < b.end; });
    // the next attempt runs on another node
    free_at_[last.slot] = std::numeric_limits<double>::infinity();
    const auto slot = std::min_element(free_at_.begin(), free_at_.end());
    const double start = std::max(*slot, (last.start + last.end) / 2);
    if (start >= last.end) return;
    Attempt twin = Begin(last.task, last.number + 1,
                         static_cast<std::uint32_t>(slot - free_at_.begin()), start);
    twin.speculative = true;
    Attempt& loser = twin.end < last.end ? last : twin;
    loser.end = std::min(twin.end, last.end);
    loser.outcome = AttemptState::kKilled;
    timeline_.attempts.push_back(std::move(twin));
  }

  const Workload& workload_;
  std::vector<Node>& nodes_;
  const TimelineOptions options_;
  std::vector<double> free_at_;  // by slot
  Timeline timeline_;
};

}  // namespace

Timeline Schedule(const Workload& workload, std::vector<Node>& nodes,
                  const TimelineOptions& options) {
  return Scheduler(workload, nodes, options).Run();
}

Oracle::Oracle(const Workload& workload, const Timeline& timeline, std::vector<Node> nodes)
    : workload_(workload), timeline_(timeline), nodes_(std::move(nodes)) {
  for (std::size_t task = 0; task < workload.task_count(); ++task) {
    const auto expected = workload.ExpectedSecondsOf(task);
    task_work_.push_back(std::accumulate(expected.begin(), expected.end(), 0.0));
  }
  for (const Attempt& attempt : timeline.attempts) {
    progress_.push_back({.work_left = task_work_[attempt.task]});
  }
}

// Returns the end of a running attempt.
double Oracle::PredictAttempt(std::size_t index, double now) {
  const Attempt& attempt = timeline_.attempts[index];
  const auto expected = workload_.ExpectedSecondsOf(attempt.task);
  Progress& progress = progress_[index];
  while (progress.groups_done < expected.size() &&
         attempt.group_ends[progress.groups_done] <= now) {
    progress.work_left -= expected[progress.groups_done++];
  }
  if (progress.groups_done == expected.size()) return now;
  const double group_start =
      progress.groups_done == 0 ? attempt.start : attempt.group_ends[progress.groups_done - 1];
  const double group_work = expected[progress.groups_done];
  // Assumes that the group takes its expected work from its start, and ends now at the earliest.
  const double group_end = std::max(now, nodes_[attempt.slot].Advance(group_start, group_work));
  const double others = std::max(progress.work_left - group_work, 0.0);
  return nodes_[attempt.slot].Advance(group_end, others);
}

double Oracle::PredictEnd(double now) {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  std::vector<double> task_ends(workload_.task_count(), kUnknown);
  std::vector<double> free_at(nodes_.size(), now);
  for (std::size_t i = 0; i < timeline_.attempts.size(); ++i) {
    const Attempt& attempt = timeline_.attempts[i];
    if (attempt.start > now) continue;
    double end = attempt.end;
    if (attempt.end > now) {
      end = PredictAttempt(i, now);
      free_at[attempt.slot] = std::max(free_at[attempt.slot], end);
    } else if (attempt.outcome != AttemptState::kFinished) {
      continue;
    }
    task_ends[attempt.task] = std::min(task_ends[attempt.task], end);
  }
  for (std::size_t task = 0; task < task_ends.size(); ++task) {
    if (task_ends[task] != kUnknown) continue;
    const auto slot = std::min_element(free_at.begin(), free_at.end());
    Node& node = nodes_[static_cast<std::size_t>(slot - free_at.begin())];
    *slot = task_ends[task] = node.Advance(*slot, task_work_[task]);
  }
  return *std::max_element(task_ends.begin(), task_ends.end());
}

}  // namespace tidemark::bench
