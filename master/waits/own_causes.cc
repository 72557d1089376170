#include "master/waits/own_causes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tidemark::waits {
namespace {

// The smallest growth that is reported, as a share of the past input. Chosen by hand.
constexpr double kMarkedGrowth = 0.1;

bool IsPositive(double value) { return std::isfinite(value) && value > 0; }

void AddLimit(const std::optional<double>& more, std::optional<double>& sum) {
  if (more && sum) {
    *sum += *more;
  } else {
    sum.reset();
  }
}

}  // namespace

std::optional<PastBytes> PastBytesOf(std::vector<double> bytes) {
  std::erase_if(bytes, [](double each) { return !IsPositive(each); });
  if (bytes.empty()) return std::nullopt;
  std::sort(bytes.begin(), bytes.end());
  const std::size_t n = bytes.size();
  return PastBytes{.least = bytes.front(),
                   .median = bytes[(n - 1) / 2] / 2 + bytes[n / 2] / 2,
                   .most = bytes.back(),
                   .is_one = n == 1};
}

std::optional<DataGrowth> GrowthOf(double task_seconds, double bytes, const PastBytes& past) {
  if (!IsPositive(task_seconds) || !IsPositive(bytes)) return std::nullopt;
  const double more = bytes - past.median;
  if (more < kMarkedGrowth * past.median || more <= past.most - past.least) {
    return std::nullopt;
  }
  const auto beyond = [&](double past_bytes) { return task_seconds * (1 - past_bytes / bytes); };
  DataGrowth growth = {
      .task_seconds = beyond(past.median), .read_bytes = bytes, .earlier_read_bytes = past.median};
  if (past.is_one) return growth;
  growth.task_seconds_lower = beyond(past.most);
  growth.task_seconds_upper = beyond(past.least);
  return growth;
}

void Add(const DataGrowth& more, DataGrowth& sum) {
  sum.task_seconds += more.task_seconds;
  AddLimit(more.task_seconds_lower, sum.task_seconds_lower);
  AddLimit(more.task_seconds_upper, sum.task_seconds_upper);
  sum.read_bytes += more.read_bytes;
  sum.earlier_read_bytes += more.earlier_read_bytes;
}

LongestGroup LongestGroupOf(const ReduceProfile& profile) {
  LongestGroup longest;
  const auto compare = [&](std::uint64_t size_bytes, absl::Duration time) {
    if (time > longest.time && time != absl::InfiniteDuration()) longest = {size_bytes, time};
  };
  for (const FinishedKey& key : profile.finished_keys) compare(key.size_bytes, key.time);
  for (const GroupPoint& point : profile.points) {
    if (point.count == 1) compare(point.size_bytes, point.total_time);
  }
  for (const GroupBin& bin : profile.bins) {
    if (bin.count == 1) compare(bin.size_bytes, absl::Seconds(bin.seconds));
  }
  return longest;
}

}  // namespace tidemark::waits
