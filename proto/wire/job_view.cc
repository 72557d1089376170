#include "proto/wire/job_view.h"

#include <algorithm>

namespace tidemark::wire {
namespace {

template <typename T>
bool IsEmptyOrHas(const std::vector<T>& wanted, T value) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), value) != wanted.end();
}

bool IsEmptyOrIs(const std::string& wanted, const std::string& value) {
  return wanted.empty() || wanted == value;
}

}  // namespace

Snapshot WithoutParts(const Snapshot& snapshot) {
  return {.job_id = snapshot.job_id,
          .run_uid = snapshot.run_uid,
          .sequence = snapshot.sequence,
          .base_sequence = snapshot.base_sequence,
          .at = snapshot.at,
          .state = snapshot.state,
          .is_final = snapshot.is_final,
          .message = snapshot.message,
          .info = snapshot.info,
          .started_at = snapshot.started_at,
          .ended_at = snapshot.ended_at,
          .estimate = snapshot.estimate,
          .counts = snapshot.counts,
          .silent_since = snapshot.silent_since,
          .notes = snapshot.notes,
          .deadline = snapshot.deadline,
          .late_probability = snapshot.late_probability,
          .named_tasks = snapshot.named_tasks,
          .indicators = snapshot.indicators,
          .coverage = snapshot.coverage,
          .errors = snapshot.errors};
}

Snapshot WithView(const Snapshot& snapshot, View view) {
  if (view == View::kUnknown || view == View::kFull) return snapshot;
  Snapshot viewed = view == View::kStages ? snapshot : WithoutParts(snapshot);
  viewed.named_tasks.clear();
  viewed.indicators.clear();
  viewed.coverage.reset();
  // How right what they were shown was, readers of lists want to know, too.
  const std::string& shown = viewed.estimate.indicator;
  std::erase_if(viewed.errors, [&](const IndicatorError& error) {
    return error.indicator != (shown.empty() ? "tidemark" : shown);
  });
  return viewed;
}

bool Matches(const JobFilter& filter, const Snapshot& snapshot) {
  static const auto* const kUnknown = new JobInfo();
  const JobInfo& info = snapshot.info ? *snapshot.info : *kUnknown;
  const std::string& name = info.name.empty() ? snapshot.job_id : info.name;
  return IsEmptyOrHas(filter.states, snapshot.state) && IsEmptyOrHas(filter.kinds, info.kind) &&
         IsEmptyOrIs(filter.user, info.user) && IsEmptyOrIs(filter.queue, info.queue) &&
         IsEmptyOrIs(filter.workflow_id, info.workflow_id) && name.starts_with(filter.name_prefix);
}

}  // namespace tidemark::wire
