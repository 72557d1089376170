#include "proto/wire/task_codec.h"

#include "proto/wire/fields.h"
#include "proto/wire/job_fields.h"
#include "proto/wire/message_json.h"
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

template <class Io, wire::ConstOrNot<HostTasks> V>
void Fields(Io& io, V& host) {
  io("host", host.host);
  io("running_count", host.running);
  io("finished_count", host.finished);
  io("failed_count", host.failed);
  io("busy", host.busy);
}

template <class Io, wire::ConstOrNot<TaskProgress> V>
void Fields(Io& io, V& task) {
  io("attempt", task.attempt);
  io.FromOne("state", task.state);
  io("host", task.host);
  io("started_at", task.started_at);
  io("ended_at", task.ended_at);
  io("remaining", task.remaining);
  io("is_speculative", task.is_speculative);
  io("failure", task.failure);
  io("throughput", task.throughput);
}

template <class Io, wire::ConstOrNot<JobTasks> V>
void Fields(Io& io, V& tasks) {
  io("at", tasks.at);
  io("began_at", tasks.began_at);
  io("hosts", tasks.hosts);
  io("hosts_left_out", tasks.hosts_left_out);
  io("tasks", tasks.tasks);
  io("tasks_left_out", tasks.tasks_left_out);
  io("heavy_groups", tasks.heavy_groups);
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

// Each value is one less than the number in messages, in which 0 means unspecified.
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

void EncodeTasks(const JobTasks& tasks, v1::ListTasksResponse& message) { Encode(tasks, message); }

std::string TaskJson(const TaskProgress& task) {
  v1::TaskProgress message;
  Encode(task, message);
  return MessageJson(message);
}

absl::StatusOr<JobTasks> ParseTasks(const v1::ListTasksResponse& message) {
  return Parse<JobTasks>(message, /*is_strict=*/false);
}

void EncodeForecasts(const std::vector<PastForecast>& forecasts,
                     google::protobuf::RepeatedPtrField<v1::PastForecast>& messages) {
  for (const PastForecast& forecast : forecasts) EncodeFields(forecast, *messages.Add());
}

absl::StatusOr<std::vector<PastForecast>> ParseForecasts(
    const google::protobuf::RepeatedPtrField<v1::PastForecast>& messages) {
  std::vector<PastForecast> forecasts;
  for (const v1::PastForecast& message : messages) {
    const auto forecast = Parse<PastForecast>(message, /*is_strict=*/false);
    if (!forecast.ok()) return FieldErrorWithin("forecasts", forecast.status());
    forecasts.push_back(*forecast);
  }
  return forecasts;
}

}  // namespace tidemark::wire
