#include "master/model/reduce_fold.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tidemark::model {
namespace {

// How near in size a key group must be to pass for an explicit key that nobody named; 5 % to 20 %
// did equally well in our study, 0 worst.
constexpr double kCloseness = 0.05;

using SizesLeft = std::multimap<std::uint64_t, KeyHash>;

void TakeTotals(const ReduceProfile& profile, ReduceAttempt& attempt, JobState& state) {
  if (profile.groups_done < attempt.groups_done || profile.bytes_done < attempt.bytes_done ||
      profile.reduce_time < attempt.reduce_time) {
    ++state.anomalies;
  }
  attempt.groups_done = std::max(attempt.groups_done, profile.groups_done);
  attempt.bytes_done = std::max(attempt.bytes_done, profile.bytes_done);
  attempt.reduce_time = std::max(attempt.reduce_time, profile.reduce_time);
  attempt.dropped_points = std::max(attempt.dropped_points, profile.dropped_points);
}

void TakeInstants(const ReduceProfile& profile, const ClockOffset& clock, absl::Time arrived_at,
                  absl::Time job_started_at, ReduceAttempt& attempt) {
  attempt.running_group = profile.running_group;
  attempt.running_group_seen_at = arrived_at;
  if (!profile.last_group_finished_at) return;
  const absl::Time finished_at = clock.ToMasterClock(*profile.last_group_finished_at, arrived_at);
  attempt.last_group_finished_at =
      std::max(attempt.last_group_finished_at.value_or(finished_at), finished_at);
  // Engines that never tell the end of the shuffle still have a first reduce function.
  if (!attempt.reduce_started_at) {
    attempt.reduce_started_at = std::max(finished_at - attempt.reduce_time,
                                         attempt.life.started_at().value_or(job_started_at));
  }
}

// Explicit keys that may still be retired; made anew when a map profile came late.
SizesLeft& SizesLeftOf(ReduceAttempt& attempt, const PartitionKeys& keys,
                       std::size_t profile_count) {
  if (attempt.unmatched_as_of != profile_count) {
    attempt.unmatched_as_of = profile_count;
    attempt.unmatched_explicit.clear();
    for (const ExplicitKey& key : keys.explicit_keys) {
      if (attempt.finished_explicit.contains(key.key)) continue;
      attempt.unmatched_explicit.emplace(key.size_bytes, key.key);
    }
  }
  return attempt.unmatched_explicit;
}

// The explicit size nearest to `size_bytes`, if it is close.
SizesLeft::iterator Closest(std::uint64_t size_bytes, SizesLeft& left) {
  const auto distance = [&](SizesLeft::iterator it) {
    return it == left.end()
               ? HUGE_VAL
               : std::abs(static_cast<double>(it->first) - static_cast<double>(size_bytes));
  };
  const auto above = left.lower_bound(size_bytes);
  const auto below = above == left.begin() ? left.end() : std::prev(above);
  const auto nearest = distance(below) <= distance(above) ? below : above;
  return distance(nearest) <= kCloseness * static_cast<double>(size_bytes) ? nearest : left.end();
}

// Retires explicit keys by closeness of size ([NF] 5.2) and says how many of `point` they were.
std::uint64_t RetireByCloseness(const GroupPoint& point, SizesLeft& left, ReduceAttempt& attempt) {
  std::uint64_t retired = 0;
  while (retired < point.count) {
    const auto match = Closest(point.size_bytes, left);
    if (match == left.end()) break;
    attempt.finished_explicit.insert(match->second);
    attempt.finished_explicit_groups.push_back(
        {match->second, point.size_bytes, point.mean_time(), 0});
    left.erase(match);
    ++retired;
  }
  return retired;
}

void RetireByIdentity(const ReduceProfile& profile, ReduceAttempt& attempt, JobState& state) {
  for (const FinishedKey& finished : profile.finished_keys) {
    if (!state.keys.IsExplicit(profile.attempt.index, finished.key)) {
      if (state.keys.sample().Contains(finished.key)) attempt.finished_sampled.insert(finished.key);
      continue;
    }
    if (!attempt.finished_explicit.insert(finished.key).second) continue;
    attempt.finished_explicit_groups.push_back(finished);
    state.implicit_sizes.RemoveSizes(finished.size_bytes, 1);
  }
}

}  // namespace

void FoldReduceProfile(const ReduceProfile& profile, const ClockOffset& clock,
                       absl::Time arrived_at, ReduceAttempt& attempt, ReduceTask& task,
                       JobState& state) {
  TakeTotals(profile, attempt, state);
  TakeInstants(profile, clock, arrived_at, state.started_at, attempt);
  const PartitionKeys& keys = state.keys.partition(profile.attempt.index);
  for (const GroupBin& bin : profile.bins) task.bins.Add(bin);
  attempt.sends_bins |= !profile.bins.empty();
  for (const GroupPoint& point : profile.points) {
    task.points.Add(point);
    attempt.told_bytes += static_cast<double>(point.size_bytes) * static_cast<double>(point.count);
    // Not every engine sends bins.
    if (!attempt.sends_bins) task.bins.Add(point.size_bytes, point.count, point.total_time);
    const std::uint64_t retired =
        profile.keys_named
            ? 0
            : RetireByCloseness(point, SizesLeftOf(attempt, keys, state.keys.profile_count()),
                                attempt);
    if (point.count > retired) {
      state.implicit_sizes.Add(point.size_bytes, point.count - retired, absl::ZeroDuration());
    }
  }
  if (!profile.points.empty()) ++task.points_version;
  if (profile.keys_named) RetireByIdentity(profile, attempt, state);
}

}  // namespace tidemark::model
