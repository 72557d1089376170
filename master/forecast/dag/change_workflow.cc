// Applies the changes that clients make to a running workflow.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "master/facts/job_record.h"
#include "master/forecast/dag/live_workflow.h"
#include "text/did_you_mean.h"
#include "tidemark/field_error.h"
#include "tidemark/limit.h"

namespace tidemark::dag {
namespace {

// Translates the path of an error from the changed plan to the request. Job `known + i` of the plan
// is add_jobs[added[i]].
absl::Status InRequest(const absl::Status& status, std::size_t known,
                       const std::vector<std::size_t>& added) {
  auto [path, description] = WrongFieldOf(status);
  if (path.empty()) return status;
  for (std::size_t i = 0; i < added.size(); ++i) {
    const std::string job = absl::StrCat("jobs[", known + i, "]");
    if (path.starts_with(job)) {
      path = absl::StrCat("add_jobs[", added[i], "]", path.substr(job.size()));
    }
  }
  return FieldError(path, description);
}

}  // namespace

absl::StatusOr<bool> LiveWorkflow::Attach(const std::string& name, const std::string& job_id) {
  const auto place = place_of_name_.find(name);
  if (place == place_of_name_.end()) {
    return absl::NotFoundError(absl::StrCat("workflow ", plan_.id, " has no job ", name,
                                            text::DidYouMean(name, job_names())));
  }
  FollowedJob& job = jobs_[place->second];
  if (job.job_id == job_id && !job.ended_before) {
    job.is_attached = true;
    return false;
  }
  const std::string which = absl::StrCat("job ", name, " of workflow ", plan_.id);
  if (is_cancelled_) return absl::FailedPreconditionError(which + ": the workflow was cancelled");
  if (is_final()) return absl::FailedPreconditionError(which + ": the workflow has ended");
  const bool was_cancelled = job.facts.state == ChildState::kCancelled;
  if (was_cancelled && !plan_.is_open) {
    return absl::FailedPreconditionError(which + ": it was cancelled");
  }
  if (!was_cancelled && !job.is_waiting()) {
    return absl::FailedPreconditionError(absl::StrCat(
        which, ": ", job.job_id, " already reports for it; attach another job once it has failed"));
  }
  if (job.job_id != job_id && place_of_id_.contains(job_id)) {
    return absl::AlreadyExistsError(
        absl::StrCat(which, ": ", job_id,
                     " is, or was, attached to another job of the workflow; use a different id"));
  }
  if (job.facts.failed_attempts > options_.retries_max) {
    return LimitExceeded("retries_per_job", absl::StrCat(which, ": this master allows at most ",
                                                         options_.retries_max, " retries"));
  }
  if (job_id == plan_.id) {
    return FieldError("child_job_id", job_id + " is the id of the workflow");
  }
  // The id of a job that never reported becomes available again.
  if (job.facts.state != ChildState::kRetryable) place_of_id_.erase(job.job_id);
  job.job_id = job_id;
  place_of_id_[job_id] = place->second;
  job.is_attached = true;
  job.ended_before = false;
  job.newest.reset();
  job.left.reset();
  job.awaited_since.reset();
  job.facts.state = ChildState::kPending;
  job.facts.started_at.reset();
  job.facts.ended_at.reset();
  if (was_cancelled) FindParents();
  active_at_ = std::max(active_at_, newest_->at);
  changed_at_ = std::max(changed_at_, newest_->at);
  return true;
}

// Returns true if the job was cancelled and cannot be added again. A request that adds and cancels
// the same jobs may be repeated.
bool LiveWorkflow::IsGivenUp(std::size_t job, const PlanChange& change) const {
  return jobs_[job].facts.state == ChildState::kCancelled && !is_final() &&
         std::ranges::find(change.cancel_jobs, plan_.jobs[job].name) == change.cancel_jobs.end();
}

absl::StatusOr<bool> LiveWorkflow::Update(const PlanChange& change, std::size_t jobs_max) {
  if (change.cancel && !change.add_jobs.empty()) {
    return FieldError("add_jobs", "a request that cancels the workflow cannot add jobs");
  }
  Plan changed = plan_;
  std::vector<std::size_t> added;  // indexes in the request
  for (std::size_t i = 0; i < change.add_jobs.size(); ++i) {
    const PlannedJob& job = change.add_jobs[i];
    const std::string path = absl::StrCat("add_jobs[", i, "]");
    if (const auto known = place_of_name_.find(job.name); known != place_of_name_.end()) {
      if (plan_.jobs[known->second] == job) {  // added by an earlier request
        if (!IsGivenUp(known->second, change)) continue;
        return absl::FailedPreconditionError(
            absl::StrCat("job ", job.name, " of workflow ", plan_.id,
                         " was cancelled; add it under another name"));
      }
      return FieldError(path + ".name", job.name + " is taken by another job of the workflow");
    }
    if (!job.job_id.empty() && place_of_id_.contains(job.job_id)) {
      return FieldError(
          path + ".job_id",
          job.job_id + " is, or was, attached to another job of the workflow; use a different id");
    }
    changed.jobs.push_back(job);
    added.push_back(i);
  }
  std::vector<std::size_t> cancelled;
  for (std::size_t i = 0; i < change.cancel_jobs.size(); ++i) {
    const std::string& name = change.cancel_jobs[i];
    const auto place = place_of_name_.find(name);
    if (place == place_of_name_.end()) {
      return FieldError(absl::StrCat("cancel_jobs[", i, "]"),
                        absl::StrCat("unknown job ", name, text::DidYouMean(name, job_names())));
    }
    const ChildState state = jobs_[place->second].facts.state;
    if (state == ChildState::kCancelled) continue;
    if (state != ChildState::kPending && state != ChildState::kAwaited) {
      return absl::FailedPreconditionError(absl::StrCat("job ", name, " of workflow ", plan_.id,
                                                        " has started and cannot be cancelled"));
    }
    cancelled.push_back(place->second);
  }
  if (change.close && !plan_.is_open) {
    return absl::FailedPreconditionError(absl::StrCat(
        "workflow ", plan_.id, " is a plan and ends with its jobs; cancel jobs to end it earlier"));
  }
  const bool closes = change.close && !is_closed_ && !is_final();
  const bool sets_deadline = change.deadline && change.deadline != plan_.deadline;
  const bool is_news = !added.empty() || !cancelled.empty() || (change.cancel && !is_cancelled_) ||
                       closes || sets_deadline;
  if (!is_news) return false;
  // A cancelled workflow ends with its next snapshot.
  if (is_cancelled_) {
    return absl::FailedPreconditionError(absl::StrCat("workflow ", plan_.id, " was cancelled"));
  }
  if (is_final()) {
    return absl::FailedPreconditionError(absl::StrCat("workflow ", plan_.id, " has ended"));
  }
  // If no jobs are added, the plan stays valid even if the limit has been lowered.
  if (!added.empty()) {
    const absl::Status checked = CheckWorkflow(changed, jobs_max);
    if (!checked.ok()) return InRequest(checked, plan_.jobs.size(), added);
  }
  if (sets_deadline) changed.deadline = change.deadline;
  plan_ = std::move(changed);
  while (jobs_.size() < plan_.jobs.size()) AddJob(plan_.jobs[jobs_.size()]);
  for (const std::size_t i : cancelled) {
    jobs_[i].facts.state = ChildState::kCancelled;
    jobs_[i].facts.ended_at = std::max(active_at_, newest_->at);
    jobs_[i].awaited_since.reset();
  }
  is_cancelled_ = is_cancelled_ || change.cancel;
  is_closed_ = is_closed_ || closes;
  FindParents();
  active_at_ = std::max(active_at_, newest_->at);
  changed_at_ = std::max(changed_at_, newest_->at);
  return true;
}

// Removes cancelled jobs from the graph, so that they wait for no job and no job waits for them.
void LiveWorkflow::FindParents() {
  const auto is_cancelled = [&](std::size_t job) {
    return jobs_[job].facts.state == ChildState::kCancelled;
  };
  parents_ = ParentsOf(plan_);
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (is_cancelled(i)) parents_[i].clear();
    std::erase_if(parents_[i], is_cancelled);
  }
}

