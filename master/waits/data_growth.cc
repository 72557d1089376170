#include "master/waits/data_growth.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tidemark::blame {
namespace {

// Of what was read before: less is not worth a word. Taste.
constexpr double kMarkedGrowth = 0.1;

bool IsAmount(double value) { return std::isfinite(value) && value > 0; }

void AddLimit(const std::optional<double>& more, std::optional<double>& sum) {
  if (more && sum) {
    *sum += *more;
  } else {
    sum.reset();
  }
}

}  // namespace

std::optional<EarlierBytes> EarlierBytesOf(std::vector<double> bytes) {
  std::erase_if(bytes, [](double each) { return !IsAmount(each); });
  if (bytes.empty()) return std::nullopt;
  std::sort(bytes.begin(), bytes.end());
  const std::size_t n = bytes.size();
  return EarlierBytes{.least = bytes.front(),
                      .median = bytes[(n - 1) / 2] / 2 + bytes[n / 2] / 2,
                      .most = bytes.back(),
                      .is_one = n == 1};
}

std::optional<DataGrowth> GrowthOf(double task_seconds, double bytes, const EarlierBytes& earlier) {
  if (!IsAmount(task_seconds) || !IsAmount(bytes)) return std::nullopt;
  const double more = bytes - earlier.median;
  if (more < kMarkedGrowth * earlier.median || more <= earlier.most - earlier.least) {
    return std::nullopt;
  }
  const auto beyond = [&](double before) { return task_seconds * (1 - before / bytes); };
  DataGrowth growth = {.task_seconds = beyond(earlier.median),
                       .read_bytes = bytes,
                       .earlier_read_bytes = earlier.median};
  if (earlier.is_one) return growth;
  growth.task_seconds_lower = beyond(earlier.most);
  growth.task_seconds_upper = beyond(earlier.least);
  return growth;
}

void Add(const DataGrowth& more, DataGrowth& sum) {
  sum.task_seconds += more.task_seconds;
  AddLimit(more.task_seconds_lower, sum.task_seconds_lower);
  AddLimit(more.task_seconds_upper, sum.task_seconds_upper);
  sum.read_bytes += more.read_bytes;
  sum.earlier_read_bytes += more.earlier_read_bytes;
}

}  // namespace tidemark::blame
