#include "master/workflow/live_workflow.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "master/model/shown_progress.h"
#include "master/workflow/check_workflow.h"
#include "master/workflow/drift.h"
#include "text/did_you_mean.h"
#include "tidemark/limit.h"

namespace tidemark::workflow {
namespace {

// Of the log of how much longer the jobs of a run take than they were to, all together and each:
// between runs (see job_outlook.cc), and what one job says of the others.
constexpr double kCommonShiftDeviation = 0.15;
constexpr double kOwnShiftDeviation = 0.3;
// A job that should report is missed after this long.
constexpr absl::Duration kMissedAfter = absl::Seconds(30);

bool IsOver(WorkflowJobState state) {
  return state == WorkflowJobState::kSucceeded || state == WorkflowJobState::kFailed ||
         state == WorkflowJobState::kCancelled;
}

bool IsWaiting(WorkflowJobState state) {
  return state == WorkflowJobState::kPending || state == WorkflowJobState::kAwaited ||
         state == WorkflowJobState::kRetried;
}

const next::StageProgress* SeenStage(const next::Snapshot& snapshot, StageKind kind) {
  for (std::size_t i = 0; i < snapshot.stages.size(); ++i) {
    const bool is_of_map_reduce = snapshot.stages[i].id.stage <= kReduceStage;
    if (is_of_map_reduce && snapshot.stage_infos[i].kind == kind) return &snapshot.stages[i];
  }
  return nullptr;
}

TasksLeft LeftOf(const next::Snapshot& snapshot, StageKind kind) {
  const next::StageProgress* const progress = SeenStage(snapshot, kind);
  if (progress == nullptr || progress->state == next::StageState::kDone) return {};
  const std::uint64_t begun = progress->running_tasks + progress->finished_tasks;
  return {.pending = progress->tasks > begun ? progress->tasks - begun : 0,
          .running = progress->running_tasks};
}

// Of what remains, the part before the reduce phase: the map phase at the speed it has had.
double MapShareOf(const next::Snapshot& snapshot, double remaining) {
  const next::StageProgress* const map = SeenStage(snapshot, StageKind::kMap);
  if (map == nullptr || map->state == next::StageState::kDone || remaining <= 0) return 0;
  if (map->fraction_done <= 0 || !map->started_at) return 0.5;
  const double elapsed = absl::ToDoubleSeconds(snapshot.at - *map->started_at);
  const double left = elapsed * (1 - map->fraction_done) / map->fraction_done;
  return std::clamp(left / remaining, 0.0, 0.95);
}

bool IsSilent(const std::optional<next::Snapshot>& newest) {
  return newest && newest->silent_since.has_value();
}

std::optional<RunningForecast> ForecastOf(const next::Snapshot& snapshot, absl::Time now) {
  if (!snapshot.estimate.remaining) return std::nullopt;
  const next::Range& left = *snapshot.estimate.remaining;
  // The snapshot may be older than `now`.
  const absl::Duration age = std::max(now - snapshot.at, absl::ZeroDuration());
  const auto seconds = [&](absl::Duration remaining) {
    return std::max(absl::ToDoubleSeconds(remaining - age), 0.0);
  };
  RunningForecast running = {.remaining = seconds(left.median)};
  running.lower = std::min(seconds(left.lower.value_or(left.median)), running.remaining);
  running.upper = std::max(seconds(left.upper.value_or(left.median)), running.remaining);
  running.map_share = MapShareOf(snapshot, running.remaining);
  return running;
}

schedule::Policy PolicyOf(SchedulingPolicy policy) {
  switch (policy) {
    case SchedulingPolicy::kFair:
      return schedule::Policy::kFair;
    case SchedulingPolicy::kDrf:
      return schedule::Policy::kDrf;
    case SchedulingPolicy::kCapacity:
      return schedule::Policy::kCapacity;
    case SchedulingPolicy::kFifo:
      break;
  }
  return schedule::Policy::kFifo;
}

schedule::Resourcing ResourcingOf(const WorkflowSpec& spec, const WorkflowCluster& cluster) {
  schedule::Resourcing on;
  on.cluster.capacity = {.cores = static_cast<double>(cluster.slots)};
  on.cluster.policy = PolicyOf(cluster.policy);
  for (const WorkflowQueue& queue : cluster.queues) on.cluster.queue_shares.push_back(queue.share);
  if (cluster.policy != SchedulingPolicy::kCapacity) return on;
  for (const WorkflowJob& job : spec.jobs) {
    std::size_t place = 0;
    while (place < cluster.queues.size() && cluster.queues[place].name != job.queue) ++place;
    on.queue_of_owner.push_back(place);
  }
  return on;
}

absl::Duration Length(double seconds) {
  return absl::Seconds(std::isfinite(seconds) ? std::clamp(seconds, 0.0, 1e10) : 1e10);
}

WorkflowStage StageOf(Phase phase, const TasksLeft& left, std::uint64_t tasks, bool has_begun,
                      const estimate::StageEstimate& estimate) {
  WorkflowStage stage = {
      .phase = phase, .tasks = tasks, .pending = left.pending, .running = left.running};
  if (left.pending + left.running == 0) return stage;
  if (!has_begun) stage.starts_in = Length(estimate.start);
  stage.ends_in = Length(estimate.end);
  return stage;
}

}  // namespace

LiveWorkflow::LiveWorkflow(WorkflowSpec spec, absl::Time submitted_at,
                           const LiveWorkflowOptions& options)
    : spec_(std::move(spec)),
      submitted_jobs_(spec_.jobs.size()),
      parents_(ParentsOf(spec_)),
      cluster_(spec_.cluster),
      submitted_at_(submitted_at),
      options_(options),
      jobs_(spec_.jobs.size()),
      active_at_(submitted_at) {
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    jobs_[i].job_id = spec_.jobs[i].job_id;
    place_of_name_[spec_.jobs[i].name] = i;
    if (!jobs_[i].job_id.empty()) place_of_id_[jobs_[i].job_id] = i;
  }
  newest_ = Describe(submitted_at);
}