namespace {

// Returns the nodes of the graph as jobs, without the nodes that precede the reporting job: these
// have ended or will not run. Jobs that wait for no other node wait for `before`.
std::vector<PlannedJob> JobsOfGraph(const JobWorkflow& reported, const std::string& shape,
                                    const std::vector<std::string>& before) {
  absl::flat_hash_map<std::string, const WorkflowNode*> of_name;
  for (const WorkflowNode& node : reported.nodes) of_name[node.name] = &node;
  absl::flat_hash_set<std::string> preceding;
  std::vector<std::string> open = {reported.node};
  while (!open.empty()) {
    const auto node = of_name.find(open.back());
    open.pop_back();
    if (node == of_name.end()) continue;
    for (const std::string& name : node->second->after) {
      if (preceding.insert(name).second) open.push_back(name);
    }
  }
  std::vector<PlannedJob> jobs;
  for (const WorkflowNode& node : reported.nodes) {
    if (preceding.contains(node.name)) continue;
    PlannedJob& job = jobs.emplace_back();
    job.name = node.name;
    job.history_name = facts::NodeHistoryName(reported, shape, node.name);
    for (const std::string& name : node.after) {
      if (!preceding.contains(name)) job.after.push_back(name);
    }
    if (job.after.empty()) job.after = before;
  }
  return jobs;
}

}  // namespace

