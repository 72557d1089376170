#include "proto/wire/task_codec.h"

#include <string>

#include "proto/wire/fields.h"
#include "proto/wire/job_fields.h"
#include "proto/wire/message_time.h"
#include "proto/wire/valid_text.h"
#include "tidemark/field_error.h"
#include "tidemark/v1/job_service.pb.h"

namespace tidemark {

template <class Io, wire::ConstOrNot<HeavyGroup> V>
void Fields(Io& io, V& group) {
  io("attempt", group.attempt);
  io("size_bytes", group.size_bytes);
  io("time", group.time);
  io.Fraction("share", group.share);
  io("is_running", group.is_running);
}

template <class Io, wire::ConstOrNot<PastForecast> V>
void Fields(Io& io, V& forecast) {
  io("at", forecast.at);
  io("ends_at", forecast.ends_at);
  io("ends_at_lower", forecast.ends_at_lower);
  io("ends_at_upper", forecast.ends_at_upper);
  io.Fraction("fraction_done", forecast.fraction_done);
  io.Fraction("fraction_done_lower", forecast.fraction_done_lower);
  io.Fraction("fraction_done_upper", forecast.fraction_done_upper);
}

}  // namespace tidemark

namespace tidemark::wire {

// Each value is the number in messages minus one, since 0 means unspecified there.
static_assert(static_cast<int>(AttemptState::kQueued) + 1 == v1::ATTEMPT_STATE_QUEUED);
static_assert(static_cast<int>(AttemptState::kFinished) + 1 == v1::ATTEMPT_STATE_FINISHED);
static_assert(static_cast<int>(AttemptState::kLost) + 1 == v1::AttemptState_MAX);
static_assert(static_cast<int>(JobOutcome::kSucceeded) + 1 == v1::JOB_OUTCOME_SUCCEEDED);
static_assert(static_cast<int>(JobOutcome::kUnknown) + 1 == v1::JobOutcome_MAX);

v1::AttemptState EncodeAttemptState(AttemptState state) {
  return static_cast<v1::AttemptState>(static_cast<int>(state) + 1);
}

std::optional<AttemptState> DecodeAttemptState(v1::AttemptState state) {
  const bool is_known = v1::AttemptState_IsValid(state) && state != 0;
  return is_known ? std::optional(static_cast<AttemptState>(state - 1)) : std::nullopt;
}

v1::JobOutcome EncodeOutcome(JobOutcome outcome) {
  return static_cast<v1::JobOutcome>(static_cast<int>(outcome) + 1);
}

std::optional<JobOutcome> DecodeOutcome(v1::JobOutcome outcome) {
  const bool is_known = v1::JobOutcome_IsValid(outcome) && outcome != 0;
  return is_known ? std::optional(static_cast<JobOutcome>(outcome - 1)) : std::nullopt;
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

// Parses times and stores the first fault.
class Parsed {
 public:
  absl::Time At(const char* field, const google::protobuf::Timestamp& message) {
    return Keep(field, ParseTime(message, field), absl::UnixEpoch());
  }
  template <typename V>
  V Value(const char* field, const google::protobuf::Message& message) {
    return Keep(field, Parse<V>(message, /*is_strict=*/false), V{});
  }
  const absl::Status& status() const { return status_; }

 private:
  template <typename V>
  V Keep(const char* field, const absl::StatusOr<V>& value, V otherwise) {
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
    if (task.remaining) EncodeFields(*task.remaining, *added.mutable_remaining());
    added.set_is_speculative(task.is_speculative);
    added.set_failure(ValidText(task.failure));
  }
  message.set_tasks_left_out(tasks.tasks_left_out);
  for (const HeavyGroup& group : tasks.heavy_groups) {
    EncodeFields(group, *message.add_heavy_groups());
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
    added.remaining = parsed.Value<Range>("tasks.remaining", task.remaining());
  }
  for (const v1::HeavyGroup& group : message.heavy_groups()) {
    tasks.heavy_groups.push_back(parsed.Value<HeavyGroup>("heavy_groups", group));
  }
  if (!parsed.status().ok()) return parsed.status();
  return tasks;
}

void EncodeForecasts(const std::vector<PastForecast>& forecasts,
                     google::protobuf::RepeatedPtrField<v1::PastForecast>& messages) {
  for (const PastForecast& forecast : forecasts) EncodeFields(forecast, *messages.Add());
}

absl::StatusOr<std::vector<PastForecast>> ParseForecasts(
    const google::protobuf::RepeatedPtrField<v1::PastForecast>& messages) {
  Parsed parsed;
  std::vector<PastForecast> forecasts;
  for (const v1::PastForecast& message : messages) {
    forecasts.push_back(parsed.Value<PastForecast>("forecasts", message));
  }
  if (!parsed.status().ok()) return parsed.status();
  return forecasts;
}

}  // namespace tidemark::wire
