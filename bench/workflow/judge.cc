#include "bench/workflow/judge.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "bench/workflow/events.h"
#include "bench/workflow/indicators.h"

namespace tidemark::bench {
namespace {

// The same thresholds as for suites of single jobs (bench/accuracy/report.cc).
constexpr double kEvenCoverage = 0.75;
constexpr double kBehindPoints = 0.5;

// One value of a case, or nullopt if the case has none.
struct Sample {
  std::string group;
  bool held_out = false;
  double end_error = 0;  // error of the prediction before the start
  std::optional<bool> hit;
  std::optional<double> width;
  std::optional<Metrics> live;
  Lateness late;
  double live_end_error = 0;
};

void AddLive(const std::vector<Prediction>& predictions, double end, Sample& sample) {
  sample.live = Measure(predictions, 0, end);
  sample.late = MeasureLateness(predictions, 0, end);
  for (const Prediction& prediction : predictions) {
    // A missing prediction counts as an error of the whole duration.
    sample.live_end_error += prediction.end ? std::abs(*prediction.end - end) / end : 1;
  }
  sample.live_end_error /= static_cast<double>(predictions.size());
}

class Judging {
 public:
  Judging(const Suite& suite, const std::string& indicator, const JudgeOptions& options)
      : suite_(suite), options_(options), name_(indicator) {}

  std::vector<Sample> Run() {
    std::vector<Sample> samples;
    for (const Case& one : suite_.cases) {
      std::vector<PastRun> history;
      for (const PastRun* run : one.history) history.push_back(*run);
      const bool is_oracle = name_ == "oracle";
      if (is_oracle) history = {RunOf(*one.truth)};
      const auto indicator = MakeIndicator(is_oracle ? "tidemark" : name_, std::move(history),
                                           ResourcingOf(*one.truth));
      Replay replay(*one.truth);
      suite_.moment == Moment::kLive ? Live(*one.truth, replay, *indicator, samples)
                                     : Before(*one.truth, replay, *indicator, samples);
    }
    return samples;
  }

 private:
  static Sample NewSample(const Trace& truth) {
    return {.group = truth.group, .held_out = truth.held_out};
  }

  static void Before(const Trace& truth, Replay& replay, Indicator& indicator,
                     std::vector<Sample>& samples) {
    replay.Opening([&](const Event& event) { indicator.Take(event); });
    const Answer answer = indicator.Ask(At(0));
    if (!answer.remaining) return;
    if (truth.owners > 1) {
      OwnersBefore(truth, answer, samples);
      return;
    }
    Sample sample = NewSample(truth);
    sample.end_error = std::abs(*answer.remaining - truth.end) / truth.end;
    if (answer.lower) {
      sample.hit = *answer.lower <= truth.end && truth.end <= *answer.upper;
      sample.width = (*answer.upper - *answer.lower) / truth.end;
    }
    samples.push_back(sample);
  }

  // In a mix, the end of each workflow counts.
  static void OwnersBefore(const Trace& truth, const Answer& answer, std::vector<Sample>& samples) {
    for (std::size_t owner = 0; owner < truth.owners; ++owner) {
      double end = 0;
      for (std::size_t i = 0; i < std::min(truth.stages.size(), answer.stage_ends.size()); ++i) {
        if (truth.stages[i].owner == owner) end = std::max(end, answer.stage_ends[i]);
      }
      if (end == 0) continue;
      const double true_end = EndOfOwner(truth, owner);
      Sample sample = NewSample(truth);
      sample.end_error = std::abs(end - true_end) / true_end;
      samples.push_back(sample);
    }
  }

  void Live(const Trace& truth, Replay& replay, Indicator& indicator,
            std::vector<Sample>& samples) const {
    std::vector<Prediction> predictions;
    for (int k = 1; k < options_.updates; ++k) {
      const double at = truth.end * k / options_.updates;
      replay.Until(at, [&](const Event& event) { indicator.Take(event); });
      const Answer answer = indicator.Ask(At(at));
      Prediction& prediction = predictions.emplace_back(Prediction{.at = at});
      if (answer.remaining) prediction.end = at + *answer.remaining;
      if (answer.lower) prediction.lower = at + *answer.lower;
      if (answer.upper) prediction.upper = at + *answer.upper;
      if (answer.shown_remaining) prediction.shown_end = at + *answer.shown_remaining;
    }
    if (options_.on_run) options_.on_run(suite_.name, name_, truth, predictions);
    Sample sample = NewSample(truth);
    AddLive(predictions, truth.end, sample);
    samples.push_back(sample);
  }

