#include "agent/map_recorder.h"

#include <algorithm>
#include <utility>

#include "agent/monotonic.h"

namespace tidemark::agent {
namespace {

// The maximum number of partitions (EventLimits). Higher numbers are errors and are ignored, since
// counting them would take unbounded memory.
constexpr std::uint32_t kPartitionsMax = 1'000'000;
// Number of sampled keys of a profile. Small buffers sample no keys.
constexpr std::uint32_t kSampledKeys = 512;
constexpr std::size_t kSampledPart = 4;
// Number of keys that are sampled by rank. The others are sampled by size.
constexpr std::uint32_t kSampledByRank = 256;

std::uint32_t SampledKeys(std::size_t profile_bytes_max, std::uint32_t keys) {
  return kSampledPart * BytesOfKeys(kSampledKeys) <= profile_bytes_max ? keys : 0;
}

std::size_t KeyCount(const std::vector<PartitionProfile>& partitions,
                     std::vector<ExplicitKey> PartitionProfile::*keys) {
  std::size_t count = 0;
  for (const PartitionProfile& partition : partitions) count += (partition.*keys).size();
  return count;
}

}  // namespace

void MapReporter::SendHeartbeat() {
  TaskHeartbeat heartbeat;
  heartbeat.attempt = attempt_;
  heartbeat.bytes_done = meter_->bytes_done.load(std::memory_order_relaxed);
  heartbeat.records_done = meter_->records_done.load(std::memory_order_relaxed);
  heartbeat.bytes_emitted = meter_->bytes_emitted.load(std::memory_order_relaxed);
  const std::int64_t now_nanos = shared_->clock.Nanos();
  heartbeat.time = processor_.ReadTimes(now_nanos);
  shared_->outbox.Add(heartbeat, now_nanos);
}

void MapReporter::Report() {
  if (!shared_->outbox.congested()) SendHeartbeat();
}

void MapReporter::ReportLast() {
  SendHeartbeat();
  if (!meter_->finished) return;
  // Only one profile per task counts, so a large profile is not split but contains fewer keys. A
  // paused agent reports exact totals without keys.
  const bool paused = shared_->settings.paused();
  const std::size_t keys_max =
      paused ? 0 : KeysThatFit(shared_->whole_event_bytes_max(), meter_->partitions.size());
  const std::size_t explicit_max = keys_max - std::min<std::size_t>(keys_max, kSampledKeys);
  // The sample by size has no keys that become implicit now.
  const bool are_all_kept =
      KeyCount(meter_->partitions, &PartitionProfile::explicit_keys) <= explicit_max;
  KeepHeaviest(explicit_max, meter_->partitions);
  MapProfile profile = {.attempt = attempt_};
  if (!paused) profile.sampled_below = meter_->sampler.AddTo(meter_->partitions);
  if (!paused && are_all_kept) {
    const std::size_t by_rank = KeyCount(meter_->partitions, &PartitionProfile::sampled_keys);
    profile.sampled_below_per_byte =
        meter_->by_size.AddTo(profile.sampled_below, kSampledKeys - by_rank, meter_->partitions);
    // Every key is explicit or sampled. The sample by size has no keys of ranks above its limit.
    if (profile.sampled_below_per_byte == streaming::kEveryRank &&
        streaming::RankLimit(profile.sampled_below) == streaming::kEveryRank) {
      profile.sampled_below = streaming::kEveryRank;
    }
  }
  profile.partitions = std::move(meter_->partitions);
  shared_->outbox.Add(std::move(profile), shared_->clock.Nanos());
}

MapRecorder::MapRecorder(TaskAttempt attempt, std::shared_ptr<Shared> shared)
    : shared_(std::move(shared)),
      meter_(std::make_shared<MapMeter>()),
      reporter_(std::make_shared<MapReporter>(AttemptId{kMapStage, attempt.index, attempt.attempt},
                                              shared_, meter_)),
      lambda_(shared_->settings.lambda()),
      heaviest_(0, lambda_),
      sampler_(SampledKeys(shared_->whole_event_bytes_max(), kSampledByRank)),
      by_size_(SampledKeys(shared_->whole_event_bytes_max(), 2 * kSampledKeys)) {
  shared_->inbox.Push(StartReports{reporter_});
}

MapRecorder::~MapRecorder() {
  // An unfinished task has no output, so it sends its last totals but no profile.
  if (!ended_) Guarded(*shared_, [this] { shared_->inbox.Push(EndReports{reporter_}); });
}

void MapRecorder::InputRead(std::uint64_t bytes, std::uint64_t records) {
  if (ended_) return;
  meter_->bytes_done.fetch_add(bytes, std::memory_order_relaxed);
  meter_->records_done.fetch_add(records, std::memory_order_relaxed);
}

void MapRecorder::AddGroup(std::uint32_t partition, std::string_view key, std::uint64_t size_bytes,
                           std::uint64_t values) {
  if (ended_ || partition >= kPartitionsMax) return;
  const ExplicitKey group{streaming::HashKey(key), size_bytes, values};
  const bool kept = Guarded(*shared_, [&] {
    if (const std::uint32_t lambda = shared_->settings.lambda(); lambda != lambda_) [[unlikely]] {
      AdoptLambda(lambda);
    }
    AddHeaviest(partition, group);
    sampler_.Offer(partition, group);
  });
  if (!kept) ended_ = true;
  meter_->bytes_emitted.fetch_add(size_bytes, std::memory_order_relaxed);
}

void MapRecorder::AddHeaviest(std::uint32_t partition, const ExplicitKey& group) {
  if (const auto other = heaviest_.Offer(partition, group)) {
    by_size_.Offer(other->partition, other->group);
  }
}

void MapRecorder::AdoptLambda(std::uint32_t lambda) {
  const std::vector<PartitionProfile> partitions = heaviest_.Profiles();
  heaviest_ = streaming::HeaviestKeys(0, lambda);
  lambda_ = lambda;
  for (const PartitionProfile& partition : partitions) {
    for (const ExplicitKey& key : partition.explicit_keys) {
      AddHeaviest(partition.partition, key);
    }
    if (partition.implicit_key_count == 0) continue;
    ImplicitKeys& before = implicit_before_[partition.partition];
    before.count += partition.implicit_key_count;
    before.bytes += partition.implicit_bytes;
  }
}

void MapRecorder::Finish() {
  if (ended_) return;
  ended_ = true;
  Guarded(*shared_, [this] { HandOver(); });
}

void MapRecorder::HandOver() {
  if (const std::uint32_t lambda = shared_->settings.lambda(); lambda != lambda_) {
    AdoptLambda(lambda);
  }
  meter_->partitions = heaviest_.Profiles();
  AddImplicit(implicit_before_, meter_->partitions);
  meter_->sampler = std::exchange(sampler_, streaming::KeySampler(0));
  meter_->by_size = std::exchange(by_size_, streaming::SizeSampler(0));
  meter_->finished = true;
  heaviest_ = streaming::HeaviestKeys(0, 0);
  shared_->inbox.Push(EndReports{reporter_});
}

}  // namespace tidemark::agent
