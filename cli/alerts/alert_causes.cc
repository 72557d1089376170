#include "cli/alerts/alert_causes.h"

#include <fmt/format.h>

#include <utility>

#include "cli/alerts/run_name.h"

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
  return heard_at.value_or(*silent.silent_since);
}

}  // namespace

AlertCauses::AlertCauses(AlertRules rules, std::set<std::string> told)
    : rules_(std::move(rules)), told_(std::move(told)) {}

std::vector<Alert> AlertCauses::Look(const std::vector<Snapshot>& jobs) {
  std::vector<Alert> alerts;
  ++look_;
  for (const Snapshot& job : jobs) {
    // Before its first snapshot nothing is known of it.
    if (job.sequence == 0 || !IsNamedBy(rules_.jobs, job)) continue;
    const std::string run = RunOf(job);
    auto [known, is_new] = seen_.try_emplace(job.job_id);
    Seen& seen = known->second;
    if (is_new || seen.run != run) seen = Seen{.run = run};
    seen.look = look_;
    if (look_ == 1 && job.is_final) seen.is_final = true;
    LookAt(job, seen, alerts);
  }
  absl::erase_if(seen_, [&](const auto& entry) { return entry.second.look != look_; });
  return alerts;
}

void AlertCauses::LookAt(const Snapshot& job, Seen& seen, std::vector<Alert>& alerts) {
  if (seen.is_final) return;
  if (job.is_final) {
    seen.is_final = true;
    const bool is_bad = job.state != JobState::kSucceeded;
    if (is_bad && Wants(AlertKind::kFailed)) return Tell(AlertKind::kFailed, "", job, seen, alerts);
    if (Wants(AlertKind::kEnded)) Tell(AlertKind::kEnded, "", job, seen, alerts);
    return;
  }
  if (!job.silent_since) {
    seen.is_silence_told = false;
  } else if (Wants(AlertKind::kSilent) && !seen.is_silence_told &&
             job.at - *job.silent_since >= rules_.silent_for) {
    seen.is_silence_told = true;
    Tell(AlertKind::kSilent, fmt::format("{}", absl::ToUnixSeconds(UnheardSince(job))), job, seen,
         alerts);
  }
  if (job.sequence == seen.sequence) return;  // nothing that was not seen
  seen.sequence = job.sequence;
  const bool is_likely =
      IsEvidence(job.estimate) && job.late_probability.value_or(0) >= rules_.late_from;
  seen.late_looks = is_likely ? seen.late_looks + 1 : 0;
  const bool is_late = (job.deadline && job.at >= *job.deadline) || seen.late_looks >= kLooksInARow;
  if (is_late && !seen.is_late_told && Wants(AlertKind::kLate)) {
    seen.is_late_told = true;
    Tell(AlertKind::kLate, "", job, seen, alerts);
  }
  LookAtStraggler(job, seen, alerts);
}

void AlertCauses::LookAtStraggler(const Snapshot& job, Seen& seen, std::vector<Alert>& alerts) {
  std::optional<Task> now;
  if (!job.named_tasks.empty()) {
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

void AlertCauses::Tell(AlertKind kind, const std::string& detail, const Snapshot& job,
                       const Seen& seen, std::vector<Alert>& alerts) {
  const std::string id = ShortHash(fmt::format("{} {} {}", seen.run, NameOf(kind), detail));
  // Seen forgets a job that is gone, and a restart all of them.
  if (!told_.Insert(id)) return;
  alerts.push_back({.kind = kind, .id = id, .run_id = ShortHash(seen.run), .job = job});
}

}  // namespace tidemark::cli
