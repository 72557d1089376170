#include "bench/accuracy/group_timer.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "bench/accuracy/thread_clock.h"

namespace tidemark::bench {
namespace {

// Shorter groups run once before the measurement, to warm code, data and allocator.
constexpr double kWarmUpBelow = 1e-2;
// Target duration of a measurement, and its largest number of calls.
constexpr double kTimedSeconds = 5e-6;
constexpr int kCallsMax = 16;
// Reading the clock would disturb shorter calls.
constexpr double kNotingIsFreeFrom = 1e-2;
constexpr std::size_t kCurvePoints = 64;
constexpr double kShortest = 1e-9;

}  // namespace

void GroupProbe::Start(std::uint64_t values_step, std::uint64_t emitted_step) {
  constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
  bytes_read_ = 0;
  values_read_ = 0;
  bytes_emitted_ = 0;
  values_step_ = values_step;
  emitted_step_ = emitted_step;
  next_values_ = values_step == 0 ? kNever : values_step;
  next_emitted_ = emitted_step == 0 ? kNever : emitted_step;
  moments_.clear();
  started_at_ = ThreadSeconds();
}

void GroupProbe::Note() {
  if (values_read_ == next_values_) next_values_ += values_step_;
  if (bytes_emitted_ >= next_emitted_) next_emitted_ = bytes_emitted_ + emitted_step_;
  moments_.push_back(
      {ThreadSeconds() - started_at_,
       {.bytes_read = bytes_read_, .values_read = values_read_, .bytes_emitted = bytes_emitted_}});
}

Curve GroupProbe::CurveUntil(double seconds, std::size_t points) const {
  Curve curve;
  double next = 0;
  for (const Moment& moment : moments_) {
    const double share = moment.seconds / seconds;
    if (share < next || share <= 0 || share >= 1) continue;
    curve.push_back(moment.counters);
    curve.back().elapsed_share = static_cast<float>(share);
    next = share + 1 / static_cast<double>(points);
  }
  curve.push_back({.elapsed_share = 1,
                   .bytes_read = bytes_read_,
                   .values_read = values_read_,
                   .bytes_emitted = bytes_emitted_});
  return curve;
}

GroupTimer::GroupTimer(examples::Job& job)
    : job_(job),
      output_(std::move(*examples::OpenSink(examples::OutputKind::kCount, "")),
              [this](std::uint64_t bytes) { probe_.BytesEmitted(bytes); }) {
  constexpr int kLooks = 1001;
  std::array<double, kLooks> looks{};
  for (double& look : looks) {
    const double before = ThreadSeconds();
    look = ThreadSeconds() - before;
  }
  std::nth_element(looks.begin(), looks.begin() + kLooks / 2, looks.end());
  clock_seconds_ = looks[kLooks / 2];
}

absl::Status GroupTimer::Reduce(GroupRecords& group) {
  group.Rewind();
  examples::KeyGroups groups(group, &probe_);
  groups.NextGroup();
  absl::Status reduced = job_.Reduce(groups.key(), groups, output_);
  if (!reduced.ok()) return reduced;
  groups.NextGroup();  // reads the records that the function skipped
  output_.ReportEmitted();
  return absl::OkStatus();
}

// Returns the seconds of one of the calls, each of which reduces all groups.
absl::StatusOr<double> GroupTimer::Call(std::span<GroupRecords> groups, int calls) {
  const double before = ThreadSeconds();
  for (int i = 0; i < calls; ++i) {
    for (GroupRecords& group : groups) {
      if (absl::Status reduced = Reduce(group); !reduced.ok()) return reduced;
    }
  }
  const double seconds = ThreadSeconds() - before - clock_seconds_;
  return std::max(seconds / calls, kShortest);
}

absl::StatusOr<double> GroupTimer::TimeTogether(std::span<GroupRecords> groups) {
  probe_.Start(0, 0);
  return Call(groups, 1);
}

absl::StatusOr<GroupTimer::Times> GroupTimer::Time(GroupRecords& group) {
  Times times;
  probe_.Start(0, 0);
  absl::StatusOr<double> seconds = Call(group, 1);
  if (!seconds.ok()) return seconds.status();
  times.emitted_bytes = probe_.bytes_emitted();
  if (*seconds < kWarmUpBelow) {
    seconds = Call(group, std::clamp(static_cast<int>(kTimedSeconds / *seconds), 1, kCallsMax));
    if (!seconds.ok()) return seconds.status();
  }
  times.seconds = *seconds;
  return times;
}

absl::StatusOr<GroupTimer::Times> GroupTimer::TimeAndDraw(GroupRecords& group,
                                                          std::uint64_t emitted_bytes) {
  probe_.Start(group.count() / kCurvePoints + 1, emitted_bytes / kCurvePoints + 1);
  absl::StatusOr<double> seconds = Call(group, 1);
  if (!seconds.ok()) return seconds.status();
  Times times{.seconds = *seconds,
              .emitted_bytes = emitted_bytes,
              .curve = probe_.CurveUntil(*seconds, kCurvePoints)};
  if (*seconds >= kNotingIsFreeFrom) return times;
  absl::StatusOr<Times> timed = Time(group);
  if (!timed.ok()) return timed.status();
  times.seconds = timed->seconds;
  return times;
}

}  // namespace tidemark::bench
