#include "bench/workflow/judge.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>
#include <variant>

#include "bench/workflow/events.h"
#include "bench/workflow/indicators.h"
#include "tidemark/job_monitor.h"

namespace tidemark::bench {
namespace {

// The same thresholds as for suites of single jobs (bench/accuracy/report.cc).
constexpr double kEvenCoverage = 0.75;
constexpr double kBehindPoints = 0.5;

// Mean errors of one query, in points.
struct QueryErrors {
  double shown = 0;
  double tasks = 0;
};

// Shorter queries are over before a reader needs their progress.
constexpr double kQuerySecondsMin = 10;
// Number of updates between the start and the end of a query.
constexpr int kQueryUpdates = 19;

// Returns the errors of the successful queries of an application without past runs.
std::vector<QueryErrors> JudgeQueries(const Trace& truth) {
  struct Query {
    std::string group;
    double start = 0;
    double end = 0;
  };
  std::map<std::string, Query> of_groups;
  for (const auto& [at, body] : truth.groups) {
    if (const auto* opened = std::get_if<GroupOpened>(&body)) {
      of_groups.try_emplace(opened->group, Query{.group = opened->group, .start = at, .end = -1});
    }
    const auto* const closed = std::get_if<GroupClosed>(&body);
    const auto query = closed == nullptr ? of_groups.end() : of_groups.find(closed->group);
    if (query == of_groups.end()) continue;
    query->second.end = closed->outcome == JobOutcome::kSucceeded ? at : query->second.start;
  }
  // Spark 1 does not log the ends of queries.
  std::map<std::string, double> last_ends;
  for (const TraceStage& stage : truth.stages) {
    for (const TraceTask& task : stage.tasks) {
      double& last = last_ends[stage.group];
      last = std::max(last, task.end);
    }
  }
  std::vector<Query> queries;
  for (auto& [name, query] : of_groups) {
    if (query.end < 0) query.end = last_ends[name];
    if (query.end - query.start >= kQuerySecondsMin) queries.push_back(query);
  }
  std::multimap<double, std::size_t> updates;  // indexes of queries by time
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const double span = queries[i].end - queries[i].start;
    for (int k = 1; k <= kQueryUpdates; ++k) {
      updates.emplace(queries[i].start + span * k / (kQueryUpdates + 1), i);
    }
  }
  std::vector<QueryErrors> errors(queries.size());
  Replay replay(truth);
  JobMonitor monitor("replay", {});
  for (const auto& [at, index] : updates) {
    replay.Until(at, [&](const Event& event) { monitor.Apply(event).IgnoreError(); });
    const Query& query = queries[index];
    const auto group = SnapshotOfGroup(monitor.Tick(At(at)), query.group);
    const double done = (at - query.start) / (query.end - query.start);
    const double shown = group ? group->estimate.fraction_done : 0;
    const double tasks = group && group->counts.tasks > 0
                             ? static_cast<double>(group->counts.finished_tasks) /
                                   static_cast<double>(group->counts.tasks)
                             : 0;
    errors[index].shown += 100 * std::abs(shown - done) / kQueryUpdates;
    errors[index].tasks += 100 * std::abs(tasks - done) / kQueryUpdates;
  }
  return errors;
}

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
  std::vector<QueryErrors> queries;
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
      const bool judges_queries = name_ == "tidemark" && one.history.empty();
      suite_.moment == Moment::kLive ? Live(*one.truth, judges_queries, replay, *indicator, samples)
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

  void Live(const Trace& truth, bool judges_queries, Replay& replay, Indicator& indicator,
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
    if (judges_queries) sample.queries = JudgeQueries(truth);
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

void AddQueries(const std::vector<Sample>& samples, Verdict& verdict) {
  double shown = 0;
  double tasks = 0;
  for (const Sample& sample : samples) {
    for (const QueryErrors& query : sample.queries) {
      ++verdict.queries;
      shown += query.shown;
      tasks += query.tasks;
      verdict.queries_behind += query.shown > query.tasks + kBehindPoints ? 1 : 0;
    }
  }
  if (verdict.queries == 0) return;
  verdict.query_err = shown / verdict.queries;
  verdict.query_tasks_err = tasks / verdict.queries;
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
  AddQueries(samples, verdict);
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
