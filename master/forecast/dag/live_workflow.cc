#include "master/forecast/dag/live_workflow.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "master/facts/evidence_loss.h"
#include "master/forecast/dag/workflow_forecast.h"
#include "master/forecast/dag/workflow_state.h"
#include "master/forecast/durations/combined_estimates.h"
#include "text/duration_text.h"
#include "tidemark/field_error.h"
#include "tidemark/late_probability.h"
#include "tidemark/reconcile_forecasts.h"

namespace tidemark::dag {
namespace {

// Limits the stages, edges and task times of past runs in a forecast. They take about 20 ms of
// processor time and 20 MB of memory.
constexpr std::size_t kHistoryMax = 500'000;

// Limit of the slots of a plan.
constexpr std::uint64_t kLearntSlotsMax = 1'000'000;

// Limits the ratio of a job's input to its input in the past run.
constexpr double kGrowthMax = 100;

// Maximum number of jobs that a note names.
constexpr std::size_t kNamesShown = 5;

// An open workflow ends after this many times its longest pause so far. Chosen by hand.
constexpr double kPauses = 4;

std::size_t SizeOf(const PastRun& run) {
  std::size_t size = 0;
  for (const PastStage& stage : run.stages) {
    size += 1 + stage.parents.size();
    for (const auto& seconds : stage.seconds) size += seconds.size();
  }
  return size;
}

// Returns the first names, such as "a, b and 3 more".
std::string FirstOf(std::vector<std::string> names) {
  const std::size_t others = names.size() - std::min(names.size(), kNamesShown);
  names.resize(names.size() - others);
  return absl::StrCat(absl::StrJoin(names, ", "),
                      others == 0 ? "" : absl::StrCat(" and ", others, " more"));
}

// Rounds the forecasts of parts, so that a delta omits unchanged forecasts.
void RoundParts(Snapshot& snapshot) {
  const auto round = [&](std::optional<Range>& range) {
    if (range) range = RoundedPrediction(snapshot.at, *range);
  };
  for (StageProgress& stage : snapshot.stages) {
    round(stage.starts_in);
    round(stage.ends_in);
  }
  for (Child& child : snapshot.children) {
    round(child.starts_in);
    round(child.estimate.remaining);
  }
}

Plan WithNames(Plan plan) {
  for (PlannedJob& job : plan.jobs) {
    if (job.name.empty()) job.name = plan.id;
  }
  return plan;
}

}  // namespace

LiveWorkflow::LiveWorkflow(Plan plan, absl::Time submitted_at, const LiveWorkflowOptions& options)
    : plan_(WithNames(std::move(plan))),
      submitted_jobs_(plan_.jobs.size()),
      submitted_deadline_(plan_.deadline),
      parents_(ParentsOf(plan_)),
      cluster_(plan_.cluster),
      submitted_at_(submitted_at),
      started_at_(submitted_at),
      options_(options),
      active_at_(submitted_at),
      changed_at_(submitted_at),
      informed_at_(submitted_at) {
  for (const PlannedJob& job : plan_.jobs) AddJob(job);
  newest_ = std::make_shared<Snapshot>(Describe(submitted_at, nullptr));
}

void LiveWorkflow::AddJob(const PlannedJob& planned) {
  place_of_name_[planned.name] = jobs_.size();
  if (!planned.job_id.empty()) place_of_id_[planned.job_id] = jobs_.size();
  jobs_.emplace_back().job_id = planned.job_id;
}

bool LiveWorkflow::WasSubmittedAs(Plan plan) const {
  if (plan.jobs.size() != submitted_jobs_) return false;
  // The deadline may come from the master's settings.
  if (!plan.deadline) plan.deadline = submitted_deadline_;
  Plan submitted = plan_;
  submitted.deadline = submitted_deadline_;
  submitted.jobs.resize(submitted_jobs_);
  return submitted == WithNames(std::move(plan));
}

std::vector<std::string> LiveWorkflow::job_names() const {
  std::vector<std::string> names;
  for (const PlannedJob& job : plan_.jobs) names.push_back(job.name);
  return names;
}

std::vector<std::string> LiveWorkflow::attached_jobs() const {
  std::vector<std::string> attached;
  for (const FollowedJob& job : jobs_) {
    if (!job.job_id.empty()) attached.push_back(job.job_id);
  }
  return attached;
}

std::vector<std::string> LiveWorkflow::wanted_jobs() const {
  std::vector<std::string> wanted;
  for (const FollowedJob& job : jobs_) {
    if (!job.job_id.empty() && !job.has_ended()) wanted.push_back(job.job_id);
  }
  return wanted;
}

void LiveWorkflow::Observe(std::shared_ptr<const Snapshot> snapshot,
                           std::shared_ptr<const durations::RemainingStages> left,
                           std::shared_ptr<const JobProfile> profile) {
  const auto place = place_of_id_.find(snapshot->job_id);
  if (place == place_of_id_.end() || is_final()) return;
  FollowedJob& job = jobs_[place->second];
  if (job.job_id != snapshot->job_id) return;
  if (job.has_ended()) {
    // The end was observed before a restart. The final snapshot of the run contains its stages.
    const bool is_its_end = snapshot->is_final && snapshot->started_at == job.facts.started_at;
    if (job.newest == nullptr && is_its_end) job.newest = std::move(snapshot);
    return;
  }
  job.ended_before = snapshot->is_final && snapshot->at < submitted_at_ && !job.is_attached;
  if (job.ended_before) return;
  active_at_ = std::max(active_at_, snapshot->at);
  const bool begins = job.is_waiting();
  job.Observe(std::move(snapshot), std::move(left), /*may_be_retried=*/MayRetry());
  job.profile = std::move(profile);
  if (begins) NoteStart(job.facts.started_at);
  if (plan_.is_open) LearnSlots();
}

void LiveWorkflow::NoteStart(std::optional<absl::Time> of_job) {
  started_at_ = std::min(started_at_, of_job.value_or(started_at_));
}

void LiveWorkflow::LearnSlots() {
  std::uint64_t slots = cluster_.slots;
  std::uint64_t running_tasks = 0;
  for (const FollowedJob& job : jobs_) {
    for (const JobProfile& run : job.runs) slots = std::max<std::uint64_t>(slots, run.slots);
    if (job.is_running() && job.newest != nullptr)
      running_tasks += job.newest->counts.running_tasks;
  }
  slots = std::max(slots, running_tasks);
  cluster_.slots = static_cast<std::uint32_t>(std::min(slots, kLearntSlotsMax));
}

void LiveWorkflow::SetRuns(std::size_t index, std::vector<JobProfile> runs, StageRuns stage_runs) {
  FollowedJob& job = jobs_[index];
  job.has_runs = true;
  job.runs = std::move(runs);
  job.known.reset();
  if (plan_.is_open) LearnSlots();
  if (!job.runs.empty() || stage_runs.empty()) return;
  job.ran_stages = true;
  for (const PastRun& run : stage_runs) job.runs.push_back(AsOnePhase(run));
  std::size_t kept = 0;
  while (kept < stage_runs.size()) {
    const std::size_t size = SizeOf(stage_runs[kept]);
    if (history_size_ + size > kHistoryMax) break;
    history_size_ += size;
    ++kept;
  }
  stage_runs.resize(kept);
  if (kept > 0) job.stage_runs = std::make_shared<const StageRuns>(std::move(stage_runs));
}

void LiveWorkflow::SetNode(const ResourceProfile& node) {
  if (!plan_.cluster.node) cluster_.node = node;
}

bool LiveWorkflow::AreParentsDone(std::size_t job) const {
  return std::all_of(parents_[job].begin(), parents_[job].end(), [&](std::size_t parent) {
    return jobs_[parent].facts.state == ChildState::kSucceeded;
  });
}

void LiveWorkflow::FindAwaited(absl::Time now) {
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    FollowedJob& job = jobs_[i];
    if (job.facts.state == ChildState::kPending && AreParentsDone(i)) {
      job.facts.state = ChildState::kAwaited;
    }
    if (job.facts.state == ChildState::kRetryable || job.facts.state == ChildState::kAwaited) {
      absl::Time since = submitted_at_;
      for (const std::size_t parent : parents_[i]) {
        since = std::max(since, jobs_[parent].facts.ended_at.value_or(since));
      }
      if (job.facts.state == ChildState::kRetryable) since = job.facts.ended_at.value_or(since);
      if (!job.awaited_since) job.awaited_since = std::max(since, std::min(active_at_, now));
    } else {
      job.awaited_since.reset();
    }
  }
}