absl::StatusOr<bool> LiveWorkflow::Attach(const std::string& name, const std::string& job_id) {
  const auto place = place_of_name_.find(name);
  if (place == place_of_name_.end()) {
    std::vector<std::string> names;
    for (const WorkflowJob& job : spec_.jobs) names.push_back(job.name);
    return absl::NotFoundError(
        absl::StrCat("workflow ", spec_.id, " has no job ", name, text::DidYouMean(name, names)));
  }
  Job& job = jobs_[place->second];
  if (job.job_id == job_id && !job.ended_before) {
    job.is_attached = true;
    return false;
  }
  const std::string which = absl::StrCat("job ", name, " of workflow ", spec_.id);
  if (is_final()) return absl::FailedPreconditionError(which + ": the workflow has ended");
  if (job.facts.state == WorkflowJobState::kCancelled) {
    return absl::FailedPreconditionError(which + ": it was cancelled");
  }
  if (!IsWaiting(job.facts.state)) {
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
  // An id that was never heard of is not kept.
  if (job.facts.state != WorkflowJobState::kRetried) place_of_id_.erase(job.job_id);
  job.job_id = job_id;
  place_of_id_[job_id] = place->second;
  job.is_attached = true;
  job.ended_before = false;
  job.newest.reset();
  job.stage.reset();
  job.shown = 0;
  job.awaited_since.reset();
  job.facts.state = WorkflowJobState::kPending;
  job.facts.started_at.reset();
  job.facts.ended_at.reset();
  active_at_ = std::max(active_at_, newest_.at);
  return true;
}

bool LiveWorkflow::WasSubmittedAs(const WorkflowSpec& workflow) const {
  if (workflow.jobs.size() != submitted_jobs_) return false;
  WorkflowSpec submitted = spec_;
  submitted.jobs.resize(submitted_jobs_);
  return submitted == workflow;
}

absl::StatusOr<bool> LiveWorkflow::Update(const Change& change, const WorkflowLimits& limits) {
  WorkflowSpec changed = spec_;
  for (std::size_t i = 0; i < change.add.size(); ++i) {
    const WorkflowJob& job = change.add[i];
    const std::string path = absl::StrCat("add_jobs[", i, "]");
    if (const auto known = place_of_name_.find(job.name); known != place_of_name_.end()) {
      if (spec_.jobs[known->second] == job) continue;  // it was added before
      return absl::InvalidArgumentError(
          absl::StrCat(path, ".name: ", job.name, " is taken by another job of the plan"));
    }
    if (!job.job_id.empty() && place_of_id_.contains(job.job_id)) {
      return absl::InvalidArgumentError(absl::StrCat(path, ".job_id: ", job.job_id,
                                                     " already is or was another job of the plan"));
    }
    changed.jobs.push_back(job);
  }
  std::vector<std::size_t> cancelled;
  for (std::size_t i = 0; i < change.cancel.size(); ++i) {
    const std::string& name = change.cancel[i];
    const auto place = place_of_name_.find(name);
    if (place == place_of_name_.end()) {
      std::vector<std::string> names;
      for (const WorkflowJob& job : spec_.jobs) names.push_back(job.name);
      return absl::InvalidArgumentError(
          absl::StrCat("cancel_jobs[", i, "]: unknown job ", name, text::DidYouMean(name, names)));
    }
    const WorkflowJobState state = jobs_[place->second].facts.state;
    if (state == WorkflowJobState::kCancelled) continue;
    if (state != WorkflowJobState::kPending && state != WorkflowJobState::kAwaited) {
      return absl::FailedPreconditionError(
          absl::StrCat("job ", name, " of ", spec_.id, " has begun and cannot be cancelled"));
    }
    cancelled.push_back(place->second);
  }
  const bool is_news = changed.jobs.size() > spec_.jobs.size() || !cancelled.empty() ||
                       (change.cancel_all && !is_cancelled_);
  if (!is_news) return false;
  if (is_final()) {
    return absl::FailedPreconditionError(absl::StrCat("plan ", spec_.id, " has ended"));
  }
  // The limit may be lower than it was.
  const bool is_larger = changed.jobs.size() > spec_.jobs.size();
  if (const absl::Status ok = is_larger ? CheckWorkflow(changed, limits) : absl::OkStatus();
      !ok.ok()) {
    if (!absl::IsInvalidArgument(ok)) return ok;
    return absl::InvalidArgumentError(absl::StrCat("add_jobs: ", std::string(ok.message())));
  }
  spec_ = std::move(changed);
  for (std::size_t i = jobs_.size(); i < spec_.jobs.size(); ++i) {
    const WorkflowJob& job = spec_.jobs[i];
    jobs_.emplace_back().job_id = job.job_id;
    place_of_name_[job.name] = i;
    if (!job.job_id.empty()) place_of_id_[job.job_id] = i;
  }
  for (const std::size_t i : cancelled) {
    jobs_[i].facts.state = WorkflowJobState::kCancelled;
    jobs_[i].awaited_since.reset();
  }
  is_cancelled_ = is_cancelled_ || change.cancel_all;
  FindParents();
  active_at_ = std::max(active_at_, newest_.at);
  return true;
}

// A job that was cancelled waits for none and holds back none.
void LiveWorkflow::FindParents() {
  const auto is_cancelled = [&](std::size_t job) {
    return jobs_[job].facts.state == WorkflowJobState::kCancelled;
  };
  parents_ = ParentsOf(spec_);
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (is_cancelled(i)) parents_[i].clear();
    std::erase_if(parents_[i], is_cancelled);
  }
}

