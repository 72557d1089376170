// Tasks and past forecasts of a job to their messages (tidemark/v1/job_service.proto).
#pragma once

#include <vector>

#include "tidemark/job_tasks.h"

namespace tidemark::v1 {
class ListForecastsResponse;
class ListTasksResponse;
}  // namespace tidemark::v1

namespace tidemark::wire {

// Text is made UTF-8, and times that a message cannot hold become the nearest that it can.
void EncodeTasks(const JobTasks& tasks, v1::ListTasksResponse& message);
void EncodeForecasts(const std::vector<PastForecast>& forecasts,
                     v1::ListForecastsResponse& message);

}  // namespace tidemark::wire