LiveWorkflow::End LiveWorkflow::EndAt(absl::Time now) {
  if (is_cancelled_) {
    for (FollowedJob& job : jobs_) {
      if (job.is_waiting()) {
        const bool has_failed = job.facts.state == ChildState::kRetryable;
        job.facts.state = has_failed ? ChildState::kFailed : ChildState::kCancelled;
      }
    }
    return {JobState::kKilled, "the workflow was cancelled"};
  }
  const bool is_complete = plan_.is_open && IsComplete(now);
  // Without a started job, the workflow may still be abandoned.
  if (plan_.is_open && !is_complete && HasBegun()) return {};
  for (FollowedJob& job : jobs_) {
    if (!is_complete || !job.is_waiting()) continue;
    const bool has_failed = job.facts.state == ChildState::kRetryable;
    job.facts.state = has_failed ? ChildState::kFailed : ChildState::kCancelled;
  }
  End end;
  bool all_succeeded = true;
  bool any_succeeded = false;
  // A cancelled job delayed the end until it was cancelled, unless it would have joined later.
  absl::Time last_end = is_complete ? started_at_ : changed_at_;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    FollowedJob& job = jobs_[i];
    const bool succeeded = job.facts.state == ChildState::kSucceeded;
    any_succeeded = any_succeeded || succeeded;
    if (succeeded || (is_complete && job.facts.started_at)) {
      last_end = std::max(last_end, job.facts.ended_at.value_or(now));
    }
    all_succeeded = all_succeeded && (succeeded || job.facts.state == ChildState::kCancelled);
    if (job.facts.state == ChildState::kRetryable &&
        now - std::max(job.facts.ended_at.value_or(now), listening_since_) > plan_.retry_within) {
      job.facts.state = ChildState::kFailed;
    }
    if (job.facts.state != ChildState::kFailed || end.state != JobState::kRunning) continue;
    end.state = JobState::kFailed;
    // If its log is damaged, a job may be restored with another end than the observed one.
    const bool is_end_known =
        job.newest != nullptr && job.newest->is_final && job.newest->state != JobState::kSucceeded;
    if (is_end_known) end.state = job.newest->state;
    end.message =
        absl::StrCat("job ", plan_.jobs[i].name,
                     end.state == JobState::kKilled       ? " was killed"
                     : end.state == JobState::kAbandoned  ? " was abandoned"
                     : end.state == JobState::kUnknownEnd ? " ended without a reported outcome"
                                                          : " failed",
                     job.facts.message.empty() ? "" : ": ", job.facts.message);
  }
  if (end.state != JobState::kRunning) {
    if (is_complete) end.at = std::min(last_end, now);
    return end;
  }
  if (all_succeeded && any_succeeded) return {JobState::kSucceeded, "", std::min(last_end, now)};
  if (all_succeeded) return {JobState::kKilled, "all of its jobs were cancelled"};
  const absl::Duration silence = now - std::max(active_at_, listening_since_);
  if (silence <= options_.abandon_after) return end;
  return {JobState::kAbandoned,
          absl::StrCat("no report from any job for ", text::DurationText(silence))};
}

