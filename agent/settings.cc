#include "agent/settings.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "proto/wire/message_time.h"
#include "tidemark/v1/ingest_service.pb.h"

namespace tidemark::agent {
namespace {

// The limits of Control (ingest_service.proto).
constexpr absl::Duration kFlushIntervalMin = absl::Milliseconds(50);
constexpr absl::Duration kFlushIntervalMax = absl::Seconds(60);
constexpr std::uint32_t kLambdaMax = 1'000'000;
constexpr std::uint32_t kBurstGroupsLimit = 1'000'000;

}  // namespace

Settings::Settings(const AgentOptions& options)
    : burst_threshold_bytes_(options.burst_threshold_bytes),
      burst_groups_max_(std::clamp<std::uint32_t>(options.burst_groups_max, 1, kBurstGroupsLimit)),
      lambda_(std::min(options.lambda, kLambdaMax)) {
  SetFlushInterval(options.flush_interval);
}

void Settings::SetFlushInterval(absl::Duration interval) {
  flush_interval_nanos_.store(
      absl::ToInt64Nanoseconds(std::clamp(interval, kFlushIntervalMin, kFlushIntervalMax)),
      std::memory_order_relaxed);
}

void Settings::Apply(const v1::Control& control) {
  if (control.has_flush_interval()) {
    const absl::StatusOr<absl::Duration> interval =
        wire::ParseDuration(control.flush_interval(), "control: flush_interval");
    if (interval.ok()) SetFlushInterval(*interval);
  }
  if (control.has_lambda()) {
    lambda_.store(std::clamp<std::uint32_t>(control.lambda(), 1, kLambdaMax),
                  std::memory_order_relaxed);
  }
  if (control.has_burst_threshold_bytes()) {
    burst_threshold_bytes_.store(control.burst_threshold_bytes(), std::memory_order_relaxed);
  }
  if (control.has_burst_groups_max()) {
    burst_groups_max_.store(
        std::clamp<std::uint32_t>(control.burst_groups_max(), 1, kBurstGroupsLimit),
        std::memory_order_relaxed);
  }
  if (control.has_named_group_bytes_min()) {
    named_group_bytes_min_.store(control.named_group_bytes_min(), std::memory_order_relaxed);
    names_set_.store(true, std::memory_order_relaxed);
  }
  if (control.has_sampled_below()) {
    sampled_below_.store(control.sampled_below(), std::memory_order_relaxed);
  }
  if (control.has_send_points()) {
    send_points_.store(control.send_points(), std::memory_order_relaxed);
  }
  if (control.has_paused()) paused_.store(control.paused(), std::memory_order_relaxed);
}

}  // namespace tidemark::agent
