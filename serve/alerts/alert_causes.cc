#include "serve/alerts/alert_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tidemark::serve {
namespace {

// Number of consecutive updates that must find a job likely late.
constexpr int kLateUpdates = 2;

// Returns false for unknown estimates and for guesses, whose probabilities mean nothing.
bool IsEvidence(const Estimate& estimate) {
  return estimate.basis != Basis::kUnknown && estimate.basis != Basis::kGuess;
}

// Returns the time of the last event before the silence. It does not change during a silence,
// unlike silent_since, which counts from a restart.
absl::Time LastEventAt(const Snapshot& silent) {
  const auto last_event_at = silent.coverage ? silent.coverage->newest_event_at : std::nullopt;
  if (last_event_at || silent.children.empty()) return last_event_at.value_or(*silent.silent_since);
  // If no job of the workflow runs, use the last start or end of a job.
  absl::Time newest = silent.started_at.value_or(absl::UnixEpoch());
  for (const Child& child : silent.children) {
    newest = std::max({newest, child.started_at.value_or(newest), child.ended_at.value_or(newest)});
  }
  return newest;
}

// Returns a text that distinguishes silences. Several retries of a workflow may have the same time
// of the last event, so the text includes the number of failed attempts.
std::string DetailOfSilence(const Snapshot& silent) {
  std::uint64_t failed_attempts = 0;
  for (const Child& child : silent.children) failed_attempts += child.failed_attempts;
  const std::string since = fmt::format("{}", absl::ToUnixSeconds(LastEventAt(silent)));
  return failed_attempts == 0 ? since : fmt::format("{} {}", since, failed_attempts);
}

std::string IdOf(AlertKind kind, const std::string& run, const std::string& detail) {
  return ShortHash(fmt::format("{} {} {}", run, NameOf(kind), detail));
}

template <typename IsWanted>
std::vector<std::string> NamesOfChildren(const Snapshot& workflow, IsWanted is_wanted) {
  std::vector<std::string> names;
  for (const Child& child : workflow.children) {
    if (is_wanted(child)) names.push_back(child.name);
  }
  return names;
}

bool IsRunning(const Child& child) { return child.state == ChildState::kRunning; }

// Returns true if the workflow is late whenever its job `job` is late. Both must have deadlines,
// and the deadline of the job must not be before the deadline of the workflow.
bool IsLateWith(const Snapshot& job, const Snapshot& workflow) {
  return job.deadline && workflow.deadline && *job.deadline >= *workflow.deadline;
}

// Returns the names of `jobs` within the workflow, in the workflow's order.
std::vector<std::string> NamesOf(const std::vector<const Snapshot*>& jobs,
                                 const Snapshot& workflow) {
  return NamesOfChildren(workflow, [&](const Child& child) {
    return std::ranges::any_of(jobs,
                               [&](const Snapshot* job) { return job->job_id == child.job_id; });
  });
}

// Returns the names of the jobs that the workflow waits for: running jobs on its critical path, or
// else all running jobs, or else jobs that should run.
std::vector<std::string> JobsWaitedFor(const Snapshot& workflow) {
  std::vector<std::string> names = NamesOfChildren(
      workflow, [](const Child& child) { return IsRunning(child) && child.is_critical; });
  if (names.empty()) names = NamesOfChildren(workflow, IsRunning);
  if (!names.empty()) return names;
  return NamesOfChildren(workflow, [](const Child& child) {
    return child.state == ChildState::kAwaited || child.state == ChildState::kRetryable;
  });
}

}  // namespace

AlertCauses::AlertCauses(AlertRules rules, std::set<std::string> sent)
    : rules_(std::move(rules)), sent_(std::move(sent)) {}

bool AlertCauses::IsSelected(const Snapshot& job) const {
  // Sequence 0 means that the job has no snapshot.
  return job.sequence > 0 && IsNamedBy(rules_.jobs, job);
}

bool AlertCauses::HadEnded(const Snapshot& job) const {
  if (!job.is_final) return false;
  const auto known = tracked_.find(job.job_id);
  if (known == tracked_.end()) return updates_ == 1;
  return known->second.is_final && known->second.run == RunOf(job);
}

std::vector<AlertCauses::Family> AlertCauses::FamiliesOf(const std::vector<Snapshot>& jobs) const {
  absl::flat_hash_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (IsSelected(jobs[i]) && !HadEnded(jobs[i])) places[jobs[i].job_id] = i;
  }
  std::vector<Family> families(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].sequence == 0 || !jobs[i].info || jobs[i].info->workflow_id.empty()) continue;
    const auto place = places.find(jobs[i].info->workflow_id);
    if (place == places.end() || place->second == i) continue;
    families[i].workflow = &jobs[place->second];
    if (!jobs[i].is_final) families[place->second].jobs.push_back(&jobs[i]);
  }
  return families;
}

std::vector<Alert> AlertCauses::Update(const std::vector<Snapshot>& jobs) {
  std::vector<Alert> alerts;
  ++updates_;
  const std::vector<Family> families = FamiliesOf(jobs);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Snapshot& job = jobs[i];
    if (!IsSelected(job)) continue;
    const std::string run = RunOf(job);
    auto [known, is_new] = tracked_.try_emplace(job.job_id);
    TrackedJob& state = known->second;
    if (is_new || state.run != run) state = TrackedJob{.run = run};
    state.last_update = updates_;
    if (updates_ == 1 && job.is_final) state.is_final = true;
    CheckJob(job, families[i], state, alerts);
  }
  absl::erase_if(tracked_, [&](const auto& entry) { return entry.second.last_update != updates_; });
  return alerts;
}