std::vector<std::string> LiveWorkflow::wanted_jobs() const {
  std::vector<std::string> wanted;
  for (const Job& job : jobs_) {
    const bool has_ended = IsOver(job.facts.state) || job.facts.state == WorkflowJobState::kRetried;
    if (!job.job_id.empty() && !has_ended) wanted.push_back(job.job_id);
  }
  return wanted;
}

void LiveWorkflow::Observe(const next::Snapshot& snapshot,
                           std::shared_ptr<const cost::RunningStage> stage) {
  const auto place = place_of_id_.find(snapshot.job_id);
  if (place == place_of_id_.end() || is_final()) return;
  Job& job = jobs_[place->second];
  if (job.job_id != snapshot.job_id || IsOver(job.facts.state) ||
      job.facts.state == WorkflowJobState::kRetried) {
    return;
  }
  if (snapshot.is_final && snapshot.at < submitted_at_ && !job.is_attached) {
    job.ended_before = true;
    return;
  }
  job.ended_before = false;
  if (IsWaiting(job.facts.state)) {
    job.facts.expected = job.would_take;
    job.facts.started_at = snapshot.started_at;
    job.facts.state = WorkflowJobState::kRunning;
  }
  const bool is_first = !job.newest;
  job.newest = snapshot;
  job.stage = std::move(stage);
  if (is_first && workflow::IsSilent(job.newest)) {
    // It fell silent before it was followed: its own bar is all there is to show.
    job.shown = std::max(job.shown, snapshot.estimate.fraction_done);
  }
  active_at_ = std::max(active_at_, snapshot.at);
  if (!snapshot.is_final) return;
  job.facts.ended_at = snapshot.at;
  if (snapshot.state == next::JobState::kSucceeded) {
    job.facts.state = WorkflowJobState::kSucceeded;
    return;
  }
  ++job.facts.failed_attempts;
  job.facts.message = snapshot.message;
  job.facts.state = spec_.retry_within > absl::ZeroDuration() ? WorkflowJobState::kRetried
                                                              : WorkflowJobState::kFailed;
}

