#include "bench/accuracy/lateness.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tidemark/job.h"

namespace tidemark::bench {
namespace {

constexpr double kShareMin = 0.02;

double WeightOf(const Lateness& lateness) {
  double weight = 0;
  for (const LateBin& bin : lateness.bins) weight += bin.weight;
  return weight;
}

bool HasInterval(const Prediction& update) { return update.end && update.lower && update.upper; }

// Returns the stated probability that the run ends after `deadline`. REQUIRES: HasInterval().
std::optional<double> LateAt(const Prediction& update, double start, double deadline) {
  const auto left = [&](double end) {
    return std::max(absl::Seconds(end - update.at), absl::ZeroDuration());
  };
  const Range remaining = {
      .median = left(*update.end), .lower = left(*update.lower), .upper = left(*update.upper)};
  return LateProbability(remaining, absl::Seconds(update.at - start), left(deadline));
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
  for (const double factor : kDeadlines) {
    const double deadline = start + factor * (end - start);
    std::vector<double> said;
    for (const Prediction& update : predictions) {
      if (update.at <= start || update.at >= std::min(deadline, end)) continue;
      if (!HasInterval(update)) continue;
      if (const auto late = LateAt(update, start, deadline)) said.push_back(*late);
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

nlohmann::ordered_json LatenessJson(const Lateness& lateness) {
  nlohmann::ordered_json bins = nlohmann::ordered_json::array();
  for (const LateBin& bin : lateness.bins) {
    bins.push_back({{"weight", bin.weight}, {"said", bin.mean_said()}, {"were", bin.share_late()}});
  }
  return {{"largest_error", lateness.largest_error()},
          {"mean_error", lateness.mean_error()},
          {"bins", bins}};
}

}  // namespace tidemark::bench