  const Suite& suite_;
  const JudgeOptions& options_;
  const std::string name_;
};

using Figure = std::function<std::optional<double>(const Sample&)>;

// Returns the mean over groups of the means within each group.
std::optional<double> MeanOf(const std::vector<Sample>& samples, const Figure& figure) {
  std::map<std::string, std::pair<double, int>> groups;
  for (const Sample& sample : samples) {
    const std::optional<double> value = figure(sample);
    if (!value) continue;
    groups[sample.group].first += *value;
    groups[sample.group].second += 1;
  }
  if (groups.empty()) return std::nullopt;
  double sum = 0;
  for (const auto& [name, group] : groups) sum += group.first / group.second;
  return sum / static_cast<double>(groups.size());
}

std::optional<double> Percentile(double share, const std::vector<Sample>& samples,
                                 const Figure& figure) {
  std::vector<double> values;
  for (const Sample& sample : samples) {
    if (const auto value = figure(sample)) values.push_back(*value);
  }
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

Figure OfLive(double Metrics::*member) {
  return [member](const Sample& sample) -> std::optional<double> {
    if (!sample.live) return std::nullopt;
    return (*sample.live).*member;
  };
}

Figure AtMilestone(int percent) {
  return [percent](const Sample& sample) -> std::optional<double> {
    if (!sample.live) return std::nullopt;
    for (std::size_t i = 0; i < kMilestones.size(); ++i) {
      if (kMilestones[i] == percent) return sample.live->at[i].end_error.value_or(1);
    }
    return std::nullopt;
  };
}

Verdict VerdictOf(const std::vector<Sample>& samples, Moment moment) {
  Verdict verdict = {.cases = static_cast<int>(samples.size())};
  if (moment == Moment::kBeforeStart) {
    const Figure end_error = [](const Sample& sample) { return std::optional(sample.end_error); };
    verdict.makespan_err_mean = MeanOf(samples, end_error);
    verdict.makespan_err_p90 = Percentile(0.9, samples, end_error);
    verdict.coverage90 = MeanOf(samples, [](const Sample& sample) -> std::optional<double> {
      if (!sample.hit) return std::nullopt;
      return *sample.hit ? 1 : 0;
    });
    verdict.width90 = MeanOf(samples, [](const Sample& sample) { return sample.width; });
    return verdict;
  }
  verdict.avg_err = MeanOf(samples, OfLive(&Metrics::avg_err));
  verdict.shown_err = MeanOf(samples, OfLive(&Metrics::shown_err));
  verdict.max_err = MeanOf(samples, OfLive(&Metrics::max_err));
  verdict.end_err =
      MeanOf(samples, [](const Sample& sample) { return std::optional(sample.live_end_error); });
  verdict.remaining_err_10 = MeanOf(samples, AtMilestone(10));
  verdict.remaining_err_25 = MeanOf(samples, AtMilestone(25));
  verdict.remaining_err_50 = MeanOf(samples, AtMilestone(50));
  verdict.remaining_err_75 = MeanOf(samples, AtMilestone(75));
  verdict.remaining_err_90 = MeanOf(samples, AtMilestone(90));
  verdict.coverage90 =
      MeanOf(samples, [](const Sample& sample) { return sample.live->coverage90; });
  verdict.even_coverage = MeanOf(samples, [](const Sample& sample) -> std::optional<double> {
    if (!sample.live->coverage90) return std::nullopt;
    return *sample.live->coverage90 >= kEvenCoverage ? 1 : 0;
  });
  verdict.width90 = MeanOf(samples, [](const Sample& sample) { return sample.live->width90; });
  verdict.ratio50 =
      Percentile(0.5, samples, [](const Sample& sample) { return sample.live->ratio50; });
  verdict.backward_shown = MeanOf(samples, OfLive(&Metrics::backward_shown));
  for (const Sample& sample : samples) verdict.late.Add(sample.late);
  return verdict;
}

}  // namespace

Verdict VerdictOf(const std::vector<WatchedRun>& runs) {
  std::vector<Sample> samples;
  for (const WatchedRun& run : runs) {
    Sample& sample = samples.emplace_back();
    AddLive(run.predictions, run.end, sample);
  }
  return VerdictOf(samples, Moment::kLive);
}

Judged Judge(const Suite& suite, const JudgeOptions& options) {
  Judged judged = {.suite = suite.name};
  for (const std::string& indicator : options.indicators) {
    std::vector<Sample> samples = Judging(suite, indicator, options).Run();
    if (samples.empty()) continue;
    Row row = {.indicator = indicator, .all = VerdictOf(samples, suite.moment)};
    std::erase_if(samples, [](const Sample& sample) { return !sample.held_out; });
    row.held_out = VerdictOf(samples, suite.moment);
    judged.rows.push_back(std::move(row));
  }
  return judged;
}

int SuitesBehind(const std::vector<Judged>& suites, const std::string& indicator,
                 Verdict Row::*half) {
  const auto points_of = [half](const Row& row) -> std::optional<double> {
    const Verdict& verdict = row.*half;
    if (verdict.avg_err || !verdict.makespan_err_mean) return verdict.avg_err;
    return 100 * *verdict.makespan_err_mean;
  };
  return static_cast<int>(std::ranges::count_if(suites, [&](const Judged& suite) {
    std::optional<double> own;
    std::optional<double> best;
    for (const Row& row : suite.rows) {
      const std::optional<double> points = points_of(row);
      if (row.indicator == "oracle" || !points) continue;
      std::optional<double>& target = row.indicator == indicator ? own : best;
      target = target ? std::min(*target, *points) : *points;
    }
    return own && best && *own > *best + kBehindPoints;
  }));
}

}  // namespace tidemark::bench