void LiveWorkflow::SetRuns(std::size_t index, std::vector<JobProfile> runs) {
  jobs_[index].runs = std::move(runs);
  jobs_[index].has_runs = true;
}

void LiveWorkflow::SetNode(const ResourceProfile& node) {
  if (!spec_.cluster.node) cluster_.node = node;
}

bool LiveWorkflow::AreParentsDone(std::size_t job) const {
  return std::all_of(parents_[job].begin(), parents_[job].end(), [&](std::size_t parent) {
    return jobs_[parent].facts.state == WorkflowJobState::kSucceeded;
  });
}

void LiveWorkflow::FindAwaited(absl::Time now) {
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    Job& job = jobs_[i];
    if (job.facts.state == WorkflowJobState::kPending && AreParentsDone(i)) {
      job.facts.state = WorkflowJobState::kAwaited;
    }
    if (job.facts.state == WorkflowJobState::kRetried ||
        job.facts.state == WorkflowJobState::kAwaited) {
      absl::Time since = submitted_at_;
      for (const std::size_t parent : parents_[i]) {
        since = std::max(since, jobs_[parent].facts.ended_at.value_or(since));
      }
      if (job.facts.state == WorkflowJobState::kRetried) since = job.facts.ended_at.value_or(since);
      if (!job.awaited_since) job.awaited_since = std::max(since, std::min(active_at_, now));
    } else {
      job.awaited_since.reset();
    }
  }
}

// Whether and how the workflow has ended.
void LiveWorkflow::Decide(absl::Time now, WorkflowSnapshot& snapshot) {
  if (is_cancelled_) {
    snapshot.state = JobState::kKilled;
    snapshot.message = "the plan was cancelled";
    return;
  }
  bool all_succeeded = true;
  bool any_succeeded = false;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    Job& job = jobs_[i];
    const std::string& name = spec_.jobs[i].name;
    const bool succeeded = job.facts.state == WorkflowJobState::kSucceeded;
    any_succeeded = any_succeeded || succeeded;
    all_succeeded = all_succeeded && (succeeded || job.facts.state == WorkflowJobState::kCancelled);
    if (job.facts.state == WorkflowJobState::kRetried &&
        now - job.facts.ended_at.value_or(now) > spec_.retry_within) {
      job.facts.state = WorkflowJobState::kFailed;
    }
    if (job.facts.state == WorkflowJobState::kFailed && snapshot.state == JobState::kRunning) {
      const next::JobState said = job.newest ? job.newest->state : next::JobState::kFailed;
      const JobState how = said == next::JobState::kKilled      ? JobState::kKilled
                           : said == next::JobState::kAbandoned ? JobState::kAbandoned
                                                                : JobState::kFailed;
      snapshot.state = how;
      snapshot.message = absl::StrCat("job ", name,
                                      how == JobState::kKilled      ? " was killed"
                                      : how == JobState::kAbandoned ? " was abandoned"
                                                                    : " failed",
                                      job.facts.message.empty() ? "" : ": ", job.facts.message);
    }
  }
  if (snapshot.state != JobState::kRunning) return;
  if (all_succeeded) {
    snapshot.state = any_succeeded ? JobState::kSucceeded : JobState::kKilled;
    if (!any_succeeded) snapshot.message = "all of its jobs were cancelled";
    return;
  }
  if (now - active_at_ <= options_.abandon_after) return;
  snapshot.state = JobState::kAbandoned;
  snapshot.message =
      absl::StrCat("no news of any job for ",
                   absl::FormatDuration(absl::Trunc(now - active_at_, absl::Seconds(1))));
}

