#include "proto/wire/task_codec.h"

#include "proto/wire/attempt_message.h"
#include "proto/wire/message_time.h"
#include "proto/wire/valid_text.h"
#include "tidemark/v1/job_service.pb.h"

namespace tidemark::wire {
namespace {

void Encode(const Range& range, v1::Range& message) {
  EncodeDuration(range.median, *message.mutable_median());
  if (range.lower) EncodeDuration(*range.lower, *message.mutable_lower());
  if (range.upper) EncodeDuration(*range.upper, *message.mutable_upper());
}

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

void EncodeForecasts(const std::vector<PastForecast>& forecasts,
                     v1::ListForecastsResponse& message) {
  for (const PastForecast& forecast : forecasts) {
    v1::PastForecast& added = *message.add_forecasts();
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

}  // namespace tidemark::wire
