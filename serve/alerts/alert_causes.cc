#include "serve/alerts/alert_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "serve/alerts/run_name.h"
#include "serve/alerts/workflow_causes.h"

namespace tidemark::cli {
namespace {

constexpr int kLooksInARow = 2;

// What is not known is no evidence, and nor is a guess, whatever it makes likely.
bool IsEvidence(const Estimate& estimate) {
  return estimate.basis != Basis::kUnknown && estimate.basis != Basis::kGuess;
}

// The same for one silence, also after a restart, from which silent_since counts.
absl::Time UnheardSince(const Snapshot& silent) {
  const auto heard_at = silent.coverage ? silent.coverage->newest_event_at : std::nullopt;
  if (heard_at || silent.children.empty()) return heard_at.value_or(*silent.silent_since);
  // Of a workflow of which no job runs: when one began or ended.
  absl::Time newest = silent.started_at.value_or(absl::UnixEpoch());
  for (const Child& child : silent.children) {
    newest = std::max({newest, child.started_at.value_or(newest), child.ended_at.value_or(newest)});
  }
  return newest;
}

// Of a workflow that waits for a retry, when it was heard of does not tell one retry from another.
std::string DetailOfSilence(const Snapshot& silent) {
  std::uint64_t failed_attempts = 0;
  for (const Child& child : silent.children) failed_attempts += child.failed_attempts;
  const std::string since = fmt::format("{}", absl::ToUnixSeconds(UnheardSince(silent)));
  return failed_attempts == 0 ? since : fmt::format("{} {}", since, failed_attempts);
}

std::string IdOf(AlertKind kind, const std::string& run, const std::string& detail) {
  return ShortHash(fmt::format("{} {} {}", run, NameOf(kind), detail));
}

}  // namespace

AlertCauses::AlertCauses(AlertRules rules, std::set<std::string> told)
    : rules_(std::move(rules)), told_(std::move(told)) {}

bool AlertCauses::IsLookedAt(const Snapshot& job) const {
  // Before its first snapshot nothing is known of it.
  return job.sequence > 0 && IsNamedBy(rules_.jobs, job);
}

bool AlertCauses::IsOldNews(const Snapshot& job) const {
  if (!job.is_final) return false;
  const auto known = seen_.find(job.job_id);
  if (known == seen_.end()) return look_ == 1;
  return known->second.is_final && known->second.run == RunOf(job);
}

std::vector<AlertCauses::Family> AlertCauses::FamiliesOf(const std::vector<Snapshot>& jobs) const {
  absl::flat_hash_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (IsLookedAt(jobs[i]) && !IsOldNews(jobs[i])) places[jobs[i].job_id] = i;
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

std::vector<Alert> AlertCauses::Look(const std::vector<Snapshot>& jobs) {
  std::vector<Alert> alerts;
  ++look_;
  const std::vector<Family> families = FamiliesOf(jobs);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Snapshot& job = jobs[i];
    if (!IsLookedAt(job)) continue;
    const std::string run = RunOf(job);
    auto [known, is_new] = seen_.try_emplace(job.job_id);
    Seen& seen = known->second;
    if (is_new || seen.run != run) seen = Seen{.run = run};
    seen.look = look_;
    if (look_ == 1 && job.is_final) seen.is_final = true;
    LookAt(job, families[i], seen, alerts);
  }
  absl::erase_if(seen_, [&](const auto& entry) { return entry.second.look != look_; });
  return alerts;
}

void AlertCauses::LookAt(const Snapshot& job, const Family& family, Seen& seen,
                         std::vector<Alert>& alerts) {
  if (seen.is_final) return;
  if (job.is_final) {
    seen.is_final = true;
    const bool is_bad = job.state != JobState::kSucceeded;
    if (is_bad && family.workflow != nullptr) return;
    const bool is_failure = is_bad && Wants(AlertKind::kFailed);
    if (!is_failure && !Wants(AlertKind::kEnded)) return;
    Tell(is_failure ? AlertKind::kFailed : AlertKind::kEnded, "", job, seen, alerts);
    return;
  }
  LookAtSilence(job, family, seen, alerts);
  if (job.sequence == seen.sequence) return;  // nothing that was not seen
  seen.sequence = job.sequence;
  LookAtDeadline(job, family, seen, alerts);
  LookAtStraggler(job, seen, alerts);
}

void AlertCauses::LookAtSilence(const Snapshot& job, const Family& family, Seen& seen,
                                std::vector<Alert>& alerts) {
  if (!job.silent_since) {
    seen.is_silence_told = false;
    return;
  }
  if (!Wants(AlertKind::kSilent) || seen.is_silence_told ||
      job.at - *job.silent_since < rules_.silent_for) {
    return;
  }
  // The workflow tells it, once it has been silent for as long.
  if (family.workflow != nullptr && family.workflow->silent_since) return;
  seen.is_silence_told = true;
  const auto is_silent = [](const Snapshot* child) { return child->silent_since.has_value(); };
  if (std::ranges::any_of(family.jobs, is_silent)) {
    TellSilenceOfJobs(job, family, seen, alerts);
  } else if (Tell(AlertKind::kSilent, DetailOfSilence(job), job, seen, alerts)) {
    alerts.back().waits_for = JobsWaitedFor(job);
  }
}

// What silences a workflow whose jobs run is their silence.
void AlertCauses::TellSilenceOfJobs(const Snapshot& job, const Family& family, const Seen& seen,
                                    std::vector<Alert>& alerts) {
  std::vector<const Snapshot*> untold;
  std::vector<std::string> ids;
  for (const Snapshot* child : family.jobs) {
    if (!child->silent_since) continue;
    std::string id = IdOf(AlertKind::kSilent, RunOf(*child), DetailOfSilence(*child));
    if (!told_.Insert(id)) continue;
    untold.push_back(child);
    ids.push_back(std::move(id));
  }
  if (ids.empty()) return;
  alerts.push_back({.kind = AlertKind::kSilent,
                    .id = ids.front(),
                    .run_id = ShortHash(seen.run),
                    .job = job,
                    .waits_for = NamesOf(untold, job),
                    .same_cause = std::vector<std::string>(ids.begin() + 1, ids.end())});
}

bool AlertCauses::IsLikelyLate(const Snapshot& job) const {
  return IsEvidence(job.estimate) && job.late_probability.value_or(0) >= rules_.late_from;
}

void AlertCauses::LookAtDeadline(const Snapshot& job, const Family& family, Seen& seen,
                                 std::vector<Alert>& alerts) {
  std::vector<const Snapshot*> late;  // of its jobs, those that make it late by themselves
  for (const Snapshot* child : family.jobs) {
    if (IsLateWith(*child, job) && IsLikelyLate(*child)) late.push_back(child);
  }
  seen.late_looks = IsLikelyLate(job) || !late.empty() ? seen.late_looks + 1 : 0;
  const bool is_late = (job.deadline && job.at >= *job.deadline) || seen.late_looks >= kLooksInARow;
  if (!is_late || seen.is_late_told || !Wants(AlertKind::kLate)) return;
  if (family.workflow != nullptr && IsLateWith(job, *family.workflow)) return;
  seen.is_late_told = true;
  if (!Tell(AlertKind::kLate, "", job, seen, alerts)) return;
  Alert& alert = alerts.back();
  alert.waits_for = late.empty() ? JobsWaitedFor(job) : NamesOf(late, job);
  for (const Snapshot* child : family.jobs) {
    if (!IsLateWith(*child, job)) continue;
    std::string id = IdOf(AlertKind::kLate, RunOf(*child), "");
    if (told_.Insert(id)) alert.same_cause.push_back(std::move(id));
  }
}

void AlertCauses::LookAtStraggler(const Snapshot& job, Seen& seen, std::vector<Alert>& alerts) {
  std::optional<Task> now;
  // A task that has not begun is late because of others: it lacks a slot.
  if (!job.named_tasks.empty() && !job.named_tasks.front().waits_for_slot) {
    const AttemptId& last = job.named_tasks.front().attempt;
    now = Task(last.stage, last.index);
  }
  const bool is_settled = now && now == seen.next_straggler;
  seen.next_straggler = now;
  if (!is_settled || now == seen.straggler) return;
  const bool is_change = seen.straggler.has_value();
  seen.straggler = now;
  if (!is_change || !Wants(AlertKind::kStraggler)) return;
  if (seen.stragglers.size() >= kStragglersMax || !seen.stragglers.insert(*now).second) return;
  Tell(AlertKind::kStraggler, fmt::format("{} {}", now->first, now->second), job, seen, alerts);
}

bool AlertCauses::Tell(AlertKind kind, const std::string& detail, const Snapshot& job,
                       const Seen& seen, std::vector<Alert>& alerts) {
  std::string id = IdOf(kind, seen.run, detail);
  // Seen forgets a job that is gone, and a restart all of them.
  if (!told_.Insert(id)) return false;
  alerts.push_back({.kind = kind, .id = std::move(id), .run_id = ShortHash(seen.run), .job = job});
  return true;
}

}  // namespace tidemark::cli