double LiveWorkflow::Shift() const {
  double sum = 0;
  double count = 0;
  for (const Job& job : jobs_) {
    const JobFacts& facts = job.facts;
    if (facts.state != WorkflowJobState::kSucceeded || !facts.expected || !facts.started_at ||
        !facts.ended_at || *facts.expected < absl::Seconds(1)) {
      continue;
    }
    const double took = absl::ToDoubleSeconds(*facts.ended_at - *facts.started_at);
    sum += std::log(std::max(took, 0.1) / absl::ToDoubleSeconds(*facts.expected));
    count += 1;
  }
  if (count == 0) return 1;
  const double common = kCommonShiftDeviation * kCommonShiftDeviation;
  const double noise = kOwnShiftDeviation * kOwnShiftDeviation / count;
  return std::exp(common / (common + noise) * sum / count);
}

LiveJob LiveWorkflow::LiveJobOf(std::size_t index, absl::Time now, const WorkflowCluster& cluster,
                                double data_factor) const {
  const Job& job = jobs_[index];
  LiveJob live = {.is_over = IsOver(job.facts.state),
                  .is_running = job.facts.state == WorkflowJobState::kRunning};
  if (live.is_over) {
    if (job.facts.started_at && job.facts.ended_at) {
      live.took = std::max(absl::ToDoubleSeconds(*job.facts.ended_at - *job.facts.started_at), 0.0);
    }
    return live;
  }
  live.outlook = OutlookOfJob(spec_.jobs[index], job.runs, cluster, data_factor);
  if (live.is_running) {
    live.elapsed = std::max(absl::ToDoubleSeconds(now - job.facts.started_at.value_or(now)), 0.0);
    if (job.newest) {
      live.map = LeftOf(*job.newest, StageKind::kMap);
      live.reduce = LeftOf(*job.newest, StageKind::kReduce);
      live.forecast = ForecastOf(*job.newest, now);
      // Which tasks of a silent job have gone on is not known.
      if (!workflow::IsSilent(job.newest)) live.stage = job.stage;
      live.stage_age = std::max(absl::ToDoubleSeconds(now - job.newest->at), 0.0);
    }
  } else if (job.awaited_since) {
    live.awaited = std::max(absl::ToDoubleSeconds(now - *job.awaited_since), 0.0);
  }
  return live;
}

LiveQuestion LiveWorkflow::QuestionOn(absl::Time now, const WorkflowCluster& cluster,
                                      double data_factor) const {
  LiveQuestion question = {
      .parents = parents_, .on = ResourcingOf(spec_, cluster), .options = options_.estimate};
  question.options.shift = Shift();
  question.jobs.reserve(jobs_.size());
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    question.jobs.push_back(LiveJobOf(i, now, cluster, data_factor));
  }
  return question;
}

LiveQuestion LiveWorkflow::QuestionAt(absl::Time now) {
  now = std::max(now, newest_.at);
  if (!is_final()) FindAwaited(now);
  return QuestionOn(now, cluster_, 1);
}

WorkflowJobProgress LiveWorkflow::ProgressOf(std::size_t index, absl::Time now) const {
  const Job& job = jobs_[index];
  WorkflowJobProgress progress = {.name = spec_.jobs[index].name,
                                  .job_id = job.job_id,
                                  .state = job.facts.state,
                                  .fraction_done = job.shown,
                                  .started_at = job.facts.started_at,
                                  .ended_at = job.facts.ended_at,
                                  .failed_attempts = job.facts.failed_attempts,
                                  .message = job.facts.message,
                                  .after = parents_[index]};
  if (job.facts.state == WorkflowJobState::kSucceeded) progress.fraction_done = 1;
  if (IsOver(job.facts.state)) {
    progress.basis = WorkflowBasis::kDone;
  } else if (job.newest && ForecastOf(*job.newest, now)) {
    progress.basis = WorkflowBasis::kForecast;
  } else if (spec_.jobs[index].profile || !job.runs.empty()) {
    progress.basis = WorkflowBasis::kProfile;
  }
  return progress;
}