bool LiveWorkflow::HasBegun() const {
  return std::ranges::any_of(
      jobs_, [](const FollowedJob& job) { return job.facts.started_at.has_value(); });
}

bool LiveWorkflow::IsComplete(absl::Time now) const {
  absl::Time last_end = std::max(changed_at_, listening_since_);
  for (const FollowedJob& job : jobs_) {
    if (job.is_running()) return false;
    last_end = std::max(last_end, job.facts.ended_at.value_or(last_end));
  }
  return is_closed_ || (HasBegun() && now - last_end > QuietTime());
}

bool LiveWorkflow::HasAllJobs() const {
  return submitted_jobs_ > 1 && std::ranges::all_of(jobs_, [](const FollowedJob& job) {
           return job.facts.state == ChildState::kSucceeded ||
                  job.facts.state == ChildState::kCancelled;
         });
}

bool LiveWorkflow::RepeatsAnother(const std::string& job) const {
  const std::size_t suffix = job.rfind(" (");
  if (suffix == job.npos || !job.ends_with(')')) return false;
  unsigned run = 0;
  return absl::SimpleAtoi(job.substr(suffix + 2, job.size() - suffix - 3), &run) &&
         place_of_name_.contains(job.substr(0, suffix));
}

Submissions LiveWorkflow::SubmissionsSoFar() const {
  Submissions submissions = {.count = 0, .kinds = 0};
  absl::Time newest_at = absl::InfinitePast();
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (jobs_[i].job_id.empty()) continue;
    const bool is_repeated = RepeatsAnother(plan_.jobs[i].name);
    ++submissions.count;
    submissions.kinds += is_repeated ? 0 : 1;
    // The jobs of a graph may start in another order than they are listed.
    const absl::Time at = jobs_[i].facts.started_at.value_or(changed_at_);
    if (at < newest_at) continue;
    newest_at = at;
    submissions.is_newest_repeated = is_repeated;
  }
  return submissions;
}

std::optional<absl::Time> LiveWorkflow::IdleSince() const {
  if (!plan_.is_open || is_closed_ || HasAllJobs()) return std::nullopt;
  absl::Time since = started_at_;
  for (const FollowedJob& job : jobs_) {
    if (job.is_running() || job.is_waiting()) return std::nullopt;
    since = std::max(since, job.facts.ended_at.value_or(since));
  }
  return since;
}

absl::Duration LiveWorkflow::QuietTime() const {
  if (plan_.retry_within > absl::ZeroDuration()) return plan_.retry_within;
  std::vector<std::pair<absl::Time, absl::Time>> runs;  // start and end of each job
  for (const FollowedJob& job : jobs_) {
    if (!job.facts.started_at) continue;
    runs.emplace_back(*job.facts.started_at, job.facts.ended_at.value_or(*job.facts.started_at));
  }
  std::sort(runs.begin(), runs.end());
  absl::Duration longest_pause;
  absl::Time last_end = runs.empty() ? absl::InfinitePast() : runs.front().second;
  for (const auto& [start, end] : runs) {
    longest_pause = std::max(longest_pause, start - last_end);
    last_end = std::max(last_end, end);
  }
  const bool any_awaited = std::ranges::any_of(
      jobs_, [](const FollowedJob& job) { return job.facts.state == ChildState::kAwaited; });
  const absl::Duration without_awaited =
      HasAllJobs() ? options_.complete_after : options_.quiet_after;
  return std::max(any_awaited ? options_.awaited_after : without_awaited, kPauses * longest_pause);
}

