#include "master/service/named_culprits.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "absl/time/time.h"

namespace tidemark::service {
namespace {

double SecondsThatRemain(const Snapshot& job) {
  const std::optional<Range>& remaining = job.estimate.remaining;
  if (!remaining || !remaining->upper) return std::numeric_limits<double>::infinity();
  return std::max(absl::ToDoubleSeconds(*remaining->upper), 0.0);
}

}  // namespace

std::set<blame::QueryName> NamedCulprits(const Explanation& explanation) {
  std::set<blame::QueryName> named;
  for (const QueryWaits& query : explanation.queries) {
    for (const Culprit& culprit : query.culprits) {
      if (culprit.job_id.empty() || culprit.job_id == explanation.job_id) continue;
      named.insert(blame::QueryName{culprit.job_id, culprit.query});
    }
  }
  return named;
}

estimate::Range WithinTimeLeft(const estimate::Range& sooner, const Snapshot& culprit) {
  const double most = SecondsThatRemain(culprit);
  return {.median = std::min(sooner.median, most),
          .lower = std::min(sooner.lower, most),
          .upper = std::min(sooner.upper, most)};
}

void SetSooner(const blame::QueryName& query, const estimate::Range& sooner,
               Explanation& explanation) {
  for (QueryWaits& waits : explanation.queries) {
    for (Culprit& named : waits.culprits) {
      if (named.job_id != query.job_id || named.query != query.query) continue;
      named.sooner_seconds = sooner.median;
      named.sooner_seconds_lower = sooner.lower;
      named.sooner_seconds_upper = sooner.upper;
    }
  }
}

}  // namespace tidemark::service