std::string OpenHistoryName(const JobWorkflow& reported) {
  return facts::WorkflowHistoryName(reported, facts::ShapeOf(reported));
}

std::vector<std::string> HistoryNamesOf(const Plan& plan, const PlannedJob& job) {
  std::vector<std::string> names = {job.history_name.empty() ? job.name : job.history_name};
  const std::string of_node = facts::NodeHistoryName({.name = plan.name}, "", job.name);
  if (plan.is_open && names.front() == of_node) names.push_back(job.name);
  return names;
}

std::string LiveWorkflow::history_name() const {
  // The shape is the end of each job's name (NodeHistoryName()), unless a client chose the name.
  constexpr std::size_t kShapeBytes = 10;
  const PlannedJob& first = plan_.jobs.front();
  const std::string& name = first.history_name;
  const JobWorkflow workflow = {.name = plan_.name};
  const std::string start = facts::NodeHistoryName(workflow, "", first.name);
  const bool has_shape =
      name.size() == start.size() + kShapeBytes && name.starts_with(start + " #");
  return facts::WorkflowHistoryName(workflow, has_shape ? name.substr(start.size()) : "");
}

const PastRun* FindPastRun(const JobWorkflow& reported, const std::vector<PastRun>& past_runs) {
  const auto run = std::ranges::find_if(past_runs, [&](const PastRun& past) {
    return std::ranges::find(past.stages, reported.node, &PastStage::name) != past.stages.end();
  });
  return run == past_runs.end() ? nullptr : &*run;
}

Plan OpenPlan(const JobWorkflow& reported, const PastRun* past_run) {
  Plan plan = {
      .id = reported.id, .name = reported.name, .retry_within = reported.quiet, .is_open = true};
  const std::string shape = facts::ShapeOf(reported);
  if (past_run != nullptr) {
    // Limits of the slots of a plan.
    plan.cluster.slots = static_cast<std::uint32_t>(std::clamp(past_run->slots, 1.0, 1e6));
    for (const PastStage& stage : past_run->stages) {
      PlannedJob& job = plan.jobs.emplace_back();
      job.name = stage.name;
      job.history_name = facts::NodeHistoryName(reported, shape, stage.name);
      for (const std::size_t parent : stage.parents) {
        if (parent < past_run->stages.size()) job.after.push_back(past_run->stages[parent].name);
      }
    }
    if (CheckPlan(plan).ok()) return plan;
    plan.jobs.clear();
    plan.cluster = {};
  }
  plan.jobs = JobsOfGraph(reported, shape, {});
  if (plan.jobs.empty()) {
    plan.jobs.push_back({.name = reported.node,
                         .history_name = facts::NodeHistoryName(reported, shape, reported.node)});
  }
  return plan;
}

std::vector<std::string> LiveWorkflow::EndedJobs() const {
  std::vector<bool> is_parent(jobs_.size());
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (jobs_[i].facts.state != ChildState::kSucceeded) continue;
    for (const std::size_t parent : parents_[i]) is_parent[parent] = true;
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const bool has_succeeded = jobs_[i].facts.state == ChildState::kSucceeded;
    if (has_succeeded && !is_parent[i]) names.push_back(plan_.jobs[i].name);
  }
  return names;
}

void LiveWorkflow::CancelSkipped(std::size_t index, JoinPlan& join) const {
  std::vector<bool> is_seen(jobs_.size());
  std::vector<std::size_t> open = {index};
  while (!open.empty()) {
    const std::size_t job = open.back();
    open.pop_back();
    for (const std::size_t parent : parents_[job]) {
      if (is_seen[parent]) continue;
      is_seen[parent] = true;
      open.push_back(parent);
      const FollowedJob& before = jobs_[parent];
      const bool has_come = !before.job_id.empty() || before.facts.state == ChildState::kRetryable;
      if (before.is_waiting() && !has_come)
        join.change.cancel_jobs.push_back(plan_.jobs[parent].name);
    }
  }
}

