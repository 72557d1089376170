// Tasks and past forecasts of a job to their messages, and tasks from them
// (tidemark/v1/job_service.proto).
#pragma once

#include <google/protobuf/repeated_field.h>

#include <vector>

#include "absl/status/statusor.h"
#include "tidemark/job_tasks.h"

namespace tidemark::v1 {
class ListTasksResponse;
class PastForecast;
}  // namespace tidemark::v1

namespace tidemark::wire {

// Text is made UTF-8, and times that a message cannot hold become the nearest that it can.
void EncodeTasks(const JobTasks& tasks, v1::ListTasksResponse& message);
// InvalidArgument (FieldError) names the first field that breaks a promise. Tasks in states that
// this version does not know are treated as running.
absl::StatusOr<JobTasks> ParseTasks(const v1::ListTasksResponse& message);
void EncodeForecasts(const std::vector<PastForecast>& forecasts,
                     google::protobuf::RepeatedPtrField<v1::PastForecast>& messages);
// Parses forecasts. InvalidArgument (FieldError): an instant is out of range, or a fraction is not
// within 0 and 1.
absl::StatusOr<std::vector<PastForecast>> ParseForecasts(
    const google::protobuf::RepeatedPtrField<v1::PastForecast>& messages);

}  // namespace tidemark::wire