WorkflowSnapshot LiveWorkflow::Describe(absl::Time now) const {
  WorkflowSnapshot snapshot = {.workflow_id = spec_.id,
                               .name = spec_.name.empty() ? spec_.id : spec_.name,
                               .at = now,
                               .started_at = submitted_at_};
  for (const Job& job : jobs_) {
    snapshot.started_at =
        std::min(snapshot.started_at, job.facts.started_at.value_or(submitted_at_));
  }
  snapshot.elapsed = std::max(now - snapshot.started_at, absl::ZeroDuration());
  for (std::size_t i = 0; i < jobs_.size(); ++i) snapshot.jobs.push_back(ProgressOf(i, now));
  return snapshot;
}

bool LiveWorkflow::IsSilent() const {
  bool any_runs = false;
  for (const Job& job : jobs_) {
    if (job.facts.state != WorkflowJobState::kRunning) continue;
    if (!workflow::IsSilent(job.newest)) return false;
    any_runs = true;
  }
  return any_runs;
}

// Waiting for the first job is no progress.
absl::Duration LiveWorkflow::WorkedUntil(absl::Time now) const {
  absl::Time begun = now;
  for (const Job& job : jobs_) begun = std::min(begun, job.facts.started_at.value_or(now));
  return now - begun;
}

void LiveWorkflow::Fill(absl::Time now, const estimate::Estimate& estimate,
                        const WorkflowCluster& cluster, double data_factor,
                        WorkflowSnapshot& snapshot) const {
  const estimate::Range& end = estimate.end;
  snapshot.remaining = Length(end.median);
  snapshot.remaining_lower = Length(std::min(end.lower, end.median));
  snapshot.remaining_upper = Length(std::max(end.upper, end.median));
  const absl::Duration worked = WorkedUntil(now);
  snapshot.fraction_done = model::FractionDone(
      worked, model::FlooredRemaining(*snapshot.remaining, snapshot.remaining_upper));
  snapshot.fraction_done_lower = model::FractionDone(worked, *snapshot.remaining_upper);
  snapshot.fraction_done_upper = model::FractionDone(worked, *snapshot.remaining_lower);
  snapshot.known_share = estimate.known_share;
  for (const std::size_t stage : estimate.critical_path) {
    const std::string& job = spec_.jobs[JobOfStage(stage)].name;
    if (snapshot.critical_path.empty() || snapshot.critical_path.back() != job) {
      snapshot.critical_path.push_back(job);
    }
  }
  // Jobs that were added since the question have no estimate yet.
  for (std::size_t i = 0; i < std::min(jobs_.size(), estimate.owner_ends.size()); ++i) {
    const estimate::StageEstimate& map = estimate.stages[MapStageOf(i)];
    const estimate::StageEstimate& reduce = estimate.stages[ReduceStageOf(i)];
    const estimate::Range& job_end = estimate.owner_ends[i];
    WorkflowJobProgress& progress = snapshot.jobs[i];
    const LiveJob live = LiveJobOf(i, now, cluster, data_factor);
    if (live.is_over) continue;
    progress.is_critical = map.is_critical || reduce.is_critical;
    if (!live.is_running) progress.starts_in = Length(map.end > 0 ? map.start : reduce.start);
    progress.ends_in = Length(job_end.median);
    progress.ends_in_lower = Length(std::min(job_end.lower, job_end.median));
    progress.ends_in_upper = Length(std::max(job_end.upper, job_end.median));
    if (live.is_running && !workflow::IsSilent(jobs_[i].newest)) {
      progress.fraction_done = std::max(
          progress.fraction_done,
          model::FractionDone(absl::Seconds(live.elapsed),
                              model::FlooredRemaining(*progress.ends_in, progress.ends_in_upper)));
    }
    const auto add = [&](Phase phase, const TasksLeft& left, const PhaseOutlook& outlook,
                         const estimate::StageEstimate& stage_estimate) {
      std::uint64_t tasks = outlook.tasks;
      bool has_begun = false;
      if (live.is_running && jobs_[i].newest) {
        const StageKind kind = phase == Phase::kMap ? StageKind::kMap : StageKind::kReduce;
        const next::StageProgress* const seen = SeenStage(*jobs_[i].newest, kind);
        tasks = seen == nullptr ? 0 : seen->tasks;
        // Reduce tasks that only fetch have not begun to reduce.
        has_begun = seen != nullptr && (seen->started_at || seen->state == next::StageState::kDone);
      }
      const TasksLeft whole = live.is_running ? left : TasksLeft{.pending = outlook.tasks};
      WorkflowStage stage = StageOf(phase, whole, tasks, has_begun, stage_estimate);
      if (!outlook.times.empty()) stage.task_time = Length(outlook.times.mean());
      stage.bottleneck = outlook.bottleneck;
      stage.is_critical = stage_estimate.is_critical && stage.ends_in.has_value();
      if (tasks > 0) progress.stages.push_back(std::move(stage));
    };
    add(Phase::kMap, live.map, live.outlook.map, map);
    add(Phase::kReduce, live.reduce, live.outlook.reduce, reduce);
  }
}

