#include "bench/accuracy/reduce_player.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "tidemark/v1/ingest_service.pb.h"

namespace tidemark::bench {
namespace {

// The values of the two clocks at virtual time 0. Both are far from zero.
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
    control.set_sampled_below_per_byte(wanted.sampled_below_per_byte);
  }
  shared_->settings.Apply(control);
}

namespace {

// The ring between a task and its reporter has eight times this capacity.
constexpr std::size_t kGroupsBetweenCollects = 8'000;

constexpr std::uint64_t kFirstValues = 8;

}  // namespace

ReducePlayer::ReducePlayer(const CostLog& log, std::span<const std::uint32_t> groups,
                           const Attempt& attempt, const AgentOptions& options)
    : log_(log), groups_(groups), attempt_(attempt), agent_(options) {}

void ReducePlayer::Begin() {
  agent_.clock().Set(attempt_.start);
  recorder_ = std::make_unique<agent::ReduceRecorder>(TaskAttempt{attempt_.task, attempt_.number},
                                                      agent_.shared());
  std::uint64_t input_bytes = 0;
  for (const std::uint32_t index : groups_) input_bytes += log_.groups[index].size_bytes;
  recorder_->InputFetched(input_bytes);
  recorder_->Shuffled();
  agent_.Execute();
}

void ReducePlayer::PlayUntil(double now) {
  if (over_) return;
  if (recorder_ == nullptr) Begin();
  EndGroups(std::min(now, attempt_.end));
  if (now >= attempt_.end) {
    over_ = true;
    // A failed or killed process reports nothing further.
    if (attempt_.outcome != AttemptState::kFinished) return;
    recorder_->Finish();
    agent_.Execute();
  } else if (position_ < groups_.size()) {
    PlayPartOfGroup(now);
  }
}

void ReducePlayer::EndGroups(double now) {
  for (; position_ < groups_.size() && attempt_.group_ends[position_] <= now; ++position_) {
    const GroupCost& cost = group();
    if (!in_group_) recorder_->BeginGroup(KeyBytes(cost.key));
    in_group_ = false;
    // The number of values of a finished group is not used.
    if (cost.size_bytes > counters_.bytes_read) {
      recorder_->ValueRead(cost.size_bytes - counters_.bytes_read);
    }
    recorder_->BytesEmitted(cost.emitted_bytes - counters_.bytes_emitted);
    counters_ = {};
    agent_.clock().Set(attempt_.group_ends[position_]);
    recorder_->EndGroup();
    if (position_ % kGroupsBetweenCollects == 0) agent_.Collect();
  }
}

void ReducePlayer::PlayPartOfGroup(double now) {
  const GroupCost& cost = group();
  if (!in_group_) {
    agent_.clock().Set(group_start());
    recorder_->BeginGroup(KeyBytes(cost.key));
    in_group_ = true;
    // A function reads its first values immediately. If the group is large, the agent detects it
    // here.
    const std::uint64_t values = std::min<std::uint64_t>(cost.values, kFirstValues);
    ReadUpTo({cost.size_bytes * values / std::max<std::uint64_t>(cost.values, 1), values, 0});
  }
  agent_.clock().Set(now);
  const auto found = log_.curves.find(groups_[position_]);
  if (found == log_.curves.end()) return ReadUpTo({cost.size_bytes, cost.values, 0});
  const double span = attempt_.group_ends[position_] - group_start();
  const double share = span > 0 ? (now - group_start()) / span : 1;
  const Curve& curve = found->second;
  const auto above = std::upper_bound(
      curve.begin(), curve.end(), share,
      [](double wanted, const CurvePoint& point) { return wanted < point.elapsed_share; });
  if (above == curve.end()) return;
  const CurvePoint below = above == curve.begin() ? CurvePoint{} : *(above - 1);
  const double way = (share - below.elapsed_share) / (above->elapsed_share - below.elapsed_share);
  const auto between = [&](std::uint64_t from, std::uint64_t to) {
    return from + static_cast<std::uint64_t>(way * static_cast<double>(to - from));
  };
  ReadUpTo({between(below.bytes_read, above->bytes_read),
            between(below.values_read, above->values_read),
            between(below.bytes_emitted, above->bytes_emitted)});
}

// Reads the values one by one, since their number is also reported.
void ReducePlayer::ReadUpTo(const Counters& counters) {
  if (counters.values_read < counters_.values_read) return;
  for (; counters_.values_read < counters.values_read; ++counters_.values_read) {
    const std::uint64_t left = counters.values_read - counters_.values_read;
    const std::uint64_t bytes = (counters.bytes_read - counters_.bytes_read) / left;
    recorder_->ValueRead(bytes);
    counters_.bytes_read += bytes;
  }
  recorder_->BytesEmitted(counters.bytes_emitted - counters_.bytes_emitted);
  counters_.bytes_emitted = counters.bytes_emitted;
}

void ReducePlayer::Flush(double now) {
  agent_.clock().Set(now);
  if (!over_) agent_.Flush();
}

}  // namespace tidemark::bench
