#include "master/service/hide_culprits.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace tidemark::service {
namespace {

struct Hidden {
  std::set<std::string> job_ids;
  std::uint32_t forgotten = 0;
  double seconds = 0;
  // Empty: one of them has none.
  std::optional<double> lower = 0;
  std::optional<double> upper = 0;
};

void Add(const std::optional<double>& more, std::optional<double>& sum) {
  if (sum && more) {
    *sum += *more;
  } else {
    sum.reset();
  }
}

}  // namespace

void HideCulprits(const std::function<bool(const std::string& job_id)>& may_read,
                  std::size_t culprits_max, Explanation& explanation) {
  for (QueryWaits& query : explanation.queries) {
    std::vector<Culprit> seen;
    std::map<std::pair<WaitedResource, std::string>, Hidden> hidden;
    for (Culprit& culprit : query.culprits) {
      const bool is_own = culprit.job_id == explanation.job_id;
      const bool is_nobody = culprit.job_id.empty() && culprit.jobs == 0;
      if (is_own || is_nobody || (!culprit.job_id.empty() && may_read(culprit.job_id))) {
        seen.push_back(std::move(culprit));
        continue;
      }
      Hidden& sum = hidden[{culprit.resource, culprit.host}];
      if (culprit.job_id.empty()) sum.forgotten = std::max(sum.forgotten, culprit.jobs);
      if (!culprit.job_id.empty()) sum.job_ids.insert(culprit.job_id);
      sum.seconds += culprit.seconds;
      Add(culprit.seconds_lower, sum.lower);
      Add(culprit.seconds_upper, sum.upper);
    }
    for (const auto& [where, sum] : hidden) {
      seen.push_back({.job_id = "",
                      .query = "",
                      .jobs = static_cast<std::uint32_t>(sum.job_ids.size()) + sum.forgotten,
                      .resource = where.first,
                      .host = where.second,
                      .seconds = sum.seconds,
                      .seconds_lower = sum.lower,
                      .seconds_upper = sum.upper});
    }
    std::stable_sort(seen.begin(), seen.end(),
                     [](const Culprit& a, const Culprit& b) { return a.seconds > b.seconds; });
    if (seen.size() > culprits_max) seen.resize(culprits_max);
    query.culprits = std::move(seen);
  }
}

}  // namespace tidemark::service
