// Applies the changes that clients make to a running workflow.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
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
  if (job.facts.state == ChildState::kCancelled) {
    return absl::FailedPreconditionError(which + ": it was cancelled");
  }
  if (!job.is_waiting()) {
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
  const bool is_news = !added.empty() || !cancelled.empty() || (change.cancel && !is_cancelled_);
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
  plan_ = std::move(changed);
  while (jobs_.size() < plan_.jobs.size()) AddJob(plan_.jobs[jobs_.size()]);
  for (const std::size_t i : cancelled) {
    jobs_[i].facts.state = ChildState::kCancelled;
    jobs_[i].facts.ended_at = std::max(active_at_, newest_->at);
    jobs_[i].awaited_since.reset();
  }
  is_cancelled_ = is_cancelled_ || change.cancel;
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
