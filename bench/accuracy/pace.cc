#include "bench/accuracy/pace.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "bench/accuracy/thread_clock.h"

namespace tidemark::bench {
namespace {

// Enough time for a good measurement with few key groups.
constexpr double kKnownSeconds = 30e-6;
constexpr std::size_t kKnownMax = 1000;
// A reading is the best of this number of calls, to avoid interrupts, ...
constexpr int kCalls = 3;
// ... and takes this share of the time.
constexpr double kShareOfTime = 0.03;
// Share of readings that are better than the machine's best speed.
constexpr double kBestQuantile = 0.05;
// A reading counts as the median of this number of neighbours.
constexpr std::size_t kSmoothedOver = 5;

double Quantile(std::vector<double> values, double share) {
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size()));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// Removes single disturbed readings.
std::vector<double> Smooth(const std::vector<double>& readings) {
  std::vector<double> smooth;
  smooth.reserve(readings.size());
  for (std::size_t i = 0; i < readings.size(); ++i) {
    const std::size_t begin = i < kSmoothedOver / 2 ? 0 : i - kSmoothedOver / 2;
    const std::size_t end = std::min(i + kSmoothedOver / 2 + 1, readings.size());
    smooth.push_back(Quantile({readings.begin() + static_cast<std::ptrdiff_t>(begin),
                               readings.begin() + static_cast<std::ptrdiff_t>(end)},
                              0.5));
  }
  return smooth;
}

}  // namespace

void Pace::Offer(const GroupRecords& group, double seconds) {
  if (known_seconds_ >= kKnownSeconds || known_.size() == kKnownMax) return;
  known_.push_back(group);
  known_seconds_ += seconds;
}

absl::Status Pace::Note(std::size_t pass, std::uint32_t next_group) {
  if (known_.empty() || (known_seconds_ < kKnownSeconds && known_.size() < kKnownMax)) {
    return absl::OkStatus();
  }
  const double before = ThreadSeconds();
  if (before < next_at_) return absl::OkStatus();
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kCalls; ++i) {
    absl::StatusOr<double> seconds = timer_.TimeTogether(known_);
    if (!seconds.ok()) return seconds.status();
    least = std::min(least, *seconds);
  }
  next_groups_.emplace_back(pass, next_group);
  seconds_.push_back(least);
  const double now = ThreadSeconds();
  next_at_ = now + (now - before) / kShareOfTime;
  return absl::OkStatus();
}

double Pace::Correct(std::vector<std::vector<float>>& seconds) const {
  if (seconds_.empty()) return 1;
  const std::vector<double> smooth = Smooth(seconds_);
  const double best = Quantile(smooth, kBestQuantile);
  double worst = 1;
  std::size_t after = 0;  // the first reading after the group
  for (std::size_t pass = 0; pass < seconds.size(); ++pass) {
    for (std::uint32_t group = 0; group < seconds[pass].size(); ++group) {
      while (after < smooth.size() && next_groups_[after] <= std::pair(pass, group)) ++after;
      const double last = smooth[after == 0 ? 0 : after - 1];
      const double next = smooth[std::min(after, smooth.size() - 1)];
      const double slowdown = std::max((last + next) / 2 / best, 1.0);
      worst = std::max(worst, slowdown);
      float& time = seconds[pass][group];
      time = static_cast<float>(time / slowdown);
    }
  }
  return worst;
}

}  // namespace tidemark::bench
