#include "master/service/live_waits.h"

#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "master/blame/longest_group.h"

namespace tidemark::service {
namespace {

constexpr absl::Duration kAdvanceEvery = absl::Seconds(1);
constexpr absl::Duration kForgetEvery = absl::Seconds(30);

// What of an event is of waits, and of key groups the longest, since all are large; empty: nothing.
std::optional<Event> OfWaits(const Event& event) {
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

}  // namespace

void LiveWaits::SetPastRuns(const std::string& job_id, std::span<const PastRun> runs) {
  blame::EarlierData earlier = EarlierDataOf(runs);
  const std::lock_guard lock(inbox_mutex_);
  earlier_inbox_.emplace_back(job_id, std::move(earlier));
}

void LiveWaits::Resume(const std::string& job_id, const std::string& run_uid, absl::Time now) {
  const std::lock_guard lock(mutex_);
  waits_.Resume(job_id, run_uid, now);
}

void LiveWaits::Observe(const Event& event) {
  std::optional<Event> of_waits = OfWaits(event);
  if (!of_waits) return;
  {
    const std::lock_guard lock(inbox_mutex_);
    inbox_.push_back(*std::move(of_waits));
    if (inbox_.size() < kInboxMax) return;
  }
  const std::lock_guard lock(mutex_);
  TakeIn();
}

void LiveWaits::TakeIn() {
  std::vector<Event> events;
  std::vector<std::pair<std::string, blame::EarlierData>> earlier;
  {
    const std::lock_guard lock(inbox_mutex_);
    events.swap(inbox_);
    earlier.swap(earlier_inbox_);
  }
  for (const Event& event : events) waits_.Apply(event);
  for (auto& [job_id, data] : earlier) waits_.SetEarlierData(job_id, std::move(data));
}

void LiveWaits::Advance(absl::Time now,
                        const std::function<bool(const std::string& job_id)>& is_known) {
  const std::lock_guard lock(mutex_);
  if (now < advanced_at_ + kAdvanceEvery) return;
  advanced_at_ = now;
  TakeIn();
  waits_.Advance(now);
  if (now < forgot_at_ + kForgetEvery) return;
  forgot_at_ = now;
  for (const std::string& job_id : waits_.jobs()) {
    if (!is_known(job_id)) waits_.Forget(job_id);
  }
}

std::optional<Explanation> LiveWaits::Ask(const std::string& job_id,
                                          const ExplainQuestion& question) {
  const std::lock_guard lock(mutex_);
  TakeIn();
  return waits_.Ask(job_id, question);
}

std::vector<blame::LossesTo> LiveWaits::Losses(const std::string& job_id,
                                               const std::set<blame::QueryName>& to,
                                               std::size_t most,
                                               const std::optional<absl::Duration>& last) {
  const std::lock_guard lock(mutex_);
  return waits_.Losses(job_id, to, most, last);
}

std::vector<blame::CostOf> LiveWaits::Costs(const std::string& job_id,
                                            const std::set<blame::QueryName>& to, std::size_t most,
                                            const std::optional<absl::Duration>& last) {
  const std::lock_guard lock(mutex_);
  return waits_.Costs(job_id, to, most, last);
}

}  // namespace tidemark::service
