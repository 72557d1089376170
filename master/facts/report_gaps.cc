#include "master/facts/report_gaps.h"

#include <algorithm>

namespace tidemark::model {
namespace {

// The limits of Control.flush_interval (ingest_service.proto).
constexpr absl::Duration kShortestInterval = absl::Milliseconds(50);
constexpr absl::Duration kLongestInterval = absl::Seconds(60);
constexpr std::size_t kEnough = 4;

}  // namespace

void ReportGaps::Observe(absl::Duration gap) {
  if (gap < kShortestInterval) return;
  last_[observed_++ % kKept] = std::min(gap, kLongestInterval);
}

std::optional<absl::Duration> ReportGaps::typical() const {
  if (observed_ < kEnough) return std::nullopt;
  auto gaps = last_;
  const auto end = gaps.begin() + static_cast<std::ptrdiff_t>(std::min(observed_, kKept));
  const auto median = gaps.begin() + (end - gaps.begin()) / 2;
  std::nth_element(gaps.begin(), median, end);
  return *median;
}

}  // namespace tidemark::model
