// Tasks and past forecasts of a job to their messages, and tasks from them
// (tidemark/v1/job_service.proto).
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "tidemark/job_tasks.h"

namespace tidemark::v1 {
class ListForecastsResponse;
class ListTasksResponse;
}  // namespace tidemark::v1

namespace tidemark::wire {

// Text is made UTF-8, and times that a message cannot hold become the nearest that it can.
void EncodeTasks(const JobTasks& tasks, v1::ListTasksResponse& message);
// InvalidArgument (FieldError) names the first field that breaks a promise. States that this
// version does not know are those of tasks that run.
absl::StatusOr<JobTasks> ParseTasks(const v1::ListTasksResponse& message);
void EncodeForecasts(const std::vector<PastForecast>& forecasts,
                     v1::ListForecastsResponse& message);

}  // namespace tidemark::wire
