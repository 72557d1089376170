#include "bench/accuracy/virtual_agent.h"

#include <cmath>
#include <utility>
#include <variant>

#include "tidemark/v1/ingest_service.pb.h"

namespace tidemark::bench {
namespace {

// Positions of virtual time 0 on the two clocks, far from their zeros.
constexpr std::int64_t kWallSeconds = 1'700'000'000;
constexpr std::int64_t kMonotonicNanos = 1'000'000'000'000;

std::int64_t NanosOf(double seconds) { return std::llround(seconds * 1e9); }

}  // namespace

absl::Time InstantOf(double seconds) {
  return absl::FromUnixSeconds(kWallSeconds) + absl::Nanoseconds(NanosOf(seconds));
}

double SecondsOf(absl::Time instant) {
  return absl::ToDoubleSeconds(instant - absl::FromUnixSeconds(kWallSeconds));
}

void VirtualClock::Set(double seconds) {
  wall_ = InstantOf(seconds);
  monotonic_nanos_ = kMonotonicNanos + NanosOf(seconds);
}

VirtualAgent::VirtualAgent(const AgentOptions& options)
    : shared_(std::make_shared<agent::Shared>(options, options.source_id, clock_)),
      job_id_(options.job_id),
      source_id_(options.source_id) {}

void VirtualAgent::Execute() {
  constexpr agent::Instant kNoWaiting{};
  for (const agent::Command& command : shared_->inbox.WaitUntil(kNoWaiting)) {
    if (const auto* event = std::get_if<agent::SendEvent>(&command)) {
      shared_->outbox.Add(event->body, event->made_at_nanos);
    } else if (const auto* start = std::get_if<agent::StartReports>(&command)) {
      reporters_.push_back(start->reporter);
    } else if (const auto* profiles = std::get_if<agent::StartProfiles>(&command)) {
      profiles->reporter->BeginProfiles();
    } else if (const auto* end = std::get_if<agent::EndReports>(&command)) {
      end->reporter->ReportLast();
      std::erase(reporters_, end->reporter);
    }
  }
}

void VirtualAgent::Collect() {
  for (const auto& reporter : reporters_) reporter->Collect();
}

void VirtualAgent::Flush() {
  Execute();
  Collect();
  for (const auto& reporter : reporters_) reporter->Report();
}

void VirtualAgent::Deliver(const Post& post) {
  while (const auto batch = shared_->outbox.Next(clock_.Now())) {
    Event event{.job_id = job_id_,
                .source_id = source_id_,
                .sequence = batch->first_sequence(),
                .sent_at = absl::FromUnixNanos(batch->sent_at()),
                .dropped_events = batch->dropped_events()};
    for (const v1::Event& body : batch->events()) {
      post(event, body);
      shared_->outbox.Acknowledge(event.sequence++);
    }
  }
}

void VirtualAgent::Steer(const NamedGroups& wanted, bool wants_points) {
  v1::Control control;
  control.set_send_points(wants_points);
  if (std::exchange(wanted_, wanted) != wanted) {
    control.set_named_group_bytes_min(wanted.bytes_min);
    control.set_sampled_below(wanted.sampled_below);
  }
  shared_->settings.Apply(control);
}

}  // namespace tidemark::bench