void LiveWorkflow::NoteDamage(const LogDamage& damage) {
  if (is_final()) return;
  damaged_records_ += damage.records;
  newest_.sequence += damage.ticks_max;
}

std::vector<std::string> LiveWorkflow::NotesAt(absl::Time now) const {
  std::vector<std::string> notes;
  if (damaged_records_ > 0) {
    notes.push_back(absl::StrCat("the master's log of this workflow was damaged: about ",
                                 damaged_records_,
                                 damaged_records_ == 1 ? " record was" : " records were",
                                 " lost; if a job is no longer attached, attach it again"));
  }
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const Job& job = jobs_[i];
    const std::string& name = spec_.jobs[i].name;
    if (job.facts.state == WorkflowJobState::kRunning && workflow::IsSilent(job.newest)) {
      const absl::Duration silence =
          absl::Floor(job.newest->at - *job.newest->silent_since, absl::Seconds(1));
      notes.push_back(absl::StrCat("job ", name, ": no news for ", absl::FormatDuration(silence)));
    }
    if (!job.awaited_since || now - *job.awaited_since < kMissedAfter) continue;
    const std::string since =
        absl::FormatDuration(absl::Trunc(now - *job.awaited_since, absl::Seconds(1)));
    if (job.facts.state == WorkflowJobState::kRetried) {
      notes.push_back(absl::StrCat("job ", name, " failed ", since,
                                   " ago and no retry is attached: ", job.facts.message));
    } else if (job.job_id.empty()) {
      notes.push_back(absl::StrCat("job ", name, " could have started ", since,
                                   " ago, but no job is attached to it"));
    } else if (job.ended_before) {
      notes.push_back(absl::StrCat("job ", name, " could have started ", since, " ago; a run of ",
                                   job.job_id,
                                   " had ended before the workflow was submitted; attach it if it "
                                   "is the one"));
    } else {
      notes.push_back(absl::StrCat("job ", name, " could have started ", since, " ago, but ",
                                   job.job_id, " has not reported"));
    }
  }
  return notes;
}

