#include "bench/accuracy/group_timer.h"

#include <algorithm>
#include <limits>

#include "bench/accuracy/thread_clock.h"
#include "bench/quantile.h"

namespace tidemark::bench {

void GroupRecords::Start(std::string_view key) {
  group_key_ = key;
  bytes_.clear();
  value_ends_.clear();
  Rewind();
}

void GroupRecords::Append(std::string_view value) {
  bytes_.append(value);
  value_ends_.push_back(bytes_.size());
}

void GroupRecords::Rewind() {
  next_ = 0;
  next_begin_ = 0;
}

bool GroupRecords::Next() {
  if (next_ == value_ends_.size()) return false;
  key_ = group_key_;
  value_ = std::string_view(bytes_).substr(next_begin_, value_ends_[next_] - next_begin_);
  next_begin_ = value_ends_[next_++];
  return true;
}

GroupMerge::GroupMerge(std::vector<examples::SegmentReader> map_outputs)
    : readers_(std::move(map_outputs)) {
  for (std::uint32_t i = 0; i < readers_.size(); ++i) {
    if (Advance(i)) Push(i);
  }
}

bool GroupMerge::ComesAfter(std::uint32_t a, std::uint32_t b) const {
  const int order = readers_[a].key().compare(readers_[b].key());
  return order != 0 ? order > 0 : a > b;
}

void GroupMerge::Push(std::uint32_t map_task) {
  heap_.push_back(map_task);
  std::push_heap(heap_.begin(), heap_.end(),
                 [this](std::uint32_t a, std::uint32_t b) { return ComesAfter(a, b); });
}

std::uint32_t GroupMerge::Pop() {
  std::pop_heap(heap_.begin(), heap_.end(),
                [this](std::uint32_t a, std::uint32_t b) { return ComesAfter(a, b); });
  const std::uint32_t map_task = heap_.back();
  heap_.pop_back();
  return map_task;
}

bool GroupMerge::Advance(std::uint32_t map_task) {
  if (readers_[map_task].Next()) return true;
  if (status_.ok()) status_ = readers_[map_task].status();
  return false;
}

bool GroupMerge::Next(GroupRecords& group) {
  parts_.clear();
  if (heap_.empty() || !status_.ok()) return false;
  group.Start(readers_[heap_.front()].key());
  while (!heap_.empty() && readers_[heap_.front()].key() == group.group_key()) {
    const std::uint32_t map_task = Pop();
    examples::SegmentReader& reader = readers_[map_task];
    Part part = {.map_task = map_task};
    bool more = true;
    while (more && reader.key() == group.group_key()) {
      group.Append(reader.value());
      part.size_bytes += examples::RecordBytes(reader.key(), reader.value());
      more = Advance(map_task);
    }
    parts_.push_back(part);
    if (more) Push(map_task);
  }
  return status_.ok();
}

namespace {

// Groups that take less time run once before the measurement, to warm code, data and allocator.
constexpr double kWarmUpBelow = 1e-2;
// Target duration of a measurement, and the maximum number of calls that it consists of.
constexpr double kTimedSeconds = 5e-6;
constexpr int kCallsMax = 16;
// For shorter calls, reading the clock would distort the measurement.
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
  std::vector<double> looks(1001);
  for (double& look : looks) {
    const double before = ThreadSeconds();
    look = ThreadSeconds() - before;
  }
  clock_seconds_ = Median(std::move(looks));
}

absl::Status GroupTimer::Reduce(GroupRecords& group) {
  group.Rewind();
  examples::KeyGroups groups(group, &probe_);
  groups.NextGroup();
  absl::Status reduced = job_.Reduce(groups.key(), groups, output_);
  if (!reduced.ok()) return reduced;
  groups.NextGroup();  // reads the records that the function has not read
  output_.ReportEmitted();
  return absl::OkStatus();
}

// Makes `calls` calls, each of which reduces all groups. Returns the duration of one call in
// seconds.
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

namespace {

// Total duration of the known key groups. It allows a good measurement with few key groups.
constexpr double kKnownSeconds = 30e-6;
constexpr std::size_t kKnownMax = 1000;
// A reading is the fastest of this many calls, which excludes interrupts.
constexpr int kCalls = 3;
// The fraction of the time that readings take.
constexpr double kShareOfTime = 0.03;
// The best speed of the machine is this quantile of the readings.
constexpr double kBestQuantile = 0.05;
// Each reading is replaced by the median of this many neighbours.
constexpr std::size_t kSmoothedOver = 5;

// Replaces each reading by the median of its neighbours, which removes single disturbed readings.
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
  std::size_t after = 0;  // first reading after the group
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