void AlertCauses::CheckJob(const Snapshot& job, const Family& family, TrackedJob& state,
                           std::vector<Alert>& alerts) {
  if (state.is_final) return;
  if (job.is_final) {
    state.is_final = true;
    const bool is_bad = job.state != JobState::kSucceeded;
    if (is_bad && family.workflow != nullptr) return;
    const bool is_failure = is_bad && Wants(AlertKind::kFailed);
    if (!is_failure && !Wants(AlertKind::kEnded)) return;
    Add(is_failure ? AlertKind::kFailed : AlertKind::kEnded, "", job, state, alerts);
    return;
  }
  CheckSilence(job, family, state, alerts);
  if (job.sequence == state.sequence) return;
  state.sequence = job.sequence;
  CheckDeadline(job, family, state, alerts);
  CheckStraggler(job, state, alerts);
}

void AlertCauses::CheckSilence(const Snapshot& job, const Family& family, TrackedJob& state,
                               std::vector<Alert>& alerts) {
  if (!job.silent_since) {
    state.is_silence_sent = false;
    return;
  }
  if (!Wants(AlertKind::kSilent) || state.is_silence_sent ||
      job.at - *job.silent_since < rules_.silent_for) {
    return;
  }
  // After the same time of silence, the workflow's own alert reports it.
  if (family.workflow != nullptr && family.workflow->silent_since) return;
  state.is_silence_sent = true;
  const auto is_silent = [](const Snapshot* child) { return child->silent_since.has_value(); };
  if (std::ranges::any_of(family.jobs, is_silent)) {
    AddSilenceOfJobs(job, family, state, alerts);
  } else if (Add(AlertKind::kSilent, DetailOfSilence(job), job, state, alerts)) {
    alerts.back().waits_for = JobsWaitedFor(job);
  }
}

// Adds one alert for a workflow whose running jobs are silent.
void AlertCauses::AddSilenceOfJobs(const Snapshot& job, const Family& family,
                                   const TrackedJob& state, std::vector<Alert>& alerts) {
  std::vector<const Snapshot*> unsent;
  std::vector<std::string> ids;
  for (const Snapshot* child : family.jobs) {
    if (!child->silent_since) continue;
    std::string id = IdOf(AlertKind::kSilent, RunOf(*child), DetailOfSilence(*child));
    if (!sent_.Insert(id)) continue;
    unsent.push_back(child);
    ids.push_back(std::move(id));
  }
  if (ids.empty()) return;
  alerts.push_back({.kind = AlertKind::kSilent,
                    .id = ids.front(),
                    .run_id = ShortHash(state.run),
                    .job = job,
                    .waits_for = NamesOf(unsent, job),
                    .same_cause = std::vector<std::string>(ids.begin() + 1, ids.end())});
}

bool AlertCauses::IsLikelyLate(const Snapshot& job) const {
  return IsEvidence(job.estimate) && job.late_probability.value_or(0) >= rules_.late_from;
}

void AlertCauses::CheckDeadline(const Snapshot& job, const Family& family, TrackedJob& state,
                                std::vector<Alert>& alerts) {
  std::vector<const Snapshot*> late;  // jobs that are likely late and make the workflow late
  for (const Snapshot* child : family.jobs) {
    if (IsLateWith(*child, job) && IsLikelyLate(*child)) late.push_back(child);
  }
  state.late_in_a_row = IsLikelyLate(job) || !late.empty() ? state.late_in_a_row + 1 : 0;
  const bool is_late =
      (job.deadline && job.at >= *job.deadline) || state.late_in_a_row >= kLateUpdates;
  if (!is_late || state.is_late_sent || !Wants(AlertKind::kLate)) return;
  if (family.workflow != nullptr && IsLateWith(job, *family.workflow)) return;
  state.is_late_sent = true;
  if (!Add(AlertKind::kLate, "", job, state, alerts)) return;
  Alert& alert = alerts.back();
  alert.waits_for = late.empty() ? JobsWaitedFor(job) : NamesOf(late, job);
  for (const Snapshot* child : family.jobs) {
    if (!IsLateWith(*child, job)) continue;
    std::string id = IdOf(AlertKind::kLate, RunOf(*child), "");
    if (sent_.Insert(id)) alert.same_cause.push_back(std::move(id));
  }
}

void AlertCauses::CheckStraggler(const Snapshot& job, TrackedJob& state,
                                 std::vector<Alert>& alerts) {
  std::optional<Task> now;
  // A task that waits for a slot is not a straggler.
  if (!job.named_tasks.empty() && !job.named_tasks.front().waits_for_slot) {
    const AttemptId& last = job.named_tasks.front().attempt;
    now = Task(last.stage, last.index);
  }
  const bool is_settled = now && now == state.next_straggler;
  state.next_straggler = now;
  if (!is_settled || now == state.straggler) return;
  const bool is_change = state.straggler.has_value();
  state.straggler = now;
  if (!is_change || !Wants(AlertKind::kStraggler)) return;
  if (state.sent_stragglers.size() >= kStragglersMax || !state.sent_stragglers.insert(*now).second)
    return;
  Add(AlertKind::kStraggler, fmt::format("{} {}", now->first, now->second), job, state, alerts);
}

bool AlertCauses::Add(AlertKind kind, const std::string& detail, const Snapshot& job,
                      const TrackedJob& state, std::vector<Alert>& alerts) {
  std::string id = IdOf(kind, state.run, detail);
  // tracked_ drops jobs that are no longer listed, and a restart empties it.
  if (!sent_.Insert(id)) return false;
  alerts.push_back({.kind = kind, .id = std::move(id), .run_id = ShortHash(state.run), .job = job});
  return true;
}

}  // namespace tidemark::serve
