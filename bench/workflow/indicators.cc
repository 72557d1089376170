#include "bench/workflow/indicators.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/status/status.h"
#include "bench/workflow/dag_methods.h"
#include "master/facts/fold.h"
#include "master/forecast/dag/stages_now.h"
#include "tidemark/job_monitor.h"

namespace tidemark::bench {
namespace {

// Exits after an error. A trace that contradicts its events is a bug of the benchmark.
void Require(const absl::Status& applied) {
  if (applied.ok()) return;
  fmt::print(stderr, "{}\n", applied.ToString());
  std::exit(1);
}

class Tidemark : public Indicator {
 public:
  explicit Tidemark(std::vector<PastRun> history) : monitor_("replay", {}) {
    monitor_.SetPastRuns(std::move(history));
  }

  void Take(const Event& event) override { Require(monitor_.Apply(event)); }

  Answer Ask(absl::Time now) override {
    const Snapshot snapshot = monitor_.Tick(now);
    Answer answer;
    if (const auto& left = snapshot.estimate.remaining) {
      answer.remaining = absl::ToDoubleSeconds(left->median);
      if (left->lower) answer.lower = absl::ToDoubleSeconds(*left->lower);
      if (left->upper) answer.upper = absl::ToDoubleSeconds(*left->upper);
    }
    const double shown = snapshot.estimate.fraction_done;
    if (shown > 0) {
      answer.shown_remaining = absl::ToDoubleSeconds(snapshot.elapsed()) * (1 - shown) / shown;
    }
    for (const StageForecast& stage : monitor_.stage_forecasts()) {
      if (stage.stage) answer.stage_ends.push_back(absl::ToDoubleSeconds(stage.ends_in));
    }
    return answer;
  }

 private:
  JobMonitor monitor_;
};

class OfPapers : public Indicator {
 public:
  OfPapers(std::string name, std::vector<PastRun> runs, const placement::Resourcing& on)
      : name_(std::move(name)), runs_(std::move(runs)), on_(on), state_(/*lambda=*/1) {
    for (const PastRun& run : runs_) history_.push_back(&run);
  }

  void Take(const Event& event) override { Require(facts::Apply(event, {}, state_)); }

  Answer Ask(absl::Time now) override {
    const dag::WorkflowNow seen = dag::StagesNow(state_, now);
    papers::DagForecast forecast = papers::EstimateDag(
        name_, {.stages = seen.stages, .elapsed = seen.elapsed, .history = history_, .on = on_});
    return {.remaining = forecast.remaining, .stage_ends = std::move(forecast.stage_ends)};
  }

 private:
  const std::string name_;
  const std::vector<PastRun> runs_;
  std::vector<const PastRun*> history_;
  const placement::Resourcing on_;
  facts::JobRecord state_;
};

}  // namespace

std::vector<std::string> IndicatorNames() {
  std::vector<std::string> names = papers::DagMethods();
  names.emplace_back("tidemark");
  return names;
}

std::unique_ptr<Indicator> MakeIndicator(const std::string& name, std::vector<PastRun> history,
                                         const placement::Resourcing& on) {
  if (name == "tidemark") return std::make_unique<Tidemark>(std::move(history));
  return std::make_unique<OfPapers>(name, std::move(history), on);
}

}  // namespace tidemark::bench
