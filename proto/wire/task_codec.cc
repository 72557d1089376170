#include "proto/wire/task_codec.h"

#include <string>

#include "proto/wire/message_time.h"
#include "proto/wire/valid_text.h"
#include "tidemark/field_error.h"
#include "tidemark/v1/job_service.pb.h"

namespace tidemark::wire {

v1::AttemptState EncodeAttemptState(AttemptState state) {
  switch (state) {
    case AttemptState::kQueued:
      return v1::ATTEMPT_STATE_QUEUED;
    case AttemptState::kStarted:
      return v1::ATTEMPT_STATE_STARTED;
    case AttemptState::kShuffled:
      return v1::ATTEMPT_STATE_SHUFFLED;
    case AttemptState::kFinished:
      return v1::ATTEMPT_STATE_FINISHED;
    case AttemptState::kFailed:
      return v1::ATTEMPT_STATE_FAILED;
    case AttemptState::kKilled:
      return v1::ATTEMPT_STATE_KILLED;
    case AttemptState::kObsolete:
      return v1::ATTEMPT_STATE_OBSOLETE;
    case AttemptState::kLost:
      return v1::ATTEMPT_STATE_LOST;
  }
  return v1::ATTEMPT_STATE_UNSPECIFIED;
}

std::optional<AttemptState> DecodeAttemptState(v1::AttemptState state) {
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
    case v1::ATTEMPT_STATE_LOST:
      return AttemptState::kLost;
    default:
      return std::nullopt;
  }
}

void EncodeAttemptId(const AttemptId& id, v1::TaskAttemptId& message) {
  message.set_stage(id.stage);
  message.set_stage_attempt(id.stage_attempt);
  message.set_index(id.index);
  message.set_attempt(id.attempt);
}

AttemptId DecodeAttemptId(const v1::TaskAttemptId& message) {
  return {.stage = message.stage(),
          .index = message.index(),
          .attempt = message.attempt(),
          .stage_attempt = message.stage_attempt()};
}

namespace {

void Encode(const Range& range, v1::Range& message) {
  EncodeDuration(range.median, *message.mutable_median());
  if (range.lower) EncodeDuration(*range.lower, *message.mutable_lower());
  if (range.upper) EncodeDuration(*range.upper, *message.mutable_upper());
}

// Parses times and stores the first fault.
class Parsed {
 public:
  absl::Time At(const char* field, const google::protobuf::Timestamp& message) {
    return Keep(field, ParseTime(message, field), absl::UnixEpoch());
  }
  absl::Duration Span(const char* field, const google::protobuf::Duration& message) {
    return Keep(field, ParseElapsed(message, field), absl::ZeroDuration());
  }
  const absl::Status& status() const { return status_; }

 private:
  template <typename Value>
  Value Keep(const char* field, const absl::StatusOr<Value>& value, Value otherwise) {
    if (value.ok()) return *value;
    if (status_.ok()) status_ = FieldError(field, std::string(value.status().message()));
    return otherwise;
  }
  absl::Status status_;
};

}  // namespace

void EncodeTasks(const JobTasks& tasks, v1::ListTasksResponse& message) {
  EncodeTime(tasks.at, *message.mutable_at());
  if (tasks.began_at) EncodeTime(*tasks.began_at, *message.mutable_began_at());
  for (const HostTasks& host : tasks.hosts) {
    v1::HostTasks& added = *message.add_hosts();
    added.set_host(ValidText(host.host));
    added.set_running_count(host.running);
    added.set_finished_count(host.finished);
    added.set_failed_count(host.failed);
    for (const double busy : host.busy) added.add_busy(static_cast<float>(busy));
  }
  message.set_hosts_left_out(tasks.hosts_left_out);
  for (const TaskProgress& task : tasks.tasks) {
    v1::TaskProgress& added = *message.add_tasks();
    EncodeAttemptId(task.attempt, *added.mutable_attempt());
    added.set_state(EncodeAttemptState(task.state));
    added.set_host(ValidText(task.host));
    if (task.started_at) EncodeTime(*task.started_at, *added.mutable_started_at());
    if (task.ended_at) EncodeTime(*task.ended_at, *added.mutable_ended_at());
    if (task.remaining) Encode(*task.remaining, *added.mutable_remaining());
    added.set_is_speculative(task.is_speculative);
    added.set_failure(ValidText(task.failure));
  }
  message.set_tasks_left_out(tasks.tasks_left_out);
  for (const HeavyGroup& group : tasks.heavy_groups) {
    v1::HeavyGroup& added = *message.add_heavy_groups();
    EncodeAttemptId(group.attempt, *added.mutable_attempt());
    added.set_size_bytes(group.size_bytes);
    EncodeDuration(group.time, *added.mutable_time());
    added.set_share(group.share);
    added.set_is_running(group.is_running);
  }
}