absl::Duration LiveWorkflow::SilenceAt(absl::Time now) const {
  absl::Time last_report_at = changed_at_;
  bool any_runs = false;
  bool any_waits = false;
  double usual_pause = 0;  // seconds
  for (const FollowedJob& job : jobs_) {
    if (job.facts.state == ChildState::kAwaited) usual_pause = std::max(usual_pause, job.lag);
    if (job.is_running() && !job.is_silent()) return absl::ZeroDuration();
    any_runs = any_runs || job.is_running();
    any_waits = any_waits || job.is_waiting();
    last_report_at = std::max(last_report_at, job.last_report_at());
  }
  // An open workflow whose known jobs have ended owes no report.
  if (plan_.is_open && !any_runs && !any_waits) return absl::ZeroDuration();
  const absl::Duration pause = now - last_report_at;
  const bool is_silent =
      pause > (any_runs ? facts::kShortestSilence
                        : facts::kSilenceWithoutInterval + absl::Seconds(usual_pause));
  return is_silent ? pause : absl::ZeroDuration();
}

absl::Time LiveWorkflow::InformedAt(absl::Time now) const {
  const absl::Duration silence = SilenceAt(now);
  return silence > absl::ZeroDuration() ? std::max(informed_at_, now - silence) : now;
}

absl::Time LiveWorkflow::StartOfFirstJob(absl::Time now) const {
  absl::Time began = now;
  for (const FollowedJob& job : jobs_) began = std::min(began, job.facts.started_at.value_or(now));
  return began;
}

Snapshot LiveWorkflow::Describe(absl::Time now, const WorkflowForecast* prediction) const {
  Snapshot snapshot = {.job_id = plan_.id, .at = now, .state = JobState::kRunning};
  snapshot.info =
      JobInfo{.name = plan_.name.empty() ? plan_.id : plan_.name, .kind = JobKind::kWorkflow};
  snapshot.started_at = started_at_;
  snapshot.deadline = plan_.deadline;
  snapshot.may_grow = MayGrow();
  if (const absl::Duration silence = SilenceAt(now); silence > absl::ZeroDuration()) {
    snapshot.silent_since = facts::SilentSince(now - silence, listening_since_, now);
  }
  tidemark::Estimate& estimate = snapshot.estimate;
  estimate.state = EstimateState::kWarmingUp;
  if (prediction != nullptr) {
    const Range& remaining = prediction->remaining;
    estimate.state = EstimateState::kValid;
    estimate.remaining = remaining;
    estimate.method = EstimateMethod::kJobs;
    // Waiting for the first job is not progress.
    const absl::Time informed_at = InformedAt(now);
    const absl::Duration worked = informed_at - StartOfFirstJob(informed_at);
    estimate.fraction_done = FractionDone(worked, remaining.median);
    estimate.fraction_done_lower = FractionDone(worked, *remaining.upper);
    estimate.fraction_done_upper = FractionDone(worked, *remaining.lower);
    estimate.known_share = prediction->known_share;
    if (*remaining.upper >= kLongestShown) {
      snapshot.notes.emplace_back(
          "the forecast reaches 1e10 s (317 years), the longest time that a snapshot shows; the "
          "workflow may take longer");
    }
  }
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const bool is_predicted = prediction != nullptr && i < prediction->jobs.size();
    DescribeJob(jobs_[i], plan_.jobs[i], parents_[i],
                is_predicted ? prediction->jobs[i] : ChildForecast(), snapshot);
    // The basis is the strongest basis of all parts.
    if (jobs_[i].facts.state == ChildState::kCancelled) continue;
    estimate.basis = std::max(estimate.basis,
                              std::min(snapshot.children.back().estimate.basis, Basis::kThisRun));
  }
  snapshot.counts = CountParts(snapshot);
  return snapshot;
}

void LiveWorkflow::AddNotes(absl::Time now, std::vector<std::string>& notes) const {
  if (damaged_records_ > 0) {
    notes.push_back(absl::StrCat("the master's log of this workflow was damaged: about ",
                                 damaged_records_,
                                 damaged_records_ == 1 ? " record was" : " records were",
                                 " lost; if a job is no longer attached, attach it again"));
  }
  if (plan_.is_open && !is_closed_) {
    if (MayGrow() && HasBegun() && !IdleSince()) {
      notes.emplace_back(
          "jobs that have not been submitted are unknown; the estimate allows for them in "
          "proportion to the elapsed time");
    }
    if (IdleSince() || HasAllJobs()) {
      notes.push_back(absl::StrCat("the workflow ends when it is closed, or ",
                                   text::DurationText(QuietTime()),
                                   " after its last job if no other job joins it"));
    }
  }
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    std::string note = NoteOnJob(jobs_[i], plan_.jobs[i].name, now);
    if (!note.empty()) notes.push_back(std::move(note));
  }
}

