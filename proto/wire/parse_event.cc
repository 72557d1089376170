#include "proto/wire/parse_event.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "proto/wire/message_time.h"
#include "proto/wire/parse_profile.h"
#include "tidemark/v1/event.pb.h"

namespace tidemark::wire {
namespace {

template <typename... Args>
absl::Status Invalid(fmt::format_string<Args...> format, Args&&... args) {
  return absl::InvalidArgumentError(fmt::format(format, std::forward<Args>(args)...));
}

// Cuts between characters: half a character would make the text unfit for a proto3 string.
std::string Cut(const std::string& text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

absl::Status CheckId(const char* field, const std::string& id, std::size_t bytes_max) {
  if (!id.empty() && id.size() <= bytes_max) return absl::OkStatus();
  return Invalid("envelope: {} has {} bytes; send 1 to {}", field, id.size(), bytes_max);
}

absl::StatusOr<Phase> ParsePhase(v1::Phase phase) {
  switch (phase) {
    case v1::PHASE_MAP:
      return Phase::kMap;
    case v1::PHASE_SHUFFLE:
      return Phase::kShuffle;
    case v1::PHASE_REDUCE:
      return Phase::kReduce;
    default:
      return Invalid("job opened: phases has {}; send PHASE_MAP, PHASE_SHUFFLE or PHASE_REDUCE",
                     static_cast<int>(phase));
  }
}

absl::Status ParsePhases(const v1::JobOpened& untrusted, JobOpened& job) {
  for (const int number : untrusted.phases()) {
    absl::StatusOr<Phase> phase = ParsePhase(static_cast<v1::Phase>(number));
    if (!phase.ok()) return phase.status();
    if (!job.phases.empty() && job.phases.back() >= *phase) {
      return Invalid("job opened: phases has {} after {}; send each once, in the order they run",
                     number, static_cast<int>(job.phases.back()) + 1);
    }
    job.phases.push_back(*phase);
  }
  return absl::OkStatus();
}

absl::Status CheckCount(const char* field, std::uint32_t count, std::uint32_t max) {
  if (count <= max) return absl::OkStatus();
  return Invalid("job opened: {} is {}; send at most {}", field, count, max);
}

absl::Status CheckShape(const v1::JobOpened& untrusted, const EnvelopeLimits& limits) {
  const struct {
    const char* field;
    std::uint32_t count;
    std::uint32_t max;
  } counts[] = {
      {"map_task_count", untrusted.map_task_count(), limits.task_index_max},
      {"reduce_task_count", untrusted.reduce_task_count(), limits.task_index_max},
      {"partition_count", untrusted.partition_count(), limits.partitions_max},
  };
  for (const auto& [field, count, max] : counts) {
    if (absl::Status checked = CheckCount(field, count, max); !checked.ok()) return checked;
  }
  const double fraction = untrusted.slow_start_fraction();
  if (untrusted.has_slow_start_fraction() && !(fraction >= 0 && fraction <= 1)) {
    return Invalid("job opened: slow_start_fraction is {}; send 0..1", fraction);
  }
  return absl::OkStatus();
}

absl::StatusOr<EventBody> ParseJobOpened(const v1::JobOpened& untrusted,
                                         const EnvelopeLimits& limits) {
  if (absl::Status shape = CheckShape(untrusted, limits); !shape.ok()) return shape;
  JobOpened job;
  if (absl::Status phases = ParsePhases(untrusted, job); !phases.ok()) return phases;
  if (untrusted.has_submitted_at()) {
    absl::StatusOr<absl::Time> at = ParseTime(untrusted.submitted_at(), "job opened: submitted_at");
    if (!at.ok()) return at.status();
    job.submitted_at = *at;
  }
  job.name = Cut(untrusted.name(), limits.text_bytes_max);
  job.engine = Cut(untrusted.engine(), limits.text_bytes_max);
  if (untrusted.has_map_task_count()) job.map_task_count = untrusted.map_task_count();
  if (untrusted.has_reduce_task_count()) job.reduce_task_count = untrusted.reduce_task_count();
  if (untrusted.has_partition_count()) job.partition_count = untrusted.partition_count();
  if (untrusted.has_map_slots()) job.map_slots = untrusted.map_slots();
  if (untrusted.has_reduce_slots()) job.reduce_slots = untrusted.reduce_slots();
  job.has_combiner = untrusted.has_combiner();
  job.is_grouping_opaque = untrusted.grouping().opaque();
  return job;
}

absl::StatusOr<JobOutcome> ParseOutcome(v1::JobOutcome outcome) {
  switch (outcome) {
    case v1::JOB_OUTCOME_SUCCEEDED:
      return JobOutcome::kSucceeded;
    case v1::JOB_OUTCOME_FAILED:
      return JobOutcome::kFailed;
    case v1::JOB_OUTCOME_KILLED:
      return JobOutcome::kKilled;
    default:
      return Invalid("job closed: outcome is {}; say how the job ended", static_cast<int>(outcome));
  }
}

absl::StatusOr<EventBody> ParseJobClosed(const v1::JobClosed& untrusted,
                                         const EnvelopeLimits& limits) {
  absl::StatusOr<JobOutcome> outcome = ParseOutcome(untrusted.outcome());
  if (!outcome.ok()) return outcome.status();
  JobClosed closed;
  closed.outcome = *outcome;
  closed.message = Cut(untrusted.message(), limits.text_bytes_max);
  if (untrusted.has_at()) {
    absl::StatusOr<absl::Time> at = ParseTime(untrusted.at(), "job closed: at");
    if (!at.ok()) return at.status();
    closed.at = *at;
  }
  return closed;
}

absl::StatusOr<AttemptState> ParseState(v1::AttemptState state, const std::string& subject) {
  switch (state) {
    case v1::ATTEMPT_STATE_QUEUED:
      return AttemptState::kQueued;
    case v1::ATTEMPT_STATE_STARTED:
      return AttemptState::kStarted;
    case v1::ATTEMPT_STATE_SHUFFLED:
      return AttemptState::kShuffled;
    case v1::ATTEMPT_STATE_FINISHED:
      return AttemptState::kFinished;
    case v1::ATTEMPT_STATE_FAILED:
      return AttemptState::kFailed;
    case v1::ATTEMPT_STATE_KILLED:
      return AttemptState::kKilled;
    case v1::ATTEMPT_STATE_OBSOLETE:
      return AttemptState::kObsolete;
    default:
      return Invalid("{}: state is {}; say which state it entered", subject,
                     static_cast<int>(state));
  }
}

absl::StatusOr<EventBody> ParseAttemptChanged(const v1::AttemptChanged& untrusted,
                                              const EnvelopeLimits& limits) {
  absl::StatusOr<AttemptId> attempt = ParseAttempt(untrusted.attempt(), "attempt changed", limits);
  if (!attempt.ok()) return attempt.status();
  const std::string subject = fmt::format("attempt changed of {}", ToString(*attempt));
  absl::StatusOr<AttemptState> state = ParseState(untrusted.state(), subject);
  if (!state.ok()) return state.status();
  if (*state == AttemptState::kShuffled && attempt->kind == TaskKind::kMap) {
    return Invalid("{}: state is ATTEMPT_STATE_SHUFFLED; only reduce tasks shuffle", subject);
  }

  AttemptChanged changed;
  changed.attempt = *attempt;
  changed.state = *state;
  if (untrusted.has_at()) {
    absl::StatusOr<absl::Time> at = ParseTime(untrusted.at(), subject + ": at");
    if (!at.ok()) return at.status();
    changed.at = *at;
  }
  changed.host = Cut(untrusted.host(), limits.text_bytes_max);
  changed.input_name = Cut(untrusted.input_name(), limits.text_bytes_max);
  changed.speculative = untrusted.speculative();
  if (untrusted.has_input_bytes()) changed.input_bytes = untrusted.input_bytes();
  changed.failure = Cut(untrusted.failure(), limits.text_bytes_max);
  return changed;
}

absl::StatusOr<EventBody> ParseHeartbeat(const v1::TaskHeartbeat& untrusted,
                                         const EnvelopeLimits& limits) {
  absl::StatusOr<AttemptId> attempt = ParseAttempt(untrusted.attempt(), "task heartbeat", limits);
  if (!attempt.ok()) return attempt.status();
  if (untrusted.has_cpu_time()) {
    absl::StatusOr<absl::Duration> cpu_time = ParseElapsed(
        untrusted.cpu_time(), fmt::format("task heartbeat of {}: cpu_time", ToString(*attempt)));
    if (!cpu_time.ok()) return cpu_time.status();
  }
  return TaskHeartbeat{*attempt, untrusted.bytes_done(), untrusted.records_done(),
                       untrusted.bytes_emitted()};
}

absl::StatusOr<EventBody> ParseBody(const v1::Envelope& untrusted, const EnvelopeLimits& limits) {
  switch (untrusted.event_case()) {
    case v1::Envelope::kJobOpened:
      return ParseJobOpened(untrusted.job_opened(), limits);
    case v1::Envelope::kJobClosed:
      return ParseJobClosed(untrusted.job_closed(), limits);
    case v1::Envelope::kAttemptChanged:
      return ParseAttemptChanged(untrusted.attempt_changed(), limits);
    case v1::Envelope::kTaskHeartbeat:
      return ParseHeartbeat(untrusted.task_heartbeat(), limits);
    case v1::Envelope::kMapProfile:
      return ParseMapProfile(untrusted.map_profile(), limits);
    case v1::Envelope::kReduceProfile:
      return ParseReduceProfile(untrusted.reduce_profile(), limits);
    case v1::Envelope::EVENT_NOT_SET:
      break;
  }
  return absl::UnimplementedError(
      fmt::format("envelope {} of {}: unknown event; it is counted and ignored",
                  untrusted.sequence(), untrusted.source_id()));
}

absl::Status CheckPlace(const v1::Envelope& untrusted, const EnvelopeLimits& limits) {
  if (absl::Status id = CheckId("source_id", untrusted.source_id(), limits.id_bytes_max / 2);
      !id.ok()) {
    return id;
  }
  if (absl::Status id = CheckId("job_id", untrusted.job_id(), limits.id_bytes_max); !id.ok()) {
    return id;
  }
  if (untrusted.run_uid().size() > limits.id_bytes_max / 2) {
    return Invalid("envelope: run_uid has {} bytes; send at most {}", untrusted.run_uid().size(),
                   limits.id_bytes_max / 2);
  }
  if (untrusted.sequence() == 0) {
    return Invalid("envelope of {}: sequence is 0; count from 1", untrusted.source_id());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Event> ParseEvent(const v1::Envelope& untrusted, absl::Time arrived_at,
                                 const EnvelopeLimits& limits) {
  if (absl::Status place = CheckPlace(untrusted, limits); !place.ok()) return place;
  if (!untrusted.has_sent_at()) {
    return Invalid("envelope {} of {}: sent_at is missing; say when it was sent",
                   untrusted.sequence(), untrusted.source_id());
  }
  absl::StatusOr<absl::Time> sent_at = ParseTime(
      untrusted.sent_at(),
      fmt::format("envelope {} of {}: sent_at", untrusted.sequence(), untrusted.source_id()));
  if (!sent_at.ok()) return sent_at.status();
  absl::StatusOr<EventBody> body = ParseBody(untrusted, limits);
  if (!body.ok()) return body.status();

  Event event;
  event.job_id = untrusted.job_id();
  event.run_uid = untrusted.run_uid();
  event.source_id = untrusted.source_id();
  event.sequence = untrusted.sequence();
  event.sent_at = *sent_at;
  event.arrived_at = arrived_at;
  event.dropped_events = untrusted.dropped_events();
  event.body = *std::move(body);
  return event;
}

bool HasPlace(const v1::Envelope& untrusted, const EnvelopeLimits& limits) {
  return CheckPlace(untrusted, limits).ok();
}

}  // namespace tidemark::wire
