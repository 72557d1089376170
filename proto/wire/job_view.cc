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

Snapshot WithView(Snapshot snapshot, View view) {
  if (view == View::kUnknown || view == View::kFull) return snapshot;
  snapshot.named_tasks.clear();
  snapshot.indicators.clear();
  snapshot.coverage.reset();
  // How right what they were shown was, readers of lists want to know, too.
  const std::string& shown = snapshot.estimate.indicator;
  std::erase_if(snapshot.errors, [&](const IndicatorError& error) {
    return error.indicator != (shown.empty() ? "tidemark" : shown);
  });
  if (view == View::kStages) return snapshot;
  snapshot.stage_infos.clear();
  snapshot.stages.clear();
  snapshot.children.clear();
  snapshot.groups.clear();
  snapshot.removed_stages.clear();
  return snapshot;
}

bool Matches(const JobFilter& filter, const Snapshot& snapshot) {
  const JobInfo info = snapshot.info.value_or(JobInfo{});
  const std::string& name = info.name.empty() ? snapshot.job_id : info.name;
  return IsEmptyOrHas(filter.states, snapshot.state) && IsEmptyOrHas(filter.kinds, info.kind) &&
         IsEmptyOrIs(filter.user, info.user) && IsEmptyOrIs(filter.queue, info.queue) &&
         IsEmptyOrIs(filter.workflow_id, info.workflow_id) && name.starts_with(filter.name_prefix);
}

}  // namespace tidemark::wire