void LiveWorkflow::NoteSkippedJobs(std::vector<std::string>& notes) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (jobs_[i].facts.state == ChildState::kCancelled) names.push_back(plan_.jobs[i].name);
  }
  if (names.empty()) return;
  const std::size_t nodes = names.size();
  notes.push_back(absl::StrCat(
      nodes == 1 ? "no job ran for 1 node" : absl::StrCat("no job ran for ", nodes, " nodes"), ": ",
      FirstOf(std::move(names))));
}

void LiveWorkflow::AddNoteOnUnknownRuns(std::vector<std::string>& notes) const {
  if (plan_.is_open) return;
  std::vector<std::string> names;
  std::string history_name;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const PlannedJob& planned = plan_.jobs[i];
    const bool is_known = !jobs_[i].runs.empty() || planned.profile;
    if (!jobs_[i].has_runs || is_known || !jobs_[i].is_waiting()) continue;
    if (planned.history_name.empty()) continue;
    names.push_back(planned.name);
    history_name = planned.history_name;
  }
  if (names.empty()) return;
  notes.push_back(names.size() == 1
                      ? absl::StrCat("job ", names[0], ": no past run of ", history_name,
                                     " is stored, so its times are a guess")
                      : absl::StrCat("jobs ", FirstOf(std::move(names)),
                                     ": no past run is stored, so their times are a guess"));
}

void LiveWorkflow::AddNoteOnJobsOutside(std::vector<std::string>& notes) const {
  if (jobs_outside_.empty()) return;
  notes.push_back(absl::StrCat(jobs_outside_.size() == 1
                                   ? "1 job reports this workflow, but is not part of it: "
                                   : absl::StrCat(jobs_outside_.size(),
                                                  " jobs report this workflow, but are not part "
                                                  "of it: "),
                               outside_reason_));
}

void LiveWorkflow::Widen(absl::Time at, SecondsRange& end) {
  const facts::EndPrediction given = record_.Widen({.at = at,
                                                    .end = at + absl::Seconds(end.median),
                                                    .lower = at + absl::Seconds(end.lower),
                                                    .upper = at + absl::Seconds(end.upper)},
                                                   MayGrow() ? 1 : durations::kWiden);
  if (!given.lower || !given.upper) return;
  end.lower = absl::ToDoubleSeconds(*given.lower - at);
  end.upper = absl::ToDoubleSeconds(*given.upper - at);
}

void LiveWorkflow::ShowJobs(Snapshot& snapshot) {
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    FollowedJob& job = jobs_[i];
    tidemark::Estimate& child = snapshot.children[i].estimate;
    if (!job.is_running()) continue;
    if (!job.is_silent() && child.remaining && job.facts.started_at) {
      job.shown.Show(informed_at_ - *job.facts.started_at, /*stages=*/0, RaiseCause::kUnknown,
                     child);
    } else if (job.shown.fraction_done() > 0) {
      child.fraction_done = job.shown.fraction_done();
    }
    child.fraction_done_lower = child.fraction_done_upper = child.fraction_done;
  }
}

const Snapshot& LiveWorkflow::Tick(absl::Time now, absl::StatusOr<ApplicationForecast> estimate) {
  if (is_final()) return *newest_;
  now = std::max(now, newest_->at);
  FindAwaited(now);
  const End end = EndAt(now);
  const bool is_final = end.state != JobState::kRunning;
  informed_at_ = InformedAt(now);
  std::optional<WorkflowForecast> prediction;
  if (!is_final && estimate.ok()) {
    Widen(informed_at_, estimate->end);
    prediction = PredictionAt(now, *estimate, LiveJobs(informed_at_, cluster_, 1));
  }
  // More jobs may come at any time, so an idle workflow has no predicted end.
  const std::optional<absl::Time> idle_since = is_final ? std::nullopt : IdleSince();
  if (idle_since) prediction.reset();
  Snapshot snapshot = Describe(now, prediction ? &*prediction : nullptr);
  snapshot.idle_since = idle_since;
  RoundParts(snapshot);
  ReconcileForecasts(snapshot, /*ends_with_parts=*/!snapshot.may_grow);
  snapshot.sequence = newest_->sequence + 1;
  tidemark::Estimate& shown = snapshot.estimate;
  if (is_final) {
    snapshot.state = end.state;
    snapshot.is_final = true;
    snapshot.may_grow = false;
    snapshot.message = end.message;
    snapshot.ended_at = std::max(end.at.value_or(now), *snapshot.started_at);
    snapshot.silent_since.reset();
    shown.state = EstimateState::kFinal;
    shown.basis = Basis::kDone;
    shown.method = EstimateMethod::kUnknown;
    shown.fraction_done = 1;
    shown.known_share = 1;
    snapshot.counts = CountParts(snapshot);  // The counts depend on the state.
    if (plan_.is_open) NoteSkippedJobs(snapshot.notes);
  } else {
    if (!estimate.ok()) snapshot.notes.emplace_back(estimate.status().message());
    AddNotes(now, snapshot.notes);
  }
  AddNoteOnJobsOutside(snapshot.notes);
  if (plan_.deadline) snapshot.late_probability = LateProbability(snapshot, *plan_.deadline);
  if (snapshot.silent_since || (is_final && end.state != JobState::kSucceeded)) {
    const double before = newest_->estimate.fraction_done;
    const bool has_end = snapshot.silent_since && shown.remaining;
    const absl::Duration worked = now - StartOfFirstJob(now);
    shown.fraction_done =
        has_end ? std::min(before, FractionDone(worked, shown.remaining->median)) : before;
  } else if (!is_final) {
    const absl::Duration worked = informed_at_ - StartOfFirstJob(informed_at_);
    snapshot.estimate_raised = shown_.Show(worked, /*stages=*/0, RaiseCause::kUnknown, shown);
  }
  ShowJobs(snapshot);
  shown.fraction_done_lower = std::min(shown.fraction_done_lower, shown.fraction_done);
  shown.fraction_done_upper = std::max(shown.fraction_done_upper, shown.fraction_done);
  // An idle workflow may end now, or continue with jobs of any length.
  if (idle_since) {
    shown.fraction_done_lower =
        std::min(newest_->estimate.fraction_done_lower, shown.fraction_done);
    shown.fraction_done_upper = 1;
  }
  if (is_final) {
    const tidemark::Estimate& last = newest_->estimate;
    const double done = shown.fraction_done;
    // The bounds of a failed workflow are at least as wide as at its end.
    const bool was_told = end.state != JobState::kSucceeded && last.remaining.has_value();
    shown.fraction_done_lower = was_told ? std::min(last.fraction_done_lower, done) : done;
    shown.fraction_done_upper = was_told ? std::max(last.fraction_done_upper, done) : done;
  }
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const tidemark::Estimate& of_job = snapshot.children[i].estimate;
    if (!prediction || i >= prediction->jobs.size()) continue;
    const ChildForecast& predicted = prediction->jobs[i];
    if (predicted.starts_in && predicted.ends_in && of_job.basis != Basis::kGuess) {
      jobs_[i].would_take =
          std::max(predicted.ends_in->median - *predicted.starts_in, absl::ZeroDuration());
    }
  }
  KeepForecast(snapshot);
  newest_ = std::make_shared<Snapshot>(std::move(snapshot));
  // A workflow is kept long after its end, so the data for later snapshots are freed.
  for (FollowedJob& job : jobs_) {
    if (is_final) job.ReleaseRun();
  }
  return *newest_;
}

