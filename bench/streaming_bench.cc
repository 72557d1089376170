// The heavy-key summary: what merging map profiles costs, what an update costs beside an exact hash
// map, and how well the heaviest keys are known at the end (docs/summaries.md).
//
// Keys are drawn from a Zipf law over ten million, sizes from a log-normal one. Ours and the peer
// take turns on the same stream. Times are processor times of the thread.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "bench/accuracy/thread_clock.h"
#include "bench/json_report.h"
#include "bench/report.h"
#include "bench/zipf.h"
#include "master/model/fold.h"
#include "master/model/job_state.h"
#include "nlohmann/json.hpp"
#include "streaming/space_saving.h"
#include "tidemark/event.h"

namespace tidemark::bench {
namespace {

constexpr std::size_t kCapacity = 70'000;  // of a job with lambda = 2,000
constexpr std::uint32_t kLambda = 2000;
constexpr std::uint64_t kKeys = 10'000'000;
constexpr std::uint32_t kPartitions = 100;
constexpr std::size_t kTop = 2000;
constexpr std::size_t kProfilesInPool = 2000;

using Exact = absl::flat_hash_map<KeyHash, std::uint64_t>;
using Pairs = std::vector<ExplicitKey>;

// Ranks become hashes, so that the order of hashes tells nothing of the weight.
KeyHash HashOfRank(std::uint64_t rank) {
  rank *= 0x9E3779B97F4A7C15;
  return KeyHash{(rank ^ (rank >> 32)) * 0xD6E8FEB86659FD93};
}

std::uint64_t RandomSize(std::mt19937_64& random) {
  std::lognormal_distribution<double> size(6, 1);
  return static_cast<std::uint64_t>(size(random)) + 1;
}

Pairs RandomPairs(double skew, std::size_t count) {
  std::mt19937_64 random(1);
  Zipf zipf(skew, kKeys);
  Pairs pairs(count);
  for (ExplicitKey& pair : pairs) pair = {HashOfRank(zipf(random)), RandomSize(random)};
  return pairs;
}

// What a map task names, by partition, the heaviest first. kRepeating: 2,000 draws, of which some
// are of one key, so that heavy keys come as often as in the stream of single updates. kDistinct:
// 2,000 different keys, most of them strangers to the summary.
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

std::vector<MapProfile> RandomProfiles(Draws draws) {
  std::mt19937_64 random(2);
  std::vector<MapProfile> pool;
  for (std::size_t i = 0; i < kProfilesInPool; ++i) pool.push_back(RandomProfile(draws, random));
  return pool;
}

double Timed(const std::function<void()>& work) {
  const double start = 1e9 * ThreadSeconds();
  work();
  return 1e9 * ThreadSeconds() - start;
}

// --- merging profiles ---------------------------------------------------------------------------

// A stream longer than the pool goes over it again: all but the heaviest keys have been dropped by
// then, and come as strangers.
void MergeProfiles(const std::vector<MapProfile>& pool, std::size_t count) {
  auto summary = *streaming::SpaceSaving<>::Create(kCapacity);
  for (std::size_t i = 0; i < count; ++i) {
    for (const PartitionProfile& partition : pool[i % pool.size()].partitions) {
      summary.OfferAll(partition.explicit_keys, [](const ExplicitKey&, const auto*) {});
    }
  }
}

void CountProfiles(const std::vector<MapProfile>& pool, std::size_t count) {
  Exact sizes;
  for (std::size_t i = 0; i < count; ++i) {
    for (const PartitionProfile& partition : pool[i % pool.size()].partitions) {
      for (const ExplicitKey& key : partition.explicit_keys) sizes[key.key] += key.size_bytes;
    }
  }
}

// The way of a profile in a live master behind parsing: the profile, then the end of its task.
class FoldedJob {
 public:
  explicit FoldedJob(std::size_t map_tasks) : state_(kLambda) {
    const auto maps = static_cast<std::uint32_t>(map_tasks);
    Fold(JobOpened{.stages = MapReduceStages(maps, kPartitions)});
  }
  void Fold(EventBody body) {
    event_.body = std::move(body);
    Fold();
  }
  // Leaves copying the profile into an event out of the time: it comes as one.
  double TimedFold(const MapProfile& profile, std::uint32_t task) {
    event_.body = profile;
    std::get<MapProfile>(event_.body).attempt.index = task;
    const AttemptId attempt{kMapStage, task, 0};
    const double time = Timed([&] { Fold(); });
    event_.body = AttemptChanged{.attempt = attempt, .state = AttemptState::kFinished};
    return time + Timed([&] { Fold(); });
  }
  const model::JobState& state() const { return state_; }

