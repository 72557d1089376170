#include "serve/alerts/alert_causes.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "console/job_wording.h"
#include "text/did_you_mean.h"
#include "text/name_pattern.h"

namespace tidemark::serve {
namespace {

constexpr std::array<std::string_view, 3> kShapes = {"json", "slack", "pagerduty"};
constexpr std::size_t kShownBytesMax = 60;
constexpr std::size_t kParentBytesMax = 1000;

// Returns true for a UUID (RFC 9562) in lower case.
bool IsUuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (is_dash ? text[i] != '-' : !absl::ascii_isxdigit(static_cast<unsigned char>(text[i]))) {
      return false;
    }
  }
  return true;
}

absl::Status UnknownField(std::string_view name) {
  const std::vector<std::string> known(kAlertFieldNames.begin(), kAlertFieldNames.end());
  const std::string meant = text::NearestName(name, known);
  return absl::InvalidArgumentError(
      fmt::format("`{{{}}}`{}", name.substr(0, kShownBytesMax),
                  meant.empty() ? "" : fmt::format("; did you mean {{{}}}?", meant)));
}

}  // namespace

absl::StatusOr<AlertHook> ParseAlertHook(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view shape = text.substr(0, equals);
  const std::string_view url = text.substr(equals + 1);
  const bool is_known = std::find(kShapes.begin(), kShapes.end(), shape) != kShapes.end();
  const bool is_address = (url.starts_with("http://") && url.size() > 7) ||
                          (url.starts_with("https://") && url.size() > 8) ||
                          (url.starts_with("@") && url.size() > 1);
  if (equals == std::string_view::npos || !is_known || !is_address) {
    return absl::InvalidArgumentError(
        "must be json=, slack= or pagerduty=, followed by an address");
  }
  return AlertHook{.shape = std::string(shape), .url = std::string(url)};
}

std::string ToString(const AlertHook& hook) {
  const std::size_t scheme = hook.url.find("://");
  if (scheme == std::string::npos) return hook.shape + "=" + hook.url;
  // The parts before an @ and after the host may contain a password.
  const std::size_t end = hook.url.find_first_of("/?#\\", scheme + 3);
  std::string host = hook.url.substr(scheme + 3, end == std::string::npos ? end : end - scheme - 3);
  host = host.substr(host.rfind('@') == std::string::npos ? 0 : host.rfind('@') + 1);
  return hook.shape + "=" + hook.url.substr(0, scheme + 3) + host + "/...";
}

absl::StatusOr<AlertTextRule> ParseAlertTextRule(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string name(text.substr(0, std::min(equals, kShownBytesMax)));
  if (equals == std::string_view::npos) {
    return absl::InvalidArgumentError("`" + name + "`, which has no =");
  }
  const std::optional<AlertKind> kind = AlertKindNamed(name);
  if (!kind) {
    return absl::InvalidArgumentError(
        "`" + name + "`" +
        text::DidYouMean(name, {kAlertKindNames.begin(), kAlertKindNames.end()}));
  }
  absl::StatusOr<AlertTemplate> words = AlertTemplate::Parse(text.substr(equals + 1));
  if (!words.ok()) return words.status();
  return AlertTextRule{.kind = *kind, .text = *std::move(words)};
}

std::string ToString(const AlertTextRule& rule) {
  return std::string(NameOf(rule.kind)) + "=" + rule.text.text();
}

absl::StatusOr<LineageParent> ParseLineageParent(std::string_view text) {
  const std::string quoted = "`" + std::string(text.substr(0, kShownBytesMax)) + "`";
  if (text.size() > kParentBytesMax) return absl::InvalidArgumentError(quoted + " and more");
  const std::size_t run = text.rfind('/');
  const std::size_t name =
      run == 0 || run == std::string_view::npos ? run : text.rfind('/', run - 1);
  if (name == std::string_view::npos || name == 0 || run - name < 2) {
    return absl::InvalidArgumentError(quoted);
  }
  LineageParent parent = {.name_space = std::string(text.substr(0, name)),
                          .name = std::string(text.substr(name + 1, run - name - 1)),
                          .run_id = absl::AsciiStrToLower(std::string(text.substr(run + 1)))};
  if (!IsUuid(parent.run_id))
    return absl::InvalidArgumentError(quoted + ", which does not end with a UUID");
  return parent;
}

std::string ToString(const LineageParent& parent) {
  return parent.name_space + "/" + parent.name + "/" + parent.run_id;
}

absl::Status SetParentFromEnvironment(const char* value, LineageSettings& lineage) {
  if (value == nullptr || *value == '\0' || lineage.parent || lineage.url.empty()) {
    return absl::OkStatus();
  }
  absl::StatusOr<LineageParent> parent = ParseLineageParent(value);
  if (!parent.ok()) {
    return absl::InvalidArgumentError(
        fmt::format("{} in the environment must be {}, not {}; unset it or set lineage.parent",
                    kParentVariable, kLineageParentForm, std::string(parent.status().message())));
  }
  lineage.parent = *std::move(parent);
  return absl::OkStatus();
}