PastRun LiveWorkflow::AsPastRun() const {
  PastRun run = {.slots = static_cast<double>(cluster_.slots)};
  std::vector<std::optional<std::size_t>> place(jobs_.size());
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const JobFacts& facts = jobs_[i].facts;
    if (facts.state != ChildState::kSucceeded || !facts.started_at || !facts.ended_at) continue;
    place[i] = run.stages.size();
    PastStage& stage = run.stages.emplace_back(PastStage{.name = plan_.jobs[i].name, .tasks = 1});
    stage.seconds[0] = {std::max(absl::ToDoubleSeconds(*facts.ended_at - *facts.started_at), 0.0)};
  }
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (!place[i]) continue;
    PastStage& stage = run.stages[*place[i]];
    absl::Time parents_end = absl::InfinitePast();
    for (const std::size_t parent : parents_[i]) {
      if (!place[parent]) continue;
      stage.parents.push_back(*place[parent]);
      parents_end = std::max(parents_end, *jobs_[parent].facts.ended_at);
    }
    if (stage.parents.empty()) continue;
    stage.lag = std::max(absl::ToDoubleSeconds(*jobs_[i].facts.started_at - parents_end), 0.0);
  }
  return run;
}

void LiveWorkflow::SetPastRun(const PastRun& run) {
  for (const PastStage& stage : run.stages) {
    const auto place = place_of_name_.find(stage.name);
    if (place != place_of_name_.end()) jobs_[place->second].lag = std::max(stage.lag, 0.0);
  }
}

std::vector<std::pair<std::string, JobFacts>> LiveWorkflow::TakeNewFacts() {
  std::vector<std::pair<std::string, JobFacts>> changed;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (jobs_[i].facts == jobs_[i].kept) continue;
    jobs_[i].kept = jobs_[i].facts;
    changed.emplace_back(plan_.jobs[i].name, jobs_[i].facts);
  }
  return changed;
}

void LiveWorkflow::RestoreFacts(const std::string& name, JobFacts facts) {
  const auto place = place_of_name_.find(name);
  if (place == place_of_name_.end()) return;
  FollowedJob& job = jobs_[place->second];
  if (!job.facts.started_at) NoteStart(facts.started_at);
  job.facts = job.kept = std::move(facts);
}

void LiveWorkflow::RestoreTick(std::uint64_t sequence, absl::Time at, double fraction_done) {
  newest_->sequence = std::max(newest_->sequence, sequence);
  newest_->at = std::max(newest_->at, at);
  fraction_done = fraction_done > 0 ? std::min(fraction_done, kRunningFractionMax) : 0;
  newest_->estimate.fraction_done = fraction_done;
  shown_.Restore(fraction_done);
  active_at_ = std::max(active_at_, at);
}

