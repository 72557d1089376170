#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "agent/processor_use.h"
#include "agent/profiles.h"
#include "agent/shared.h"
#include "streaming/key_sample.h"
#include "streaming/space_saving.h"
#include "tidemark/agent.h"

namespace tidemark::agent {

// Data that the task's thread passes to the background thread.
struct MapMeter {
  // Totals since the start, written by the task's thread only.
  std::atomic<std::uint64_t> bytes_done{0};
  std::atomic<std::uint64_t> records_done{0};
  std::atomic<std::uint64_t> bytes_emitted{0};
  // Written by the task's thread before it pushes EndReports, and read only afterwards; the inbox
  // orders the two. If Finish() was not called, there is no profile.
  bool finished = false;
  std::vector<PartitionProfile> partitions;
  streaming::KeySampler sampler{0};
  streaming::SizeSampler by_size{0};
};

class MapReporter final : public Reporter {
 public:
  // Called on the task's thread.
  MapReporter(AttemptId attempt, std::shared_ptr<Shared> shared, std::shared_ptr<MapMeter> meter)
      : attempt_(attempt),
        shared_(std::move(shared)),
        meter_(std::move(meter)),
        processor_(shared_->clock) {}

  void Report() override;
  void ReportLast() override;

 private:
  void SendHeartbeat();

  const AttemptId attempt_;
  const std::shared_ptr<Shared> shared_;
  const std::shared_ptr<MapMeter> meter_;
  TaskWatch processor_;
};

class MapRecorder final : public MapTaskAgent {
 public:
  MapRecorder(TaskAttempt attempt, std::shared_ptr<Shared> shared);
  ~MapRecorder() override;

  void InputRead(std::uint64_t bytes, std::uint64_t records) override;
  using MapTaskAgent::AddGroup;
  void AddGroup(std::uint32_t partition, std::string_view key, std::uint64_t size_bytes,
                std::uint64_t values) override;
  void Finish() override;

 private:
  void AdoptLambda(std::uint32_t lambda);
  void HandOver();
  void AddHeaviest(std::uint32_t partition, const ExplicitKey& group);

  const std::shared_ptr<Shared> shared_;
  const std::shared_ptr<MapMeter> meter_;
  const std::shared_ptr<Reporter> reporter_;
  bool ended_ = false;
  std::uint32_t lambda_;
  streaming::HeaviestKeys heaviest_;
  streaming::KeySampler sampler_;
  streaming::SizeSampler by_size_;
  // Keys that were implicit when lambda last changed. HeaviestKeys restarts with all other keys.
  std::map<std::uint32_t, ImplicitKeys> implicit_before_;
};

}  // namespace tidemark::agent
