#include "serve/alerts/workflow_causes.h"

#include <algorithm>

namespace tidemark::cli {
namespace {

template <typename IsWanted>
std::vector<std::string> NamesOfChildren(const Snapshot& workflow, IsWanted is_wanted) {
  std::vector<std::string> names;
  for (const Child& child : workflow.children) {
    if (is_wanted(child)) names.push_back(child.name);
  }
  return names;
}

bool IsRunning(const Child& child) { return child.state == ChildState::kRunning; }

}  // namespace

bool IsLateWith(const Snapshot& job, const Snapshot& workflow) {
  return job.deadline && workflow.deadline && *job.deadline >= *workflow.deadline;
}

std::vector<std::string> NamesOf(const std::vector<const Snapshot*>& jobs,
                                 const Snapshot& workflow) {
  return NamesOfChildren(workflow, [&](const Child& child) {
    return std::ranges::any_of(jobs,
                               [&](const Snapshot* job) { return job->job_id == child.job_id; });
  });
}

std::vector<std::string> JobsWaitedFor(const Snapshot& workflow) {
  std::vector<std::string> names = NamesOfChildren(
      workflow, [](const Child& child) { return IsRunning(child) && child.is_critical; });
  if (names.empty()) names = NamesOfChildren(workflow, IsRunning);
  if (!names.empty()) return names;
  return NamesOfChildren(workflow, [](const Child& child) {
    return child.state == ChildState::kAwaited || child.state == ChildState::kRetryable;
  });
}

}  // namespace tidemark::cli
