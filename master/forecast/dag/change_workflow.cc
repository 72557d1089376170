// How a workflow is changed from outside while it runs.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "master/forecast/dag/check_workflow.h"
#include "master/forecast/dag/live_workflow.h"
#include "text/did_you_mean.h"
#include "tidemark/field_error.h"
#include "tidemark/limit.h"

namespace tidemark::workflow {
namespace {

// Rewrites the path of an error in the changed plan to that of the request: job `known + i` is
// add_jobs[added[i]].
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
        absl::StrCat(which, ": ", job_id, " already is or was another job of the workflow"));
  }
  if (job.facts.failed_attempts > options_.retries_max) {
    return LimitExceeded("retries_per_job", absl::StrCat(which, ": this master allows at most ",
                                                         options_.retries_max, " retries"));
  }
  if (job_id == plan_.id) {
    return FieldError("child_job_id", job_id + " is the id of the workflow");
  }
  // An id that was never heard of is not kept.
  if (job.facts.state != ChildState::kRetryable) place_of_id_.erase(job.job_id);
  job.job_id = job_id;
  place_of_id_[job_id] = place->second;
  job.is_attached = true;
  job.ended_before = false;
  job.newest.reset();
  job.left.reset();
  job.own_bar = 0;
  shown_.Forget(static_cast<std::uint32_t>(place->second) + 1);
  job.awaited_since.reset();
  job.facts.state = ChildState::kPending;
  job.facts.started_at.reset();
  job.facts.ended_at.reset();
  active_at_ = std::max(active_at_, newest_->at);
  changed_at_ = std::max(changed_at_, newest_->at);
  return true;
}

// So that it cannot be added; a request that cancels what it adds may be repeated.
bool LiveWorkflow::IsGivenUp(std::size_t job, const PlanChange& change) const {
  return jobs_[job].facts.state == ChildState::kCancelled && !is_final() &&
         std::ranges::find(change.cancel_jobs, plan_.jobs[job].name) == change.cancel_jobs.end();
}

absl::StatusOr<bool> LiveWorkflow::Update(const PlanChange& change, std::size_t jobs_max) {
  if (change.cancel && !change.add_jobs.empty()) {
    return FieldError("add_jobs", "none can be added by a request that cancels the workflow");
  }
  Plan changed = plan_;
  std::vector<std::size_t> added;  // places in the request
  for (std::size_t i = 0; i < change.add_jobs.size(); ++i) {
    const PlannedJob& job = change.add_jobs[i];
    const std::string path = absl::StrCat("add_jobs[", i, "]");
    if (const auto known = place_of_name_.find(job.name); known != place_of_name_.end()) {
      if (plan_.jobs[known->second] == job) {  // it was added before
        if (!IsGivenUp(known->second, change)) continue;
        return absl::FailedPreconditionError(
            absl::StrCat("job ", job.name, " of workflow ", plan_.id,
                         " was cancelled; add it under another name"));
      }
      return FieldError(path + ".name", job.name + " is taken by another job of the workflow");
    }
    if (!job.job_id.empty() && place_of_id_.contains(job.job_id)) {
      return FieldError(path + ".job_id",
                        job.job_id + " already is or was another job of the workflow");
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
                                                        " has begun and cannot be cancelled"));
    }
    cancelled.push_back(place->second);
  }
  const bool is_news = !added.empty() || !cancelled.empty() || (change.cancel && !is_cancelled_);
  if (!is_news) return false;
  // It ends with its next snapshot.
  if (is_cancelled_) {
    return absl::FailedPreconditionError(absl::StrCat("workflow ", plan_.id, " was cancelled"));
  }
  if (is_final()) {
    return absl::FailedPreconditionError(absl::StrCat("workflow ", plan_.id, " has ended"));
  }
  // Without new jobs the plan is valid, even if the limit is lower by now.
  if (!added.empty()) {
    const absl::Status checked = CheckWorkflow(changed, jobs_max);
    if (!checked.ok()) return InRequest(checked, plan_.jobs.size(), added);
  }
  plan_ = std::move(changed);
  while (jobs_.size() < plan_.jobs.size()) AddJob(plan_.jobs[jobs_.size()]);
  for (const std::size_t i : cancelled) {
    jobs_[i].facts.state = ChildState::kCancelled;
    jobs_[i].awaited_since.reset();
  }
  is_cancelled_ = is_cancelled_ || change.cancel;
  FindParents();
  active_at_ = std::max(active_at_, newest_->at);
  changed_at_ = std::max(changed_at_, newest_->at);
  return true;
}

// A job that was cancelled waits for none and holds back none.
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

}  // namespace tidemark::workflow
