// Converts the tasks and past forecasts of a job to and from messages
// (tidemark/v1/job_service.proto).
#pragma once

#include <google/protobuf/repeated_field.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tidemark/event.h"
#include "tidemark/job_tasks.h"
#include "tidemark/v1/event.pb.h"

namespace tidemark::v1 {
class ListTasksResponse;
class PastForecast;
}  // namespace tidemark::v1

namespace tidemark::wire {

v1::AttemptState EncodeAttemptState(AttemptState state);
// Returns nullopt if the state is unspecified or unknown.
std::optional<AttemptState> DecodeAttemptState(v1::AttemptState state);
v1::JobOutcome EncodeOutcome(JobOutcome outcome);
// Returns nullopt if the outcome is unspecified or unknown.
std::optional<JobOutcome> DecodeOutcome(v1::JobOutcome outcome);
void EncodeAttemptId(const AttemptId& id, v1::TaskAttemptId& message);
AttemptId DecodeAttemptId(const v1::TaskAttemptId& message);

// Encodes tasks. Replaces invalid UTF-8, and limits times to the range of the message.
void EncodeTasks(const JobTasks& tasks, v1::ListTasksResponse& message);
// Returns tidemark.v1.TaskProgress in the format of MessageJson().
std::string TaskJson(const TaskProgress& task);
// Parses tasks. Fails with InvalidArgument (FieldError), which names the first wrong field. Treats
// tasks in unknown states as running.
absl::StatusOr<JobTasks> ParseTasks(const v1::ListTasksResponse& message);
void EncodeForecasts(const std::vector<PastForecast>& forecasts,
                     google::protobuf::RepeatedPtrField<v1::PastForecast>& messages);
// Fails with InvalidArgument (FieldError) if a time is out of range or a fraction is not within
// 0..1.
absl::StatusOr<std::vector<PastForecast>> ParseForecasts(
    const google::protobuf::RepeatedPtrField<v1::PastForecast>& messages);

}  // namespace tidemark::wire
