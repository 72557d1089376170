#include "bench/accuracy/lateness.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tidemark/job.h"

namespace tidemark::bench {
namespace {

constexpr double kShareMin = 0.01;

double WeightOf(const Lateness& lateness) {
  double weight = 0;
  for (const LateBin& bin : lateness.bins) weight += bin.weight;
  return weight;
}

std::optional<double> LateAt(const Prediction& update, double deadline) {
  const auto left = [&](double end) {
    return std::max(absl::Seconds(end - update.at), absl::ZeroDuration());
  };
  const Estimate estimate = {.remaining = Range{.median = left(*update.end),
                                                .lower = left(*update.lower),
                                                .upper = left(*update.upper)},
                             .basis = update.is_of_run ? Basis::kThisRun : Basis::kGuess,
                             .known_share = 1};
  return LateProbability(estimate, absl::Seconds(deadline - update.at));
}

}  // namespace

void Lateness::Add(const Lateness& other) {
  for (std::size_t i = 0; i < bins.size(); ++i) {
    bins[i].weight += other.bins[i].weight;
    bins[i].said += other.bins[i].said;
    bins[i].were += other.bins[i].were;
  }
}

double Lateness::largest_error() const {
  const double all = WeightOf(*this);
  double largest = 0;
  for (const LateBin& bin : bins) {
    if (bin.weight < kShareMin * all) continue;
    largest = std::max(largest, std::abs(bin.mean_said() - bin.share_late()));
  }
  return largest;
}

double Lateness::mean_error() const {
  const double all = WeightOf(*this);
  double sum = 0;
  for (const LateBin& bin : bins) sum += std::abs(bin.said - bin.were);
  return all > 0 ? sum / all : 0;
}

Lateness MeasureLateness(std::span<const Prediction> predictions, double start, double end) {
  Lateness lateness;
  const auto has_interval = [&](const Prediction& update) {
    return update.at > start && update.at < end && update.end && update.lower && update.upper;
  };
  const auto first = std::ranges::find_if(predictions, has_interval);
  if (first == predictions.end()) return lateness;
  for (const double factor : kDeadlines) {
    const double deadline = first->at + factor * std::max(*first->end - first->at, 0.0);
    std::vector<double> said;
    for (auto update = first; update != predictions.end(); ++update) {
      if (!has_interval(*update) || update->at >= deadline) continue;
      if (const auto late = LateAt(*update, deadline)) said.push_back(*late);
    }
    const double weight = 1.0 / static_cast<double>(std::max<std::size_t>(said.size(), 1));
    for (const double late : said) {
      const auto place = static_cast<std::size_t>(late * 10);
      LateBin& bin = lateness.bins[std::min(place, lateness.bins.size() - 1)];
      bin.weight += weight;
      bin.said += weight * late;
      if (end > deadline) bin.were += weight;
    }
  }
  return lateness;
}

}  // namespace tidemark::bench
