#include "master/forecast/durations/slack_parts.h"

#include <algorithm>

#include "master/forecast/durations/opinions.h"

namespace tidemark::cost {
namespace {

// The part of its slack that a key is expected to have before any shows it.
// Ablation: +0.15, +0.08 (two-path one-giant).
constexpr double kPartExpected = 0.5;

}  // namespace

void SlackParts::Use::Add(const Use& other, double weight) {
  used_bytes += weight * other.used_bytes;
  slack_bytes += weight * other.slack_bytes;
}

double SlackParts::Use::Part(double expected, double prior_bytes) const {
  const double bytes = slack_bytes + prior_bytes;
  return bytes > 0 ? (used_bytes + prior_bytes * expected) / bytes : expected;
}

void SlackParts::Learn(std::size_t map_task, double used_bytes, double slack_bytes, double weight) {
  if (map_task >= finished_.size()) finished_.resize(map_task + 1);
  finished_[map_task].Add({used_bytes, slack_bytes}, weight);
}

void SlackParts::ScaleDown(double by) {
  for (Use& use : finished_) use = {use.used_bytes / by, use.slack_bytes / by};
}

std::vector<double> SlackParts::Expect(std::span<const SampledGroup> sampled, std::size_t map_tasks,
                                       double mean_slack_bytes, double newest_weight) const {
  std::vector<Use> left(map_tasks);
  Use all_left;
  for (const SampledGroup& group : sampled) {
    if (group.map_task >= map_tasks) continue;
    const Use use = {std::clamp(group.size_bytes - group.explicit_bytes, 0.0, group.slack_bytes),
                     group.slack_bytes};
    left[group.map_task].Add(use, 1);
    all_left.Add(use, 1);
  }
  std::vector<Use> finished = finished_;
  finished.resize(map_tasks);
  Use all_finished;
  for (Use& use : finished) {
    use = {use.used_bytes / newest_weight, use.slack_bytes / newest_weight};
    all_finished.Add(use, 1);
  }
  const double prior = kPriorCount * mean_slack_bytes;
  const double of_all = all_left.Part(all_finished.Part(kPartExpected, prior), prior);
  std::vector<double> parts;
  parts.reserve(map_tasks);
  for (std::size_t j = 0; j < map_tasks; ++j) {
    parts.push_back(left[j].Part(finished[j].Part(of_all, prior), prior));
  }
  return parts;
}

}  // namespace tidemark::cost
