#include "master/forecast/dag/foretold_tasks.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "master/forecast/dag/match_stages.h"
#include "master/forecast/durations/opinions.h"

namespace tidemark::workflow {
namespace {

bool IsForetold(const StageNow& stage, const ExpectedTasks& before) {
  return stage.foretold_deviation > 0 && before.is_of_runs;
}

// Normal opinions on one number, each with its precision.
struct Opinions {
  double precision = 0;
  double weighted = 0;  // sum of precision x opinion
};

// What a stage has shown of the log of the factor on what was foretold.
Opinions ShownBy(const StageNow& stage, const ExpectedTasks& before,
                 const ExpectationConstants& constants) {
  if (stage.finished.empty()) return {};
  // To somebody who knows next to nothing, so that little is held back: D^2 / (D^2 + noise) of it
  // is taken, which leaves a variance of that times the noise.
  ExpectedTasks open = before;
  open.deviation = cost::kUnknownDeviation;
  const double prior = open.deviation * open.deviation;
  const ExpectedTasks after = WithEvidence(std::move(open), stage, constants);
  const double taken = 1 - after.deviation * after.deviation / prior;
  if (!(taken > 0)) return {};
  const double shift =
      std::log(after.Of(Warmth::kRest).mean() / before.Of(Warmth::kRest).mean()) / taken;
  const double noise = after.deviation * after.deviation / taken;
  const double precision = 1 / (noise + before.deviation * before.deviation);
  if (!std::isfinite(precision) || !std::isfinite(shift)) return {};
  return {precision, precision * shift};
}

void Multiply(double factor, ExpectedTasks& expected) {
  for (cost::TimeDistribution& times : expected.times) times = times.Scaled(factor);
  for (LongTask& task : expected.long_tasks) task.more_seconds *= factor;
}

struct Work {
  Opinions all;
  std::uint64_t number = 0;
};

}  // namespace

void CorrectForetold(const std::vector<StageNow>& stages, const ExpectationConstants& constants,
                     std::vector<ExpectedTasks>& before) {
  std::map<std::string, Work> works;
  std::vector<Opinions> own(stages.size());
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (!IsForetold(stages[i], before[i])) continue;
    own[i] = ShownBy(stages[i], before[i], constants);
    const auto [work, is_new] =
        works.try_emplace(WorkKey(stages[i].work, stages[i].name), Work{.number = works.size()});
    work->second.all.precision += own[i].precision;
    work->second.all.weighted += own[i].weighted;
  }
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (!IsForetold(stages[i], before[i])) continue;
    const Work& work = works.at(WorkKey(stages[i].work, stages[i].name));
    const double deviation = stages[i].foretold_deviation;
    // What a stage shows of itself counts when its tasks are looked at.
    const double precision = 1 / (deviation * deviation) + work.all.precision - own[i].precision;
    const double shift = (work.all.weighted - own[i].weighted) / precision;
    Multiply(std::exp(shift), before[i]);
    const double left = std::sqrt(1 / precision);
    if (stages[i].finished.empty() && stages[i].running.empty()) {
      before[i].shared_deviation = left;
      before[i].shared_by = work.number;
    } else {
      before[i].deviation = std::hypot(before[i].deviation, left);
    }
  }
}

}  // namespace tidemark::workflow
