#include "bench/accuracy/lateness.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tidemark/late_probability.h"

namespace tidemark::bench {
namespace {

constexpr double kShareMin = 0.02;

double WeightOf(const LateBins& late) {
  double weight = 0;
  for (const LateBin& bin : late.bins) weight += bin.weight;
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

// Returns the bins of deadlines at kDeadlines times `time`.
LateBins BinsOf(std::span<const Prediction> predictions, double start, double end, double time) {
  LateBins late;
  for (const double factor : kDeadlines) {
    const double deadline = start + factor * time;
    std::vector<double> said;
    for (const Prediction& update : predictions) {
      if (update.at <= start || update.at >= std::min(deadline, end)) continue;
      if (!HasInterval(update)) continue;
      if (const auto probability = LateAt(update, start, deadline)) said.push_back(*probability);
    }
    const double weight = 1.0 / static_cast<double>(std::max<std::size_t>(said.size(), 1));
    for (const double probability : said) {
      const auto place = static_cast<std::size_t>(probability * 10);
      LateBin& bin = late.bins[std::min(place, late.bins.size() - 1)];
      bin.weight += weight;
      bin.said += weight * probability;
      if (end > deadline) bin.were += weight;
    }
  }
  return late;
}

nlohmann::ordered_json BinsJson(const LateBins& late) {
  nlohmann::ordered_json bins = nlohmann::ordered_json::array();
  for (const LateBin& bin : late.bins) {
    bins.push_back({{"weight", bin.weight}, {"said", bin.mean_said()}, {"were", bin.share_late()}});
  }
  return {
      {"largest_error", late.largest_error()}, {"mean_error", late.mean_error()}, {"bins", bins}};
}

}  // namespace

void LateBins::Add(const LateBins& other) {
  for (std::size_t i = 0; i < bins.size(); ++i) {
    bins[i].weight += other.bins[i].weight;
    bins[i].said += other.bins[i].said;
    bins[i].were += other.bins[i].were;
  }
}

double LateBins::largest_error() const {
  const double all = WeightOf(*this);
  double largest = 0;
  for (const LateBin& bin : bins) {
    if (bin.weight < kShareMin * all) continue;
    largest = std::max(largest, std::abs(bin.mean_said() - bin.share_late()));
  }
  return largest;
}

double LateBins::mean_error() const {
  const double all = WeightOf(*this);
  double sum = 0;
  for (const LateBin& bin : bins) sum += std::abs(bin.said - bin.were);
  return all > 0 ? sum / all : 0;
}

void Lateness::Add(const Lateness& other) {
  near_end.Add(other.near_end);
  near_forecast.Add(other.near_forecast);
}

Lateness MeasureLateness(std::span<const Prediction> predictions, double start, double end) {
  Lateness lateness = {.near_end = BinsOf(predictions, start, end, end - start)};
  const auto first = std::ranges::find_if(predictions, HasInterval);
  if (first != predictions.end() && *first->end > start) {
    lateness.near_forecast = BinsOf(predictions, start, end, *first->end - start);
  }
  return lateness;
}

nlohmann::ordered_json LatenessJson(const Lateness& lateness) {
  nlohmann::ordered_json json = BinsJson(lateness.near_end);
  json["near_forecast"] = BinsJson(lateness.near_forecast);
  return json;
}

}  // namespace tidemark::bench
