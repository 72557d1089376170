#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "master/facts/fold.h"
#include "master/facts/phases.h"
#include "streaming/size_histogram.h"

namespace tidemark::facts {
namespace {

// A key group matches an unnamed explicit key if their sizes differ by at most this fraction. In
// our study, 5 % to 20 % gave equal errors, and 0 gave the largest error.
constexpr double kCloseness = 0.05;

// Time constant of the recent processor share, which spans a few reports. Chosen by hand.
constexpr absl::Duration kShareDecay = absl::Seconds(3);

constexpr std::uint64_t kNoneIsNamed = std::numeric_limits<std::uint64_t>::max();

using UnmatchedSizes = std::multimap<std::uint64_t, KeyHash>;

// Returns processor_share x `time`. Skips the multiplication if possible, since it costs as much as
// all other work for a point.
absl::Duration Alone(absl::Duration time, double processor_share) {
  return processor_share == 1 ? time : processor_share * time;
}

// Returns the share of the time since the last profile in which the attempt did not wait for a
// processor. All parts of a profile report the same processor use.
double UpdateProcessorUse(const ReduceProfile& profile, ReduceWork& work) {
  if (!profile.processor_use) return work.alone_share_at_last;
  const ProcessorUse& now = *profile.processor_use;
  const ProcessorUse before = work.processor_use.value_or(ProcessorUse{});
  const absl::Duration watched = now.watched - before.watched;
  if (watched <= absl::ZeroDuration()) return work.alone_share_at_last;
  const absl::Duration waited =
      std::clamp(now.waited - before.waited, absl::ZeroDuration(), watched);
  const double share = std::max(kShareMin, 1 - absl::FDivDuration(waited, watched));
  const double kept = work.processor_use ? std::exp(-absl::FDivDuration(watched, kShareDecay)) : 0;
  work.processor_share = kept * work.processor_share + (1 - kept) * share;
  work.processor_use = now;
  work.alone_share_at_last = share;
  return share;
}

// For the key groups finished since the last profile, returns the share of their time in which the
// attempt did not wait. The group that was running at the last profile includes its earlier time.
double AloneShareOfFinished(const ReduceProfile& profile, double processor_share,
                            const ReduceWork& before) {
  const absl::Duration reduced = profile.reduce_time - before.reduce_time;
  if (reduced <= absl::ZeroDuration()) return before.alone_share_of_finished;
  if (!before.running_group || profile.groups_done <= before.groups_done) return processor_share;
  const absl::Duration since =
      std::max(reduced - before.running_group_elapsed, absl::ZeroDuration());
  const absl::Duration alone = before.running_group->elapsed + processor_share * since;
  return std::clamp(absl::FDivDuration(alone, reduced), kShareMin, 1.0);
}

void UpdateTotals(const ReduceProfile& profile, TaskAttempt& attempt, JobRecord& state) {
  ReduceWork& work = *attempt.reduce;
  if (profile.groups_done < work.groups_done || profile.bytes_done < attempt.bytes_done ||
      profile.reduce_time < work.reduce_time) {
    ++state.anomalies;
  }
  work.reduce_time_alone += work.alone_share_of_finished *
                            std::max(profile.reduce_time - work.reduce_time, absl::ZeroDuration());
  work.groups_done = std::max(work.groups_done, profile.groups_done);
  attempt.bytes_done = std::max(attempt.bytes_done, profile.bytes_done);
  work.reduce_time = std::max(work.reduce_time, profile.reduce_time);
  work.dropped_points = std::max(work.dropped_points, profile.dropped_points);
}

// Returns the running group with its time alone. The time alone is summed over reports, since each
// report has its own share.
std::optional<RunningGroup> RunningAlone(const ReduceProfile& profile, double processor_share,
                                         const ReduceWork& before) {
  std::optional<RunningGroup> running = profile.running_group;
  if (!running) return running;
  const bool is_same = before.running_group && before.groups_done == profile.groups_done &&
                       running->elapsed >= before.running_group_elapsed;
  const absl::Duration counted = is_same ? before.running_group_elapsed : absl::ZeroDuration();
  const absl::Duration alone = is_same ? before.running_group->elapsed : absl::ZeroDuration();
  running->elapsed =
      alone + processor_share * std::max(running->elapsed - counted, absl::ZeroDuration());
  return running;
}

void UpdateInstants(const ReduceProfile& profile, const ClockOffset& clock, absl::Time arrived_at,
                    absl::Time job_started_at, TaskAttempt& attempt) {
  ReduceWork& work = *attempt.reduce;
  work.running_group_seen_at = arrived_at;
  if (!profile.last_group_finished_at) return;
  const absl::Time finished_at = clock.ToMasterClock(*profile.last_group_finished_at, arrived_at);
  work.last_group_finished_at =
      std::max(work.last_group_finished_at.value_or(finished_at), finished_at);
  // Some engines never report the end of the shuffle.
  if (!work.reduce_started_at) {
    work.reduce_started_at = std::max(finished_at - work.reduce_time,
                                      attempt.life.started_at().value_or(job_started_at));
  }
}

// Returns the explicit keys that may still be retired. Rebuilds them after a late map profile.
UnmatchedSizes& UnmatchedSizesOf(ReduceWork& work, const PartitionKeys& keys,
                                 std::size_t profile_count) {
  if (work.unmatched_as_of != profile_count) {
    work.unmatched_as_of = profile_count;
    work.unmatched_explicit.clear();
    for (const ExplicitKey& key : keys.explicit_keys) {
      if (work.finished_explicit.contains(key.key)) continue;
      work.unmatched_explicit.emplace(key.size_bytes, key.key);
    }
  }
  return work.unmatched_explicit;
}

// Returns the nearest explicit size if it differs by at most `closeness` times `size_bytes`,
// otherwise left.end().
UnmatchedSizes::iterator Closest(std::uint64_t size_bytes, double closeness, UnmatchedSizes& left) {
  const auto distance = [&](UnmatchedSizes::iterator it) {
    return it == left.end()
               ? HUGE_VAL
               : std::abs(static_cast<double>(it->first) - static_cast<double>(size_bytes));
  };
  const auto above = left.lower_bound(size_bytes);
  const auto below = above == left.begin() ? left.end() : std::prev(above);
  const auto nearest = distance(below) <= distance(above) ? below : above;
  return distance(nearest) <= closeness * static_cast<double>(size_bytes) ? nearest : left.end();
}

// Retires explicit keys below `named_from_bytes` by closeness of size ([NF] 5.2). Retired groups no
// longer count as implicit.
void RetireByCloseness(const GroupPoint& point, double closeness, std::uint64_t named_from_bytes,
                       double processor_share, UnmatchedSizes& left, ReduceWork& work,
                       JobRecord& state) {
  std::uint64_t retired = 0;
  while (retired < point.count) {
    const auto match = Closest(point.size_bytes, closeness, left);
    if (match == left.end() || match->first >= named_from_bytes) break;
    const KeyHash key = match->second;
    left.erase(match);
    if (!work.finished_explicit.insert(key).second) continue;
    work.finished_explicit_groups.push_back(
        {key, point.size_bytes, Alone(point.mean_time(), processor_share), 0});
    ++retired;
  }
  if (retired > 0) state.implicit_sizes.RemoveSizes(point.size_bytes, retired);
}

// Returns the unnamed key groups of each bin, as groups of their mean size.
std::vector<GroupPoint> UnnamedOf(const ReduceProfile& profile) {
  streaming::SizeHistogram named;
  if (profile.keys_named) {
    for (const FinishedKey& key : profile.finished_keys) {
      named.Add(key.size_bytes, 1, absl::ZeroDuration());
    }
  }
  const std::vector<GroupBin> named_bins = named.bins();
  std::vector<GroupPoint> unnamed;
  for (const GroupBin& bin : profile.bins) {
    const auto known = std::lower_bound(
        named_bins.begin(), named_bins.end(), bin.bin,
        [](const GroupBin& each, std::uint32_t number) { return each.bin < number; });
    const bool has_named = known != named_bins.end() && known->bin == bin.bin;
    const GroupBin known_bin = has_named ? *known : GroupBin{};
    if (known_bin.count >= bin.count || known_bin.size_bytes > bin.size_bytes) continue;
    const std::uint64_t count = bin.count - known_bin.count;
    const double share = static_cast<double>(count) / static_cast<double>(bin.count);
    unnamed.push_back({(bin.size_bytes - known_bin.size_bytes) / count, count,
                       share * absl::Seconds(bin.seconds)});
  }
  return unnamed;
}

// Returns the size from which the profile names all key groups, or 0 if it names all explicit keys.
// A source that names fewer groups than requested leaves explicit keys unnamed.
std::uint64_t NamedFromBytes(const ReduceProfile& profile, const KeyDistribution& keys) {
  if (!profile.keys_named) return kNoneIsNamed;
  if (profile.named_group_bytes_min <= keys.recent_smallest_explicit_bytes()) return 0;
  return profile.named_group_bytes_min;
}

void RetireByIdentity(const ReduceProfile& profile, double processor_share, ReduceWork& work,
                      JobRecord& state) {
  for (const FinishedKey& finished : profile.finished_keys) {
    if (!state.keys.IsExplicit(profile.attempt.index, finished.key)) {
      if (state.keys.sample().Contains(finished.key)) work.finished_sampled.insert(finished.key);
      continue;
    }
    if (!work.finished_explicit.insert(finished.key).second) continue;
    work.finished_explicit_groups.push_back(finished);
    work.finished_explicit_groups.back().time = Alone(finished.time, processor_share);
    state.implicit_sizes.RemoveSizes(finished.size_bytes, 1);
  }
}

}  // namespace

void FoldReduceProfile(const ReduceProfile& profile, const ClockOffset& clock,
                       absl::Time arrived_at, TaskAttempt& attempt, FinishedGroups& groups,
                       JobRecord& state) {
  ReduceWork& work = *attempt.reduce;
  const double share_since_last = UpdateProcessorUse(profile, work);
  const double processor_share = AloneShareOfFinished(profile, share_since_last, work);
  work.alone_share_of_finished = processor_share;
  work.running_group = RunningAlone(profile, share_since_last, work);
  work.running_group_elapsed =
      profile.running_group ? profile.running_group->elapsed : absl::ZeroDuration();
  const bool has_read_more = profile.bytes_done > attempt.bytes_done;
  UpdateTotals(profile, attempt, state);
  UpdateInstants(profile, clock, arrived_at, state.started_at, attempt);
  if (has_read_more) attempt.progressed_at = work.last_group_finished_at.value_or(arrived_at);
  const PartitionKeys& keys = state.keys.partition(profile.attempt.index);
  streaming::SizeHistogram& bins = work.is_cold() ? groups.cold_bins : groups.bins;
  for (GroupBin bin : profile.bins) {
    bin.seconds *= processor_share;
    bin.seconds_squared *= processor_share * processor_share;
    bins.Add(bin);
    work.reported_bytes += static_cast<double>(bin.size_bytes);
    state.implicit_sizes.Add({.bin = bin.bin, .count = bin.count, .size_bytes = bin.size_bytes});
  }
  work.sends_bins |= !profile.bins.empty();
  const std::uint64_t named_from_bytes = NamedFromBytes(profile, state.keys);
  const auto retire = [&](const GroupPoint& point, double closeness) {
    if (point.size_bytes >= named_from_bytes) return;
    RetireByCloseness(point, closeness, named_from_bytes, processor_share,
                      UnmatchedSizesOf(work, keys, state.keys.profile_count()), work, state);
  };
  for (const GroupPoint& point : profile.points) {
    groups.points.Add(point);
    // Some engines send no bins.
    if (!work.sends_bins) {
      work.reported_bytes +=
          static_cast<double>(point.size_bytes) * static_cast<double>(point.count);
      bins.Add(point.size_bytes, point.count, Alone(point.total_time, processor_share));
      state.implicit_sizes.Add(point.size_bytes, point.count, absl::ZeroDuration());
    }
    retire(point, kCloseness);
  }
  // Points, which the master may request, have more precise sizes than bins.
  if (profile.points.empty() && named_from_bytes > 0) {
    // Only the mean size of a bin is known. The sizes differ from the mean by at most the bin's
    // width.
    static const double width = std::exp2(1.0 / streaming::kBinsPerOctave) - 1;
    for (const GroupPoint& point : UnnamedOf(profile)) retire(point, width);
  }
  if (!profile.points.empty()) ++groups.points_version;
  if (profile.keys_named) RetireByIdentity(profile, processor_share, work, state);
}

void KeepColdBins(Task& task) {
  const TaskAttempt* const attempt = task.finished_attempt();
  if (attempt == nullptr || !attempt->reduce->is_cold() || !task.groups) return;
  task.groups->bins.Merge(std::exchange(task.groups->cold_bins, {}));
}

}  // namespace tidemark::facts
