#include "master/forecast/dag/growth.h"

#include <algorithm>

namespace tidemark::workflow {
namespace {

// Measured: 367 runs of iterative programs of nine kinds, 20 logs of strangers and 3 power runs,
// with what their submitted jobs take known. Between 0.6 and 0.75 the mean error moves by 0.3
// points; with none to come it is 23.2, with this 20.7.
constexpr double kChanceAfterSeveral = 2.0 / 3;
// Of a single job nothing tells whether it is the only one.
constexpr double kChanceAfterOne = 1.0 / 2;
// A power run creates its 24 views alike, then asks one query. As measured above.
constexpr double kChanceAtNovelty = 1.0 / 4;

}  // namespace

double ChanceOfMore(const Submissions& submissions) {
  if (submissions.count <= 1) return kChanceAfterOne;
  if (submissions.is_newest_repeated) return kChanceAfterSeveral;
  // The share of submissions that did something new: that this one does, too, says little where
  // all others did, and much where none did.
  const double novelty =
      static_cast<double>(submissions.kinds) / static_cast<double>(submissions.count);
  return std::clamp(novelty, kChanceAtNovelty, kChanceAfterSeveral);
}

cost::Draws GrowthOf(const Submissions& submissions, double elapsed,
                     const cost::FixedDraws& draws) {
  const double chance = ChanceOfMore(submissions);
  cost::Draws growth = draws.Uniforms(cost::Drawn::kGrowth, cost::kOfRun);
  for (double& u : growth) u = u < chance ? elapsed * (chance / u - 1) : 0;
  return growth;
}

}  // namespace tidemark::workflow