JoinPlan LiveWorkflow::PlanJoin(const JobWorkflow& reported, const std::string& job_id) const {
  if (const auto known = place_of_id_.find(job_id); known != place_of_id_.end()) {
    return {.change = {}, .child = plan_.jobs[known->second].name};
  }
  JoinPlan join;
  const std::string shape = facts::ShapeOf(reported);
  const std::vector<std::string> ended = EndedJobs();
  const bool is_known_graph = std::ranges::any_of(plan_.jobs, [&](const PlannedJob& job) {
    return !shape.empty() && job.history_name.ends_with(shape);
  });
  absl::flat_hash_set<std::string> added;
  if (!is_known_graph) {
    for (PlannedJob& job : JobsOfGraph(reported, shape, ended)) {
      if (place_of_name_.contains(job.name)) continue;
      added.insert(job.name);
      join.change.add_jobs.push_back(std::move(job));
    }
  }
  std::optional<std::size_t> place;
  for (std::size_t run = 1;; ++run) {
    join.child = run == 1 ? reported.node : absl::StrCat(reported.node, " (", run, ")");
    if (added.contains(join.child)) return join;
    const auto known = place_of_name_.find(join.child);
    if (known == place_of_name_.end()) break;
    const FollowedJob& job = jobs_[known->second];
    const bool is_free = job.is_waiting() && (job.job_id.empty() || job.has_ended());
    if (!is_free && job.facts.state != ChildState::kCancelled) continue;
    place = known->second;
    break;
  }
  if (place) {
    CancelSkipped(*place, join);
    return join;
  }
  PlannedJob job = {.name = join.child,
                    .history_name = facts::NodeHistoryName(reported, shape, join.child)};
  for (const std::string& id : reported.parent_job_ids) {
    const auto parent = place_of_id_.find(id);
    if (parent != place_of_id_.end()) job.after.push_back(plan_.jobs[parent->second].name);
  }
  if (job.after.empty()) job.after = ended;
  join.change.add_jobs.push_back(std::move(job));
  // If the past run lacks most jobs of this run, its remaining jobs are not expected either.
  if (!shape.empty()) return join;
  std::size_t expected = 0;
  for (std::size_t i = 0; i < submitted_jobs_; ++i) expected += jobs_[i].job_id.empty() ? 0 : 1;
  if (jobs_.size() + 1 - submitted_jobs_ <= expected) return join;
  for (std::size_t i = 0; i < submitted_jobs_; ++i) {
    const bool may_come = jobs_[i].is_waiting() && jobs_[i].job_id.empty();
    if (may_come) join.change.cancel_jobs.push_back(plan_.jobs[i].name);
  }
  return join;
}

std::string LiveWorkflow::HistoryNameOf(const std::string& job_id) const {
  const auto place = place_of_id_.find(job_id);
  return place == place_of_id_.end() || !plan_.is_open ? ""
                                                       : plan_.jobs[place->second].history_name;
}

absl::Status CheckWorkflow(const Plan& plan, std::size_t jobs_max) {
  if (plan.id.empty()) return FieldError("id", "is missing");
  if (plan.jobs.size() > jobs_max) {
    return LimitExceeded("jobs_per_workflow",
                         absl::StrCat("workflow ", plan.id, " has ", plan.jobs.size(),
                                      " jobs; this master allows at most ", jobs_max));
  }
  for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
    if (plan.jobs[i].stages.empty()) continue;
    return FieldError(absl::StrCat("jobs[", i, "].stages"),
                      "must be empty: a master accepts only jobs described by their task "
                      "counts; `tidemark what-if` estimates stages without a master");
  }
  return CheckPlan(plan);
}

placement::Parents ParentsOf(const Plan& plan) {
  absl::flat_hash_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < plan.jobs.size(); ++i) places[plan.jobs[i].name] = i;
  placement::Parents parents(plan.jobs.size());
  for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
    for (const std::string& parent : plan.jobs[i].after) {
      parents[i].push_back(places.at(parent));
    }
  }
  return parents;
}

}  // namespace tidemark::dag
