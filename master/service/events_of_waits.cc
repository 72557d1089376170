#include "master/service/events_of_waits.h"

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "master/waits/longest_group.h"

namespace tidemark::service {

std::optional<Event> EventOfWaits(const Event& event) {
  if (std::holds_alternative<MapProfile>(event.body)) return std::nullopt;
  const auto* profile = std::get_if<ReduceProfile>(&event.body);
  if (profile == nullptr) return event;
  const blame::LongestGroup longest = blame::LongestGroupOf(*profile);
  std::vector<FinishedKey> groups;
  if (longest.time > absl::ZeroDuration()) {
    groups.push_back({.size_bytes = longest.size_bytes, .time = longest.time});
  }
  if (groups.empty() && !profile->processor_use && profile->time == TimeUse{}) return std::nullopt;
  return Event{.job_id = event.job_id,
               .run_uid = event.run_uid,
               .source_id = event.source_id,
               .sequence = event.sequence,
               .sent_at = event.sent_at,
               .arrived_at = event.arrived_at,
               .body = ReduceProfile{.attempt = profile->attempt,
                                     .finished_keys = std::move(groups),
                                     .processor_use = profile->processor_use,
                                     .time = profile->time}};
}

blame::EarlierData EarlierDataOf(std::span<const PastRun> runs) {
  std::vector<double> of_map_stage;
  std::map<std::string, std::vector<double>> of_stages;
  for (const PastRun& run : runs) {
    if (run.is_of_other_job) continue;
    of_map_stage.push_back(static_cast<double>(run.map_input_bytes));
    for (const StageProfile& stage : run.stages.stages) {
      if (!stage.name.empty()) of_stages[stage.name].push_back(stage.read_bytes);
    }
  }
  blame::EarlierData earlier = {.map_stage = blame::EarlierBytesOf(std::move(of_map_stage))};
  for (auto& [name, bytes] : of_stages) {
    if (const auto read = blame::EarlierBytesOf(std::move(bytes))) earlier.stages[name] = *read;
  }
  return earlier;
}

}  // namespace tidemark::service