void LiveWorkflow::RestoreEnd(Snapshot final, std::vector<PastForecast> forecasts) {
  *newest_ = std::move(final);
  past_forecasts_ = std::move(forecasts);
}

void LiveWorkflow::KeepForecast(const Snapshot& snapshot) {
  const tidemark::Estimate& shown = snapshot.estimate;
  const bool is_known = !snapshot.is_final && shown.state == EstimateState::kValid &&
                        shown.remaining && shown.remaining->median < absl::InfiniteDuration();
  if (!is_known || ++skipped_forecasts_ < forecast_stride_) return;
  skipped_forecasts_ = 0;
  PastForecast& forecast = past_forecasts_.emplace_back();
  forecast = {.at = snapshot.at,
              .ends_at = snapshot.at + shown.remaining->median,
              .fraction_done = shown.fraction_done,
              .fraction_done_lower = shown.fraction_done_lower,
              .fraction_done_upper = shown.fraction_done_upper};
  if (const auto& lower = shown.remaining->lower) forecast.ends_at_lower = snapshot.at + *lower;
  if (const auto& upper = shown.remaining->upper) forecast.ends_at_upper = snapshot.at + *upper;
  if (past_forecasts_.size() < kPastForecastsMax) return;
  for (std::size_t i = 0; i < kPastForecastsMax / 2; ++i) {
    past_forecasts_[i] = past_forecasts_[2 * i + 1];
  }
  past_forecasts_.resize(kPastForecastsMax / 2);
  forecast_stride_ *= 2;
}

void LiveWorkflow::NoteJobOutside(const std::string& job_id, const absl::Status& reason) {
  if (jobs_outside_.size() < kJobsOutsideMax) jobs_outside_.insert(job_id);
  outside_reason_ = std::string(reason.message());
}

void LiveWorkflow::NoteDamage(const LogDamage& damage) {
  if (is_final()) return;
  damaged_records_ += damage.records;
  newest_->sequence += damage.ticks_max;
}

namespace {

// Larger factors are assumed to be typing errors. ParseScenario() has the same limit.
constexpr double kDataFactorMax = 1e6;

placement::Resourcing ResourcingOf(const Plan& plan, const Cluster& cluster) {
  placement::Resourcing on;
  on.cluster.capacity = {.cores = static_cast<double>(cluster.slots)};
  on.cluster.policy = PolicyOf(cluster.policy);
  for (const Queue& queue : cluster.queues) on.cluster.queue_shares.push_back(queue.share);
  if (cluster.policy != SchedulingPolicy::kCapacity) return on;
  for (const PlannedJob& job : plan.jobs) {
    std::size_t place = 0;
    while (place < cluster.queues.size() && cluster.queues[place].name != job.queue) ++place;
    on.queue_of_owner.push_back(place);
  }
  return on;
}

}  // namespace

double LiveWorkflow::Shift() const {
  double sum = 0;
  double count = 0;
  for (const FollowedJob& job : jobs_) {
    const JobFacts& facts = job.facts;
    if (facts.state != ChildState::kSucceeded || !facts.expected || !facts.started_at ||
        !facts.ended_at || *facts.expected < absl::Seconds(1)) {
      continue;
    }
    const double took = absl::ToDoubleSeconds(*facts.ended_at - *facts.started_at);
    sum += std::log(std::max(took, 0.1) / absl::ToDoubleSeconds(*facts.expected));
    count += 1;
  }
  if (count == 0) return 1;
  // A job may differ from its past run for individual reasons.
  const double common = options_.estimate.common_deviation * options_.estimate.common_deviation;
  const double noise = durations::kRepeatDeviation * durations::kRepeatDeviation / count;
  return std::exp(common / (common + noise) * sum / count);
}

std::vector<double> LiveWorkflow::InputsOfJobs() const {
  std::vector<std::vector<std::size_t>> children(jobs_.size());
  std::vector<std::size_t> open_parents(jobs_.size());
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    for (const std::size_t parent : parents_[i]) children[parent].push_back(i);
    open_parents[i] = parents_[i].size();
    if (parents_[i].empty()) ready.push_back(i);
  }
  std::vector<double> inputs(jobs_.size());
  std::vector<double> output_growth(jobs_.size(), 1);
  while (!ready.empty()) {
    const std::size_t i = ready.back();
    ready.pop_back();
    const FollowedJob& job = jobs_[i];
    double growth = 1;
    const double past_input = job.runs.empty() ? 0 : InputBytes(job.runs.front());
    double past = 0;  // output of the parents
    double present = 0;
    for (const std::size_t parent : parents_[i]) {
      if (jobs_[parent].runs.empty()) continue;
      const double bytes = OutputBytes(jobs_[parent].runs.front());
      past += bytes;
      present += bytes * output_growth[parent];
    }
    if (past_input > 0 && past > 0 && present != past) {
      growth = (past_input - past + present) / past_input;
      // The job read less than its parents wrote, so their output was compressed.
      if (past > past_input) growth = present / past;
      growth = std::clamp(growth, 1 / kGrowthMax, kGrowthMax);
      inputs[i] = growth * past_input;
    }
    output_growth[i] = job.OutputGrowth(growth);
    for (const std::size_t child : children[i]) {
      if (--open_parents[child] == 0) ready.push_back(child);
    }
  }
  return inputs;
}

