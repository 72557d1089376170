// Measures the summary of heavy keys. Reports the cost of merging map profiles, the cost of an
// update compared with an exact hash map, and the accuracy of the heaviest keys
// (docs/internals/summaries.md).
//
// Keys are drawn from a Zipf distribution over ten million keys, and sizes from a log-normal
// distribution. `./dev bench streaming` runs summary and map in random turns.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "bench/zipf.h"
#include "master/facts/fold.h"
#include "master/facts/job_record.h"
#include "streaming/space_saving.h"
#include "tidemark/event.h"

namespace tidemark::bench {
namespace {

constexpr std::size_t kCapacity = 70'000;  // capacity for a job with the default lambda
constexpr std::uint32_t kLambda = 2000;
constexpr std::uint64_t kKeys = 10'000'000;
constexpr std::uint32_t kPartitions = 100;
constexpr std::size_t kTop = 2000;
// A longer stream repeats the pool. By then, the summary has dropped all but the heaviest keys.
constexpr std::size_t kProfilesInPool = 2000;
constexpr std::size_t kProfiles = 50'000;
constexpr std::size_t kUpdates = 20'000'000;

using Exact = absl::flat_hash_map<KeyHash, std::uint64_t>;
using Pairs = std::vector<ExplicitKey>;

// Converts ranks to hashes, so that the order of hashes is independent of the weights.
KeyHash HashOfRank(std::uint64_t rank) {
  rank *= 0x9E3779B97F4A7C15;
  return KeyHash{(rank ^ (rank >> 32)) * 0xD6E8FEB86659FD93};
}

std::uint64_t RandomSize(std::mt19937_64& random) {
  std::lognormal_distribution<double> size(6, 1);
  return static_cast<std::uint64_t>(size(random)) + 1;
}

// --- profiles of 2,000 explicit keys
// --------------------------------------------------------------

// Selects the keys of a profile. They are either distinct and mostly new to the summary, or 2,000
// draws with repetitions. The heavy keys among the draws are as frequent as in the stream of single
// updates.
enum class Draws { kRepeating, kDistinct };

MapProfile RandomProfile(Draws draws, std::mt19937_64& random) {
  Zipf zipf(1.1, kKeys);
  MapProfile profile;
  profile.partitions.resize(kPartitions);
  for (std::uint32_t i = 0; i < kPartitions; ++i) profile.partitions[i].partition = i;
  std::unordered_set<std::uint64_t> drawn;
  for (std::uint32_t named = 0; named < kLambda;) {
    const std::uint64_t rank = zipf(random);
    if (draws == Draws::kDistinct && !drawn.insert(rank).second) continue;
    ++named;
    PartitionProfile& partition = profile.partitions[rank % kPartitions];
    partition.explicit_keys.push_back({HashOfRank(rank), RandomSize(random)});
    partition.total_bytes += partition.explicit_keys.back().size_bytes;
  }
  for (PartitionProfile& partition : profile.partitions) {
    std::sort(partition.explicit_keys.begin(), partition.explicit_keys.end(),
              [](const auto& a, const auto& b) { return a.size_bytes > b.size_bytes; });
  }
  return profile;
}

const std::vector<MapProfile>& Profiles(Draws draws) {
  const auto make = [](Draws which) {
    std::mt19937_64 random(2);
    std::vector<MapProfile> pool;
    for (std::size_t i = 0; i < kProfilesInPool; ++i) pool.push_back(RandomProfile(which, random));
    return pool;
  };
  static const std::vector<MapProfile> repeating = make(Draws::kRepeating);
  static const std::vector<MapProfile> distinct = make(Draws::kDistinct);
  return draws == Draws::kRepeating ? repeating : distinct;
}

// Calls `take(partition)` for every partition of a long stream of profiles.
template <typename Take>
void ForEachPartition(Draws draws, const Take& take) {
  const std::vector<MapProfile>& pool = Profiles(draws);
  for (std::size_t i = 0; i < kProfiles; ++i) {
    for (const PartitionProfile& partition : pool[i % pool.size()].partitions) take(partition);
  }
}

void ReportPer(benchmark::State& state, const char* what, double count) {
  state.counters[what] =
      benchmark::Counter(count * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
void ReportPerPair(benchmark::State& state) {
  ReportPer(state, "per_pair", static_cast<double>(kProfiles) * kLambda);
}

void BM_MergeProfiles(benchmark::State& state, Draws draws) {
  Profiles(draws);
  for (auto _ : state) {
    auto summary = *streaming::SpaceSaving<>::Create(kCapacity);
    ForEachPartition(draws, [&](const PartitionProfile& partition) {
      summary.OfferAll(partition.explicit_keys, [](const ExplicitKey&, const auto*) {});
    });
  }
  ReportPerPair(state);
}

void BM_CountProfiles(benchmark::State& state, Draws draws) {
  Profiles(draws);
  for (auto _ : state) {
    Exact sizes;
    ForEachPartition(draws, [&](const PartitionProfile& partition) {
      for (const ExplicitKey& key : partition.explicit_keys) sizes[key.key] += key.size_bytes;
    });
  }
  ReportPerPair(state);
}

// Measures what a live master does with a profile after parsing. The profile arrives first, and
// then the end of its task.
void BM_ApplyProfiles(benchmark::State& state, Draws draws) {
  const std::vector<MapProfile>& pool = Profiles(draws);
  for (auto _ : state) {
    facts::JobRecord job(kLambda);
    Event event{.job_id = "job", .source_id = "source", .sequence = 0};
    event.sent_at = event.arrived_at = absl::UnixEpoch();
    const auto apply = [&](EventBody body) {
      event.body = std::move(body);
      ++event.sequence;
      // A rejected event would be cheaper.
      if (!facts::Apply(event, JobLimits(), job).ok()) std::abort();
    };
    apply(JobOpened{.stages = MapReduceStages(kProfiles, kPartitions)});
    for (std::uint32_t i = 0; i < kProfiles; ++i) {
      state.PauseTiming();  // Its arrival as an event is not measured.
      MapProfile profile = pool[i % pool.size()];
      profile.attempt.index = i;
      state.ResumeTiming();
      const AttemptId attempt = profile.attempt;
      apply(std::move(profile));
      apply(AttemptChanged{.attempt = attempt, .state = AttemptState::kFinished});
    }
    if (job.keys.profile_count() != kProfiles) std::abort();
  }
  ReportPerPair(state);
}

// --- single updates
// -------------------------------------------------------------------------------

const Pairs& RandomPairs(double skew) {
  static std::pair<double, Pairs> latest;
  if (latest.first == skew) return latest.second;
  std::mt19937_64 random(1);
  Zipf zipf(skew, kKeys);
  Pairs pairs(kUpdates);
  for (ExplicitKey& pair : pairs) pair = {HashOfRank(zipf(random)), RandomSize(random)};
  latest = {skew, std::move(pairs)};
  return latest.second;
}

void BM_OfferPairs(benchmark::State& state, double skew) {
  const Pairs& pairs = RandomPairs(skew);
  for (auto _ : state) {
    auto summary = *streaming::SpaceSaving<>::Create(kCapacity);
    for (const ExplicitKey& pair : pairs) summary.Offer(pair.key, pair.size_bytes);
  }
  ReportPer(state, "per_update", kUpdates);
}

void BM_CountPairs(benchmark::State& state, double skew) {
  const Pairs& pairs = RandomPairs(skew);
  for (auto _ : state) {
    Exact sizes;
    for (const ExplicitKey& pair : pairs) sizes[pair.key] += pair.size_bytes;
  }
  ReportPer(state, "per_update", kUpdates);
}

// --- what is known at the end
// ---------------------------------------------------------------------

Pairs Heaviest(const Pairs& pairs) {
  Exact sizes;
  for (const ExplicitKey& pair : pairs) sizes[pair.key] += pair.size_bytes;
  Pairs all;
  for (const auto& [key, size] : sizes) all.push_back({key, size});
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(kTop, all.size()));
  std::partial_sort(all.begin(), end, all.end(), [](const auto& a, const auto& b) {
    return a.size_bytes != b.size_bytes ? a.size_bytes > b.size_bytes : a.key < b.key;
  });
  all.erase(end, all.end());
  return all;
}

// Reports errors relative to the true size. A key that is not tracked has an error of 1.
void ReportErrors(benchmark::State& state, const std::string& name, std::vector<double> errors) {
  double sum = 0;
  for (const double error : errors) sum += error;
  std::sort(errors.begin(), errors.end());
  state.counters[name + "_mean"] = sum / static_cast<double>(errors.size());
  state.counters[name + "_p99"] = errors[errors.size() * 99 / 100];
}

// Measures the accuracy of the 2,000 heaviest keys. The pairs arrive in random order or grouped by
// key. Uses no clock.
void BM_Accuracy(benchmark::State& state, double skew, bool is_grouped) {
  Pairs pairs = RandomPairs(skew);
  const Pairs truth = Heaviest(pairs);
  if (is_grouped) {
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const auto& a, const auto& b) { return a.key < b.key; });
  }
  auto summary = *streaming::SpaceSaving<>::Create(kCapacity);
  for (auto _ : state) {
    for (const ExplicitKey& pair : pairs) summary.Offer(pair.key, pair.size_bytes);
  }
  std::unordered_set<std::uint64_t> named;
  for (const streaming::WatchedKey& key : summary.Top(kTop)) {
    named.insert(static_cast<std::uint64_t>(key.key));
  }
  double recalled = 0;
  double watched_of_truth = 0;
  std::vector<double> guaranteed, upper, middle;
  for (const ExplicitKey& key : truth) {
    recalled += named.contains(static_cast<std::uint64_t>(key.key)) ? 1 : 0;
    const auto watched = summary.Find(key.key);
    watched_of_truth += watched ? 1 : 0;
    const auto size = static_cast<double>(key.size_bytes);
    const auto low = watched ? static_cast<double>(watched->guaranteed_bytes()) : 0;
    const auto high = watched ? static_cast<double>(watched->count_bytes) : 0;
    guaranteed.push_back(std::abs(low - size) / size);
    upper.push_back(std::abs(high - size) / size);
    middle.push_back(std::abs((low + high) / 2 - size) / size);
  }
  const auto count = static_cast<double>(truth.size());
  state.counters["recall_of_top"] = recalled / count;
  state.counters["watched_of_top"] = watched_of_truth / count;
  ReportErrors(state, "error_guaranteed", std::move(guaranteed));
  ReportErrors(state, "error_upper", std::move(upper));
  ReportErrors(state, "error_middle", std::move(middle));
}

#define TIDEMARK_ON_PROFILES(name)                                      \
  BENCHMARK_CAPTURE(name, repeating, Draws::kRepeating)->Iterations(1); \
  BENCHMARK_CAPTURE(name, distinct, Draws::kDistinct)->Iterations(1)
TIDEMARK_ON_PROFILES(BM_MergeProfiles);
TIDEMARK_ON_PROFILES(BM_CountProfiles);
TIDEMARK_ON_PROFILES(BM_ApplyProfiles);

#define TIDEMARK_ON_PAIRS(name, skew)                                                              \
  BENCHMARK_CAPTURE(BM_OfferPairs, name, skew)->Iterations(1);                                     \
  BENCHMARK_CAPTURE(BM_CountPairs, name, skew)->Iterations(1);                                     \
  BENCHMARK_CAPTURE(BM_Accuracy, name##_random_order, skew, false)->Iterations(1)->Repetitions(1); \
  BENCHMARK_CAPTURE(BM_Accuracy, name##_grouped_by_key, skew, true)->Iterations(1)->Repetitions(1)
TIDEMARK_ON_PAIRS(zipf_1_1, 1.1);
TIDEMARK_ON_PAIRS(zipf_0_8, 0.8);

}  // namespace
}  // namespace tidemark::bench

BENCHMARK_MAIN();
