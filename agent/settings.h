// How the agent behaves: what the engine asked for until the master says otherwise.
//
// Written by the thread that reads from the master, read by all others. Every member is a number of
// its own, so relaxed atomics are enough: a change takes hold a little later somewhere, no more.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"
#include "tidemark/agent.h"

namespace tidemark::v1 {
class Control;
}

namespace tidemark::agent {

class Settings {
 public:
  explicit Settings(const AgentOptions& options);

  // Fields out of range become their nearest limit (ingest_service.proto); unset ones change
  // nothing, nor does a flush interval that is no valid duration.
  void Apply(const v1::Control& control);

  absl::Duration flush_interval() const {
    return absl::Nanoseconds(flush_interval_nanos_.load(std::memory_order_relaxed));
  }
  std::uint32_t lambda() const { return lambda_.load(std::memory_order_relaxed); }
  std::uint64_t burst_threshold_bytes() const {
    return burst_threshold_bytes_.load(std::memory_order_relaxed);
  }
  std::uint32_t burst_groups_max() const {
    return burst_groups_max_.load(std::memory_order_relaxed);
  }
  // The burst threshold, unless the master set it on its own: what is timed singly has a name.
  std::uint64_t named_group_bytes_min() const {
    return names_set_.load(std::memory_order_relaxed)
               ? named_group_bytes_min_.load(std::memory_order_relaxed)
               : burst_threshold_bytes();
  }
  // No key group is named for its rank until the master asks for it.
  std::uint64_t sampled_below() const { return sampled_below_.load(std::memory_order_relaxed); }
  // No point is sent until the master asks for them.
  bool send_points() const { return send_points_.load(std::memory_order_relaxed); }
  bool paused() const { return paused_.load(std::memory_order_relaxed); }

 private:
  void SetFlushInterval(absl::Duration interval);

  std::atomic<std::int64_t> flush_interval_nanos_;
  std::atomic<std::uint64_t> burst_threshold_bytes_;
  std::atomic<std::uint64_t> named_group_bytes_min_{0};
  std::atomic<std::uint64_t> sampled_below_{0};
  std::atomic<std::uint32_t> burst_groups_max_;
  std::atomic<std::uint32_t> lambda_;
  std::atomic<bool> names_set_{false};
  std::atomic<bool> paused_{false};
  std::atomic<bool> send_points_{false};
};

}  // namespace tidemark::agent
