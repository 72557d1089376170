#include "master/store/run_profile.h"

#include <algorithm>
#include <cmath>

namespace tidemark::store {
namespace {

namespace pb = ::tidemark::storage::v1;
namespace v1 = ::tidemark::v1;

bool IsAmount(double amount) { return std::isfinite(amount) && amount >= 0; }

}  // namespace

void EncodeRunProfile(const RunProfile& run, pb::LoggedRunProfile& message) {
  message.set_slots(run.slots);
  if (!CanBeKept(run)) return;
  for (const auto& [name, value] : run.parameters) {
    v1::Parameter& parameter = *message.add_parameters();
    parameter.set_name(name);
    parameter.set_value(value);
  }
  for (const StageProfile& stage : run.stages) {
    pb::LoggedStageProfile& logged = *message.add_stages();
    logged.set_name(stage.name);
    logged.set_title(stage.title);
    logged.set_work(stage.work);
    logged.set_read_bytes(stage.read_bytes);
    logged.mutable_parents()->Add(stage.parents.begin(), stage.parents.end());
    if (!stage.fetches) logged.set_fetches(false);
    logged.set_tasks(stage.tasks);
    logged.set_lag_seconds(stage.lag);
    for (const auto& times : stage.seconds) {
      logged.add_kinds()->mutable_seconds()->Add(times.begin(), times.end());
    }
    for (const LongTask& task : stage.long_tasks) {
      pb::LoggedLongTask& long_task = *logged.add_long_tasks();
      long_task.set_index(task.index);
      long_task.set_more_seconds(static_cast<float>(task.more_seconds));
    }
  }
}

RunProfile DecodeRunProfile(const pb::LoggedRunProfile& message) {
  RunProfile run;
  if (IsAmount(message.slots())) run.slots = std::max(message.slots(), 1.0);
  for (const v1::Parameter& parameter : message.parameters()) {
    run.parameters.try_emplace(parameter.name(), parameter.value());
  }
  if (static_cast<std::size_t>(message.stages_size()) > RunProfile::kStagesMax) return run;
  for (const pb::LoggedStageProfile& logged : message.stages()) {
    StageProfile& stage = run.stages.emplace_back();
    stage.name = logged.name();
    stage.title = logged.title();
    stage.work = logged.work();
    stage.read_bytes = IsAmount(logged.read_bytes()) ? logged.read_bytes() : 0;
    for (const std::uint32_t parent : logged.parents()) {
      if (parent < static_cast<std::uint32_t>(message.stages_size())) {
        stage.parents.push_back(parent);
      }
    }
    stage.fetches = !logged.has_fetches() || logged.fetches();
    stage.tasks = logged.tasks();
    stage.lag = IsAmount(logged.lag_seconds()) ? logged.lag_seconds() : 0;
    const std::size_t kinds =
        std::min<std::size_t>(stage.seconds.size(), static_cast<std::size_t>(logged.kinds_size()));
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      for (const float seconds : logged.kinds(static_cast<int>(kind)).seconds()) {
        if (IsAmount(seconds)) stage.seconds[kind].push_back(seconds);
      }
    }
    for (const pb::LoggedLongTask& task : logged.long_tasks()) {
      const bool is_next = stage.long_tasks.empty() || stage.long_tasks.back().index < task.index();
      if (!is_next || task.index() >= stage.tasks || !IsAmount(task.more_seconds())) continue;
      if (stage.long_tasks.size() == StageProfile::kLongTasksMax) break;
      stage.long_tasks.push_back({.index = task.index(), .more_seconds = task.more_seconds()});
    }
  }
  if (!CanBeKept(run)) run = {.slots = run.slots};
  return run;
}

}  // namespace tidemark::store