absl::StatusOr<JobTasks> ParseTasks(const v1::ListTasksResponse& message) {
  Parsed parsed;
  JobTasks tasks = {.at = parsed.At("at", message.at()),
                    .hosts_left_out = message.hosts_left_out(),
                    .tasks_left_out = message.tasks_left_out()};
  if (message.has_began_at()) tasks.began_at = parsed.At("began_at", message.began_at());
  for (const v1::HostTasks& host : message.hosts()) {
    tasks.hosts.push_back({.host = host.host(),
                           .running = host.running_count(),
                           .finished = host.finished_count(),
                           .failed = host.failed_count(),
                           .busy = {host.busy().begin(), host.busy().end()}});
  }
  for (const v1::TaskProgress& task : message.tasks()) {
    TaskProgress& added = tasks.tasks.emplace_back();
    added = {.attempt = DecodeAttemptId(task.attempt()),
             .state = DecodeAttemptState(task.state()).value_or(AttemptState::kStarted),
             .host = task.host(),
             .is_speculative = task.is_speculative(),
             .failure = task.failure()};
    if (task.has_started_at()) added.started_at = parsed.At("tasks.started_at", task.started_at());
    if (task.has_ended_at()) added.ended_at = parsed.At("tasks.ended_at", task.ended_at());
    if (!task.has_remaining()) continue;
    const v1::Range& range = task.remaining();
    added.remaining = Range{parsed.Span("tasks.remaining.median", range.median())};
    if (range.has_lower())
      added.remaining->lower = parsed.Span("tasks.remaining.lower", range.lower());
    if (range.has_upper())
      added.remaining->upper = parsed.Span("tasks.remaining.upper", range.upper());
  }
  for (const v1::HeavyGroup& group : message.heavy_groups()) {
    if (!(group.share() >= 0 && group.share() <= 1)) {
      return FieldError("heavy_groups.share", "must be from 0 to 1");
    }
    tasks.heavy_groups.push_back({.attempt = DecodeAttemptId(group.attempt()),
                                  .size_bytes = group.size_bytes(),
                                  .time = parsed.Span("heavy_groups.time", group.time()),
                                  .share = group.share(),
                                  .is_running = group.is_running()});
  }
  if (!parsed.status().ok()) return parsed.status();
  return tasks;
}

void EncodeForecasts(const std::vector<PastForecast>& forecasts,
                     google::protobuf::RepeatedPtrField<v1::PastForecast>& messages) {
  for (const PastForecast& forecast : forecasts) {
    v1::PastForecast& added = *messages.Add();
    EncodeTime(forecast.at, *added.mutable_at());
    if (forecast.ends_at) EncodeTime(*forecast.ends_at, *added.mutable_ends_at());
    if (forecast.ends_at_lower) {
      EncodeTime(*forecast.ends_at_lower, *added.mutable_ends_at_lower());
    }
    if (forecast.ends_at_upper) {
      EncodeTime(*forecast.ends_at_upper, *added.mutable_ends_at_upper());
    }
    added.set_fraction_done(forecast.fraction_done);
    added.set_fraction_done_lower(forecast.fraction_done_lower);
    added.set_fraction_done_upper(forecast.fraction_done_upper);
  }
}

absl::StatusOr<std::vector<PastForecast>> ParseForecasts(
    const google::protobuf::RepeatedPtrField<v1::PastForecast>& messages) {
  Parsed parsed;
  std::vector<PastForecast> forecasts;
  for (const v1::PastForecast& message : messages) {
    for (const double fraction :
         {message.fraction_done(), message.fraction_done_lower(), message.fraction_done_upper()}) {
      if (!(fraction >= 0 && fraction <= 1)) {
        return FieldError("forecasts.fraction_done", "must be from 0 to 1");
      }
    }
    PastForecast& added = forecasts.emplace_back();
    added = {.at = parsed.At("forecasts.at", message.at()),
             .fraction_done = message.fraction_done(),
             .fraction_done_lower = message.fraction_done_lower(),
             .fraction_done_upper = message.fraction_done_upper()};
    if (message.has_ends_at()) added.ends_at = parsed.At("forecasts.ends_at", message.ends_at());
    if (message.has_ends_at_lower()) {
      added.ends_at_lower = parsed.At("forecasts.ends_at_lower", message.ends_at_lower());
    }
    if (message.has_ends_at_upper()) {
      added.ends_at_upper = parsed.At("forecasts.ends_at_upper", message.ends_at_upper());
    }
  }
  if (!parsed.status().ok()) return parsed.status();
  return forecasts;
}

}  // namespace tidemark::wire
