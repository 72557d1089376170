#include "master/facts/report_times.h"

#include <algorithm>

namespace tidemark::facts {
namespace {

// Threads of a source may send in a different order than they read its clock. Chosen by hand.
constexpr absl::Duration kDisorderMax = absl::Seconds(1);
// Smaller steps of a clock are not detected. Garbage collection delays messages by less than
// kStepBackMin, and an overloaded master by less than kStepForwardMin. Chosen by hand.
constexpr absl::Duration kStepBackMin = absl::Seconds(10);
constexpr absl::Duration kStepForwardMin = absl::Seconds(30);
// The first messages of a source wait for a connection, and a restarting master delays them by
// minutes. A step forward below kLatenessMax therefore counts only if the previous offset has held
// for as long as the step. A larger step counts if the previous offset has held for kHeldMin.
// Chosen by hand.
constexpr absl::Duration kLatenessMax = absl::Minutes(5);
constexpr absl::Duration kHeldMin = absl::Seconds(10);

// The limits of Control.flush_interval (ingest_service.proto).
constexpr absl::Duration kIntervalMin = absl::Milliseconds(50);
constexpr absl::Duration kIntervalMax = absl::Seconds(60);
constexpr std::size_t kGapsMin = 4;

}  // namespace

std::optional<absl::Duration> ClockOffset::Observe(absl::Time sent_at, absl::Time arrived_at) {
  if (sent_at == absl::InfinitePast() || sent_at == absl::InfiniteFuture()) return std::nullopt;
  std::optional<absl::Duration> step;
  const absl::Duration offset = arrived_at - sent_at;
  if (sent_at < last_sent_at_ - kDisorderMax) {
    const absl::Duration passed = std::max(arrived_at - last_arrived_at_, absl::ZeroDuration());
    const absl::Duration back = last_sent_at_ + passed - sent_at;
    if (back >= kStepBackMin) step = -back;
    offset_ = absl::InfiniteDuration();
    learned_since_ = absl::InfiniteFuture();
    before_until_ = absl::InfinitePast();
  } else if (const absl::Duration forward = offset_ - offset;
             forward >= kStepForwardMin &&
             last_arrived_at_ - learned_since_ >= (forward < kLatenessMax ? forward : kHeldMin)) {
    step = forward;
    before_ = offset_;
    before_until_ = last_sent_at_ + std::min(arrived_at - last_arrived_at_, forward / 2);
    learned_since_ = absl::InfiniteFuture();
  }
  learned_since_ = std::min(learned_since_, arrived_at);
  last_sent_at_ = sent_at;
  last_arrived_at_ = arrived_at;
  offset_ = std::min(offset_, offset);
  return step;
}

void ReportGaps::Observe(absl::Duration gap) {
  if (gap < kIntervalMin) return;
  last_[observed_++ % kKept] = std::min(gap, kIntervalMax);
}

std::optional<absl::Duration> ReportGaps::typical() const {
  if (observed_ < kGapsMin) return std::nullopt;
  auto gaps = last_;
  const auto end = gaps.begin() + static_cast<std::ptrdiff_t>(std::min(observed_, kKept));
  const auto median = gaps.begin() + (end - gaps.begin()) / 2;
  std::nth_element(gaps.begin(), median, end);
  return *median;
}

std::optional<absl::Time> SubmittedAt(const JobOpened& opened, absl::Time sent_at) {
  if (!opened.submitted_at) return std::nullopt;
  const bool is_absurd = absl::AbsDuration(sent_at - *opened.submitted_at) > kLongestRun;
  return is_absurd ? std::nullopt : opened.submitted_at;
}

}  // namespace tidemark::facts