std::vector<LiveJob> LiveWorkflow::LiveJobs(absl::Time now, const Cluster& cluster,
                                            double data_factor) const {
  std::vector<LiveJob> live;
  live.reserve(jobs_.size());
  const std::vector<double> inputs = InputsOfJobs();
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const PlannedJob& planned = plan_.jobs[i];
    const bool is_planned = planned.profile || planned.input_bytes || planned.map_task_count;
    if (inputs[i] == 0 || is_planned || !jobs_[i].is_waiting()) {
      live.push_back(jobs_[i].At(now, planned, cluster, data_factor));
      continue;
    }
    // The job reads as many files as in the past run, each of another size.
    PlannedJob grown = planned;
    grown.map_task_count = jobs_[i].runs.front().map_tasks;
    grown.input_bytes = static_cast<std::uint64_t>(std::max(inputs[i], 1.0));
    live.push_back(jobs_[i].At(now, grown, cluster, data_factor));
  }
  return live;
}

JobsNow LiveWorkflow::QuestionOn(absl::Time now, const Cluster& cluster, double data_factor) const {
  JobsNow question = {.jobs = LiveJobs(now, cluster, data_factor),
                      .parents = parents_,
                      .on = ResourcingOf(plan_, cluster),
                      .options = options_.estimate,
                      .cluster = cluster};
  question.options.shift = Shift();
  if (MayGrow()) {
    question.options.submissions = SubmissionsSoFar();
    question.options.elapsed = absl::ToDoubleSeconds(now - StartOfFirstJob(now));
  }
  return question;
}

JobsNow LiveWorkflow::QuestionAt(absl::Time now) {
  now = std::max(now, newest_->at);
  if (!is_final()) FindAwaited(now);
  informed_at_ = InformedAt(now);
  return QuestionOn(informed_at_, cluster_, 1);
}

WorkflowForecast LiveWorkflow::PredictionAt(absl::Time now, const ApplicationForecast& estimate,
                                            std::span<const LiveJob> live) const {
  WorkflowForecast prediction = PredictionOf(estimate);
  const std::vector<std::vector<std::size_t>> own = OwnStages(estimate);
  bool has_forecast = false;
  absl::Duration silence_of_job;
  for (std::size_t i = 0; i < std::min(jobs_.size(), own.size()); ++i) {
    has_forecast = has_forecast || live[i].forecast.has_value();
    silence_of_job = std::max(silence_of_job, jobs_[i].Silence());
    prediction.jobs.push_back(ForecastOfChild(jobs_[i], live[i], estimate, i, own[i]));
  }
  const absl::Duration silence = SilenceAt(now);
  if (has_forecast && silence_of_job > absl::ZeroDuration()) {
    // The forecast of a silent job already contains the later median and the earlier lower bound.
    OpenBySilence(absl::ZeroDuration(), silence_of_job, absl::ZeroDuration(), prediction);
  } else if (!has_forecast && silence > absl::ZeroDuration()) {
    const absl::Time silent_since = facts::SilentSince(now - silence, listening_since_, now);
    OpenBySilence(now - InformedAt(now), silence, now - silent_since, prediction);
  }
  return prediction;
}

absl::StatusOr<Outcome> LiveWorkflow::Estimate(absl::Time now, const Scenario& scenario) const {
  if (is_final()) return Outcome{.snapshot = *newest_};
  if (is_cancelled_) {
    return absl::FailedPreconditionError(
        absl::StrCat("workflow ", plan_.id, " was cancelled; no work remains to estimate"));
  }
  const double data_factor = scenario.data_factor.value_or(1);
  if (!(data_factor > 0 && data_factor <= kDataFactorMax)) {
    return FieldError("data_factor", "must be positive and at most 1e6");
  }
  Plan changed = plan_;
  changed.cluster = cluster_;
  if (scenario.slots) changed.cluster.slots = *scenario.slots;
  if (scenario.policy) changed.cluster.policy = *scenario.policy;
  if (absl::Status ok = CheckWorkflow(changed, jobs_.size()); !ok.ok()) return ok;
  now = std::max(now, newest_->at);
  const JobsNow question = QuestionOn(InformedAt(now), changed.cluster, data_factor);
  const auto estimate = ForecastJobs(question);
  if (!estimate.ok()) return estimate.status();
  const WorkflowForecast prediction = PredictionAt(now, *estimate, question.jobs);
  Outcome outcome = {.snapshot = Describe(now, &prediction),
                     .busy_share = BusyShare(prediction, changed.cluster.slots)};
  if (!estimate->states.empty()) {
    outcome.states = PlanStatesOf(*estimate, StageIdsOf(*estimate, outcome.snapshot));
  }
  ReconcileForecasts(outcome.snapshot, /*ends_with_parts=*/!outcome.snapshot.may_grow);
  AddNoteOnUnknownRuns(outcome.snapshot.notes);
  return outcome;
}

}  // namespace tidemark::dag