 private:
  void Fold() {
    ++event_.sequence;
    if (!model::Apply(event_, JobLimits(), state_).ok()) std::abort();  // would measure nothing
  }
  model::JobState state_;
  Event event_{.job_id = "job",
               .source_id = "source",
               .sent_at = absl::UnixEpoch(),
               .arrived_at = absl::UnixEpoch()};
};

double ApplyProfiles(const std::vector<MapProfile>& pool, std::size_t count) {
  FoldedJob job(count);
  double time = 0;
  for (std::size_t i = 0; i < count; ++i) {
    time += job.TimedFold(pool[i % pool.size()], static_cast<std::uint32_t>(i));
  }
  if (job.state().keys.profile_count() != count) std::abort();  // would measure nothing
  return time;
}

nlohmann::json MeasureMerging(Draws draws, const Options& options) {
  const std::vector<MapProfile> pool = RandomProfiles(draws);
  const auto count = static_cast<std::size_t>(std::ceil(50'000 * options.scale));
  const double pairs = static_cast<double>(count) * kLambda;
  Series ours, exact, apply;
  for (int run = 0; run < options.repetitions; ++run) {
    ours.Add(Timed([&] { MergeProfiles(pool, count); }) / pairs);
    exact.Add(Timed([&] { CountProfiles(pool, count); }) / pairs);
    apply.Add(ApplyProfiles(pool, count) / pairs);
  }
  return {{"profiles", count},
          {"keys_per_profile", kLambda},
          {"capacity", kCapacity},
          {"merge_ns_per_pair", ours.ToJson()},
          {"exact_map_ns_per_pair", exact.ToJson()},
          {"apply_ns_per_pair", apply.ToJson()}};
}

// --- single updates -----------------------------------------------------------------------------

nlohmann::json MeasureUpdates(const Pairs& pairs, const Options& options) {
  const auto count = static_cast<double>(pairs.size());
  Series ours, exact, ratio;
  for (int run = 0; run < options.repetitions; ++run) {
    const double exact_time = Timed([&] {
      Exact sizes;
      for (const ExplicitKey& pair : pairs) sizes[pair.key] += pair.size_bytes;
    });
    const double time = Timed([&] {
      auto summary = *streaming::SpaceSaving<>::Create(kCapacity);
      for (const ExplicitKey& pair : pairs) summary.Offer(pair.key, pair.size_bytes);
    });
    ours.Add(time / count);
    exact.Add(exact_time / count);
    ratio.Add(time / exact_time);
  }
  return {{"updates", pairs.size()},
          {"ns_per_update", ours.ToJson()},
          {"exact_map_ns_per_update", exact.ToJson()},
          {"ratio_vs_exact_map", ratio.ToJson()}};
}

// --- what is known at the end -------------------------------------------------------------------

std::vector<ExplicitKey> Heaviest(const Exact& sizes) {
  std::vector<ExplicitKey> all;
  for (const auto& [key, size] : sizes) all.push_back({key, size});
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(kTop, all.size()));
  std::partial_sort(all.begin(), end, all.end(), [](const auto& a, const auto& b) {
    return a.size_bytes != b.size_bytes ? a.size_bytes > b.size_bytes : a.key < b.key;
  });
  all.erase(end, all.end());
  return all;
}

// Errors relative to the true size, of a key that is not watched 1.
nlohmann::json Errors(std::vector<double> errors) {
  double sum = 0;
  for (const double error : errors) sum += error;
  std::sort(errors.begin(), errors.end());
  return {{"mean", sum / static_cast<double>(errors.size())},
          {"p99", errors[errors.size() * 99 / 100]}};
}

nlohmann::json MeasureAccuracy(const Pairs& pairs, const std::vector<ExplicitKey>& truth) {
  auto summary = *streaming::SpaceSaving<>::Create(kCapacity);
  for (const ExplicitKey& pair : pairs) summary.Offer(pair.key, pair.size_bytes);
  absl::flat_hash_map<KeyHash, bool> named;
  for (const streaming::WatchedKey& watched : summary.Top(kTop)) named[watched.key] = true;
  std::size_t recalled = 0, watched_of_truth = 0;
  std::vector<double> guaranteed, upper, middle;
  for (const ExplicitKey& key : truth) {
    recalled += named.contains(key.key) ? 1 : 0;
    const auto watched = summary.Find(key.key);
    watched_of_truth += watched ? 1 : 0;
    const auto error = [&](double estimate) {
      const auto size = static_cast<double>(key.size_bytes);
      return watched ? std::abs(estimate - size) / size : 1;
    };
    const auto found = watched.value_or(streaming::WatchedKey{});
    const auto low = static_cast<double>(found.guaranteed_bytes());
    const auto high = static_cast<double>(found.count_bytes);
    guaranteed.push_back(error(low));
    upper.push_back(error(high));
    middle.push_back(error((low + high) / 2));
  }
  const auto count = static_cast<double>(truth.size());
  return {{"recall_of_top", static_cast<double>(recalled) / count},
          {"watched_of_top", static_cast<double>(watched_of_truth) / count},
          {"error_guaranteed", Errors(guaranteed)},
          {"error_upper", Errors(upper)},
          {"error_middle", Errors(middle)}};
}

nlohmann::json MeasureStream(double skew, const Options& options) {
  Pairs pairs = RandomPairs(skew, static_cast<std::size_t>(std::ceil(20e6 * options.scale)));
  nlohmann::json measured = MeasureUpdates(pairs, options);
  Exact sizes;
  for (const ExplicitKey& pair : pairs) sizes[pair.key] += pair.size_bytes;
  const std::vector<ExplicitKey> truth = Heaviest(sizes);
  measured["distinct_keys"] = sizes.size();
  measured["random_order"] = MeasureAccuracy(pairs, truth);
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const auto& a, const auto& b) { return a.key < b.key; });
  measured["grouped_by_key"] = MeasureAccuracy(pairs, truth);
  return measured;
}

int Main(int argc, char** argv) {
  const Options options = ParseOptions(argc, argv);
  nlohmann::json report = {{"benchmark", "streaming"}, {"context", Context(options)}};
  report["merge"] = MeasureMerging(Draws::kRepeating, options);
  report["merge_distinct"] = MeasureMerging(Draws::kDistinct, options);
  report["zipf_1.1"] = MeasureStream(1.1, options);
  report["zipf_0.8"] = MeasureStream(0.8, options);
  const auto ratio = [&](const char* stream) {
    return report[stream]["ratio_vs_exact_map"]["median"].get<double>();
  };
  report["merge_ns_per_pair"] = report["merge"]["merge_ns_per_pair"]["median"];
  report["apply_ns_per_pair"] = report["merge"]["apply_ns_per_pair"]["median"];
  report["update_ratio_vs_exact_map"] = std::max(ratio("zipf_1.1"), ratio("zipf_0.8"));
  return WriteJson(report, options.json_path) ? 0 : 1;
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) { return tidemark::bench::Main(argc, argv); }
