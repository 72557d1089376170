// The settings of the agent. The engine sets them, and the master may change them.
//
// One thread, which reads from the master, writes them; all threads read them. Members are
// independent, so relaxed atomics suffice. A change may take effect slightly later on other
// threads.
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

  // Clamps fields to their limits (ingest_service.proto). Unset fields and invalid flush intervals
  // change nothing.
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
  // Returns the size from which groups have names. It equals the burst threshold unless the master
  // set another size.
  std::uint64_t named_group_bytes_min() const {
    return names_set_.load(std::memory_order_relaxed)
               ? named_group_bytes_min_.load(std::memory_order_relaxed)
               : burst_threshold_bytes();
  }
  // Returns 0, so that no group is named by sampling, until the master requests it.
  std::uint64_t sampled_below() const { return sampled_below_.load(std::memory_order_relaxed); }
  // Returns false until the master requests points.
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