absl::StatusOr<AlertTemplate> AlertTemplate::Parse(std::string_view text) {
  if (text.empty()) return absl::InvalidArgumentError("an empty text");
  if (text.size() > kBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("a text of {} bytes; at most {} are allowed", text.size(), kBytesMax));
  }
  AlertTemplate parsed(text);
  std::string literal;
  const auto end_literal = [&] {
    if (!literal.empty()) parsed.pieces_.push_back({.text = literal});
    literal.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c != '{' && c != '}') {
      literal += c;
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == c) {
      literal += c;
      ++i;
      continue;
    }
    const std::size_t close = c == '{' ? text.find('}', i) : std::string_view::npos;
    if (close == std::string_view::npos) {
      return absl::InvalidArgumentError(
          fmt::format("a single `{}` at byte {}; write {}{} for a brace", c, i + 1, c, c));
    }
    const std::string_view name = text.substr(i + 1, close - i - 1);
    const auto* const known = std::ranges::find(kAlertFieldNames, name);
    if (known == kAlertFieldNames.end()) return UnknownField(name);
    end_literal();
    parsed.pieces_.push_back(
        {.is_field = true, .field = static_cast<AlertField>(known - kAlertFieldNames.begin())});
    i = close;
  }
  end_literal();
  return parsed;
}

// The length of the id separates the parts unambiguously.
std::string RunOf(const Snapshot& job) {
  const std::string run =
      job.run_uid.empty()
          ? fmt::format("{}", absl::ToUnixMicros(job.started_at.value_or(absl::UnixEpoch())))
          : job.run_uid;
  return fmt::format("{} {} {}", job.job_id.size(), job.job_id, run);
}

std::string UtcText(absl::Time at) {
  return absl::FormatTime("%Y-%m-%d%ET%H:%M:%E3SZ", at, absl::UTCTimeZone());
}

std::string ShortHash(const std::string& text) {
  return fmt::format("{:016x}", XXH64(text.data(), text.size(), 0));
}

std::string UuidOf(const std::string& text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  constexpr std::uint64_t kVersion = 0x8000;
  constexpr std::uint64_t kVariant = 0x8000;
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", hash.high64 >> 32,
                     hash.high64 >> 16 & 0xFFFF, kVersion | (hash.high64 & 0x0FFF),
                     kVariant | (hash.low64 >> 48 & 0x3FFF), hash.low64 & 0xFFFF'FFFF'FFFF);
}

bool IsNamedBy(const std::vector<std::string>& patterns, const Snapshot& job) {
  const std::string& name = job.info && !job.info->name.empty() ? job.info->name : job.job_id;
  return std::ranges::any_of(patterns,
                             [&](const std::string& pattern) { return text::Fits(pattern, name); });
}

namespace {

// Number of consecutive updates that must find a job likely late.
constexpr int kLateUpdates = 2;

// Returns the time of the last event before the silence. Unlike silent_since, which counts from a
// restart, it does not change during a silence.
absl::Time LastEventAt(const Snapshot& silent) {
  const auto last_event_at = silent.coverage ? silent.coverage->newest_event_at : std::nullopt;
  if (last_event_at || silent.children.empty()) return last_event_at.value_or(*silent.silent_since);
  // If no job of the workflow runs, uses the last start or end of a job.
  absl::Time newest = silent.started_at.value_or(absl::UnixEpoch());
  for (const Child& child : silent.children) {
    newest = std::max({newest, child.started_at.value_or(newest), child.ended_at.value_or(newest)});
  }
  return newest;
}

// Returns a string that distinguishes silences. Several retries of a workflow may have the same
// time of the last event, so the string includes the number of failed attempts.
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
// and the job's deadline must not precede that of the workflow.
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
    if (is_bad && Wants(AlertKind::kFailed)) {
      Add(AlertKind::kFailed, "", job, state, alerts);
    } else if (Wants(AlertKind::kEnded)) {
      Add(AlertKind::kEnded, "", job, state, alerts);
    } else if (Wants(AlertKind::kLate) && job.deadline && job.ended_at > job.deadline &&
               (family.workflow == nullptr || !IsLateWith(job, *family.workflow))) {
      // The job may have ended late without a snapshot between its deadline and its end.
      Add(AlertKind::kLate, "", job, state, alerts);
    }
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
  // After an equally long silence, the workflow's own alert reports it.
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

// The probabilities of unknown estimates and of guesses mean nothing. While a query is the
// headline, no past run predicts the end of the application, and readers see no probability.
bool AlertCauses::IsLikelyLate(const Snapshot& job) const {
  return job.estimate.basis != Basis::kUnknown && !console::IsGuess(job) &&
         job.headline_group.empty() && job.late_probability.value_or(0) >= rules_.late_from;
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
  // tracked_ drops jobs that are no longer listed, and is empty after a restart.
  if (!sent_.Insert(id)) return false;
  alerts.push_back({.kind = kind, .id = std::move(id), .run_id = ShortHash(state.run), .job = job});
  return true;
}

}  // namespace tidemark::serve