WorkflowSnapshot LiveWorkflow::Tick(absl::Time now, absl::StatusOr<estimate::Estimate> estimate) {
  if (is_final()) return newest_;
  now = std::max(now, newest_.at);
  FindAwaited(now);
  WorkflowSnapshot ended;  // how, if so
  Decide(now, ended);
  WorkflowSnapshot snapshot = Describe(now);
  snapshot.sequence = newest_.sequence + 1;
  snapshot.state = ended.state;
  snapshot.message = ended.message;
  if (snapshot.is_final()) {
    snapshot.fraction_done = snapshot.state == JobState::kSucceeded ? 1 : newest_.fraction_done;
    snapshot.fraction_done_lower = snapshot.fraction_done_upper = snapshot.fraction_done;
    snapshot.known_share = 1;
  } else {
    if (estimate.ok()) {
      estimate::Range& end = estimate->end;
      WidenByDrift(now, end.median, drift_, end.lower, end.upper);
      Fill(now, *estimate, cluster_, 1, snapshot);
    } else {
      snapshot.notes.push_back(std::string(estimate.status().message()));
    }
    if (IsSilent()) snapshot.fraction_done = newest_.fraction_done;
    snapshot.fraction_done = std::max(snapshot.fraction_done, newest_.fraction_done);
    snapshot.fraction_done_lower = std::min(snapshot.fraction_done_lower, snapshot.fraction_done);
    snapshot.fraction_done_upper = std::max(snapshot.fraction_done_upper, snapshot.fraction_done);
    for (const std::string& note : NotesAt(now)) snapshot.notes.push_back(note);
  }
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const WorkflowJobProgress& progress = snapshot.jobs[i];
    jobs_[i].shown = progress.fraction_done;
    if (progress.starts_in && progress.ends_in && progress.basis != WorkflowBasis::kGuess) {
      jobs_[i].would_take = std::max(*progress.ends_in - *progress.starts_in, absl::ZeroDuration());
    }
  }
  newest_ = snapshot;
  return snapshot;
}

absl::StatusOr<WorkflowSnapshot> LiveWorkflow::Estimate(absl::Time now,
                                                        const WhatIf& what_if) const {
  if (is_final()) return newest_;
  if (!std::isfinite(what_if.data_factor) || what_if.data_factor <= 0 ||
      what_if.data_factor > 1e6) {
    return absl::InvalidArgumentError("data_factor must be above 0 and at most 1e6");
  }
  WorkflowCluster cluster = cluster_;
  if (what_if.slots > 0) cluster.slots = what_if.slots;
  if (what_if.policy) cluster.policy = *what_if.policy;
  WorkflowSpec changed = spec_;
  changed.cluster = cluster;
  if (absl::Status ok = CheckWorkflow(changed, {.jobs_max = jobs_.size()}); !ok.ok()) return ok;
  now = std::max(now, newest_.at);
  WorkflowSnapshot snapshot = Describe(now);
  const auto estimate = EstimateLive(QuestionOn(now, cluster, what_if.data_factor));
  if (!estimate.ok()) return estimate.status();
  Fill(now, *estimate, cluster, what_if.data_factor, snapshot);
  // Of a running task, half is left on average.
  double work = 0;
  for (const WorkflowJobProgress& job : snapshot.jobs) {
    for (const WorkflowStage& stage : job.stages) {
      const double tasks =
          static_cast<double>(stage.pending) + static_cast<double>(stage.running) / 2;
      work += tasks * absl::ToDoubleSeconds(stage.task_time.value_or(absl::ZeroDuration()));
    }
  }
  const double room = cluster.slots * absl::ToDoubleSeconds(*snapshot.remaining);
  snapshot.busy_share = room > 0 ? std::min(work / room, 1.0) : 0;
  return snapshot;
}

std::vector<std::pair<std::string, JobFacts>> LiveWorkflow::TakeNewFacts() {
  std::vector<std::pair<std::string, JobFacts>> changed;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (jobs_[i].facts == jobs_[i].kept) continue;
    jobs_[i].kept = jobs_[i].facts;
    changed.emplace_back(spec_.jobs[i].name, jobs_[i].facts);
  }
  return changed;
}

void LiveWorkflow::RestoreFacts(const std::string& name, JobFacts facts) {
  const auto place = place_of_name_.find(name);
  if (place == place_of_name_.end()) return;
  jobs_[place->second].facts = jobs_[place->second].kept = std::move(facts);
}

void LiveWorkflow::RestoreEnd(WorkflowSnapshot final) {
  newest_ = std::move(final);
  // The log knows the edges by its plan.
  for (std::size_t i = 0; i < std::min(newest_.jobs.size(), parents_.size()); ++i) {
    newest_.jobs[i].after = parents_[i];
  }
}

void LiveWorkflow::RestoreTick(std::uint64_t sequence, absl::Time at, double fraction_done) {
  newest_.sequence = std::max(newest_.sequence, sequence);
  newest_.at = std::max(newest_.at, at);
  newest_.fraction_done = std::max(newest_.fraction_done, fraction_done);
  active_at_ = std::max(active_at_, at);
}

}  // namespace tidemark::workflow
