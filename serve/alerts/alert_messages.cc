#include "serve/alerts/alert_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "absl/strings/str_replace.h"
#include "console/deadline_wording.h"
#include "console/job_wording.h"
#include "console/text.h"
#include "serve/page.h"
#include "text/ascii_json.h"
#include "text/utf8.h"

namespace tidemark::serve {
namespace {

using nlohmann::ordered_json;

// Maximum size of a name, message or text, since users read alerts on phones.
constexpr std::size_t kTextBytesMax = 1000;

std::string Dump(const ordered_json& json) {
  return text::AsciiJson(json.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

void AddSeconds(const char* name, const std::optional<absl::Duration>& span, ordered_json& json) {
  if (span && *span < absl::InfiniteDuration()) json[name] = absl::ToDoubleSeconds(*span);
}

// Returns the text. If it has more than kTextBytesMax bytes, cuts it and adds an ellipsis.
std::string Cut(const std::string& whole) {
  return whole.size() <= kTextBytesMax ? whole : text::Cut(whole, kTextBytesMax) + "...";
}

// Returns the name of the basis of the estimate in messages, or "" if the basis is unknown.
std::string BasisOf(const Snapshot& job) {
  if (console::IsGuess(job)) return "guess";
  if (job.estimate.basis == Basis::kThisRun) return "this_run";
  return job.estimate.basis == Basis::kEarlierRuns ? "earlier_runs" : "";
}

// Adds the known parts of the progress, the remaining time, its basis, and the deadline.
void AddEstimate(const Snapshot& job, ordered_json& json) {
  const Estimate& estimate = job.estimate;
  json["fraction_done"] = estimate.fraction_done;
  if (console::HasBounds(estimate)) {
    json["fraction_done_lower"] = estimate.fraction_done_lower;
    json["fraction_done_upper"] = estimate.fraction_done_upper;
  }
  if (const std::string basis = BasisOf(job); !basis.empty()) json["basis"] = basis;
  if (const auto& left = estimate.remaining) {
    AddSeconds("remaining_seconds", left->median, json);
    AddSeconds("remaining_lower_seconds", left->lower, json);
    AddSeconds("remaining_upper_seconds", left->upper, json);
  }
  if (job.deadline) json["deadline_at"] = UtcText(*job.deadline);
  if (job.late_probability) json["late_probability"] = *job.late_probability;
}

std::string BasisText(const Snapshot& job) {
  const std::string name = BasisOf(job);
  if (name == "guess") return "a guess";
  return name.empty() ? "unknown" : absl::StrReplaceAll(name, {{"earlier", "past"}, {"_", " "}});
}

// Returns the remaining time. Names past runs as its basis. For a guess, the text already names the
// basis.
std::string LeftText(const Snapshot& job, const console::TextOptions& options) {
  const std::string left = console::DescribeRemaining(job, job.estimate, options).text();
  return job.estimate.basis == Basis::kEarlierRuns ? left + ", based on past runs" : left;
}

// Returns "; waiting for load and join" for a workflow, to be appended to its cause.
std::string WaitsForText(const Alert& alert, const console::TextOptions& options) {
  constexpr std::size_t kNamesMax = 3;
  const std::vector<std::string>& jobs = alert.waits_for;
  if (jobs.empty()) return "";
  const std::size_t shown = std::min(jobs.size(), kNamesMax);
  std::string names;
  for (std::size_t i = 0; i < shown; ++i) {
    const bool is_last = i > 0 && i + 1 == jobs.size();
    names += (i == 0    ? ""
              : is_last ? " and "
                        : ", ") +
             console::Printable(jobs[i], options.unicode);
  }
  if (jobs.size() > shown) names += fmt::format(" and {} more", jobs.size() - shown);
  return "; waiting for " + names;
}

// Returns the text of the event, without the name of the job.
std::string CauseText(const Alert& alert, const console::TextOptions& options) {
  const Snapshot& job = alert.job;
  const std::string due = console::DeadlineText(job, options);
  const std::string left = LeftText(job, options);
  std::string text;
  switch (job.is_final ? AlertKind::kEnded : alert.kind) {
    case AlertKind::kLate:
      text = fmt::format("{}; {}{}", due, left, WaitsForText(alert, options));
      break;
    case AlertKind::kStraggler:
      text = fmt::format("{}; {}", console::StragglerText(job, options), left);
      break;
    case AlertKind::kEnded:
    case AlertKind::kFailed: {
      text = fmt::format("{} after {}", console::StateName(job), console::ElapsedText(job));
      if (!due.empty()) text += ", " + due;
      if (!job.message.empty()) text += ": " + console::Printable(job.message, true);
      break;
    }
    case AlertKind::kSilent:
      text = console::MissingText(job);
      text += WaitsForText(alert, options);
      if (!due.empty()) text += "; " + due;
      break;
  }
  return text;
}

void AddWaitsFor(const Alert& alert, ordered_json& json) {
  if (alert.waits_for.empty()) return;
  ordered_json& names = json["waits_for"] = ordered_json::array();
  for (const std::string& name : alert.waits_for) names.push_back(Cut(name));
}

std::optional<absl::Time> EndOf(const Snapshot& job) {
  return job.is_final ? job.ended_at : console::ForecastEnd(job);
}

std::string ValueOf(AlertField field, const Alert& alert, const console::TextOptions& options) {
  const Snapshot& job = alert.job;
  const auto known = [](std::string text) { return text.empty() ? "unknown" : text; };
  const auto printable = [&](const std::string& text) {
    return known(console::Printable(text, options.unicode));
  };
  const auto clock = [&](const std::optional<absl::Time>& at) {
    return at ? console::ClockText(*at, job.at, options) : "unknown";
  };
  switch (field) {
    case AlertField::kJob:
      return console::JobTitle(job, options);
    case AlertField::kId:
      return printable(job.job_id);
    case AlertField::kUser:
      return printable(job.info ? job.info->user : "");
    case AlertField::kQueue:
      return printable(job.info ? job.info->queue : "");
    case AlertField::kKind:
      return std::string(NameOf(alert.kind));
    case AlertField::kCause:
      return CauseText(alert, options);
    case AlertField::kState:
      return console::StateName(job);
    case AlertField::kDone: {
      std::string done = console::PercentText(job, job.estimate, options);
      return done == "-" ? "unknown" : done;  // Tables use "-".
    }
    case AlertField::kLeft:
      return console::DescribeRemaining(job, job.estimate, options).text();
    case AlertField::kBasis:
      return BasisText(job);
    case AlertField::kEnd:
      return clock(EndOf(job));
    case AlertField::kDeadline:
      return clock(job.deadline);
    case AlertField::kProbability:
      return job.late_probability ? console::LikelihoodText(*job.late_probability) : "unknown";
    case AlertField::kElapsed:
      return console::ElapsedText(job);
    case AlertField::kMessage:
      return printable(job.message);
    case AlertField::kPage:
      break;
  }
  return "unknown";
}

// Returns the URL of the job, or an empty string if the URL of the page is unknown.
std::string LinkOf(const Alert& alert, const AlertWording& wording) {
  return wording.page_url.empty() ? "" : JobPageUrl(wording.page_url, alert.job.job_id);
}

bool HasFailed(const Snapshot& job) { return job.is_final && job.state != JobState::kSucceeded; }

}  // namespace

std::string AlertText(const Alert& alert, const AlertWording& wording) {
  const console::TextOptions options = {.unicode = true, .zone = &wording.zone};
  if (const auto own = wording.texts.find(alert.kind); own != wording.texts.end()) {
    return Cut(own->second.Fill([&](AlertField field) {
      const std::string link = field == AlertField::kPage ? LinkOf(alert, wording) : "";
      return link.empty() ? ValueOf(field, alert, options) : link;
    }));
  }
  return Cut(console::JobTitle(alert.job, options) + ": " + CauseText(alert, options));
}

std::string GenericMessage(const Alert& alert, const AlertWording& wording) {
  const Snapshot& job = alert.job;
  ordered_json json = {{"id", alert.id},
                       {"kind", NameOf(alert.kind)},
                       {"text", AlertText(alert, wording)},
                       {"at", UtcText(job.at)},
                       {"job_id", job.job_id}};
  if (job.info && !job.info->name.empty()) json["name"] = Cut(job.info->name);
  json["run"] = alert.run_id;
  json["state"] = console::StateName(job);
  if (job.info && !job.info->user.empty()) json["user"] = Cut(job.info->user);
  if (job.info && !job.info->queue.empty()) json["queue"] = Cut(job.info->queue);
  if (job.ended_at) json["ended_at"] = UtcText(*job.ended_at);
  AddEstimate(job, json);
  AddWaitsFor(alert, json);
  if (!job.message.empty()) json["message"] = Cut(job.message);
  if (const std::string link = LinkOf(alert, wording); !link.empty()) json["page_url"] = link;
  return Dump(json);
}

std::string SlackMessage(const Alert& alert, const AlertWording& wording) {
  // Slack interprets these characters, and a name must not mention a channel or become a link.
  const auto escaped = [](const std::string& text) {
    return absl::StrReplaceAll(text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}});
  };
  std::string text = escaped(AlertText(alert, wording));
  if (const std::string link = LinkOf(alert, wording); !link.empty()) {
    text += fmt::format(" <{}|job page>", absl::StrReplaceAll(escaped(link), {{"|", "%7C"}}));
  }
  // Without these fields, Slack would fetch the URLs in the text.
  return Dump({{"text", std::move(text)}, {"unfurl_links", false}, {"unfurl_media", false}});
}

std::string PagerDutyMessage(const Alert& alert, const std::string& routing_key,
                             const AlertWording& wording) {
  const Snapshot& job = alert.job;
  ordered_json json = {{"routing_key", routing_key}, {"dedup_key", "tidemark-" + alert.run_id}};
  if (job.is_final && !HasFailed(job) && alert.kind != AlertKind::kLate) {
    json["event_action"] = "resolve";
    return Dump(json);
  }
  json["event_action"] = "trigger";
  ordered_json details;
  AddEstimate(job, details);
  AddWaitsFor(alert, details);
  json["payload"] = {{"summary", AlertText(alert, wording)},
                     {"source", "tidemark"},
                     {"severity", HasFailed(job) ? "critical" : "warning"},
                     {"timestamp", UtcText(job.at)},
                     {"component", job.job_id},
                     {"class", NameOf(alert.kind)},
                     {"custom_details", std::move(details)}};
  if (const std::string link = LinkOf(alert, wording); !link.empty()) {
    json["links"] = {{{"href", link}, {"text", "job page"}}};
  }
  return Dump(json);
}

namespace {

constexpr char kStart[] = "START";
constexpr char kRunning[] = "RUNNING";
constexpr char kProducer[] = "urn:tidemark:" TIDEMARK_VERSION;
constexpr char kEventSchema[] =
    "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent";
// docs/openlineage/ProgressRunFacet.json
constexpr char kFacetSchema[] = "urn:tidemark:openlineage:ProgressRunFacet:1-0-0";
constexpr char kParentSchema[] =
    "https://openlineage.io/spec/facets/1-0-1/ParentRunFacet.json#/$defs/ParentRunFacet";
// Largest size of a name or message.
constexpr std::size_t kEventTextBytesMax = 1000;

const char* EndType(JobState state) {
  switch (state) {
    case JobState::kSucceeded:
      return "COMPLETE";
    case JobState::kFailed:
      return "FAIL";
    default:
      return "ABORT";
  }
}

// Returns true for times from 1970 to 2200, which every date parser accepts.
bool IsDate(absl::Time at) {
  return at > absl::UnixEpoch() && at < absl::FromUnixSeconds(7'258'118'400);  // 2200
}

void AddEnd(const char* name, absl::Time at, const std::optional<absl::Duration>& left,
            ordered_json& facet) {
  if (left && IsDate(at + *left)) facet[name] = UtcText(at + *left);
}

void AddFractionBounds(const Estimate& estimate, ordered_json& facet) {
  const double lower = estimate.fraction_done_lower;
  const double upper = estimate.fraction_done_upper;
  if (!console::HasBounds(estimate) || !std::isfinite(lower) || !std::isfinite(upper)) return;
  facet["fractionDoneLower"] = lower;
  facet["fractionDoneUpper"] = upper;
}

// Returns the progress facet of a job. Omits unknown values.
ordered_json ProgressFacet(const Snapshot& job) {
  ordered_json facet = {{"_producer", kProducer}, {"_schemaURL", kFacetSchema}};
  facet["jobId"] = job.job_id;
  const double fraction = job.estimate.fraction_done;
  if (std::isfinite(fraction)) facet["fractionDone"] = fraction;
  if (job.is_final) {
    if (job.ended_at && IsDate(*job.ended_at)) facet["endsAt"] = UtcText(*job.ended_at);
    if (!job.message.empty()) facet["message"] = job.message.substr(0, kEventTextBytesMax);
    AddFractionBounds(job.estimate, facet);
  } else if (const auto& left = job.estimate.remaining) {
    AddEnd("endsAt", job.at, left->median, facet);
    AddEnd("endsAtLower", job.at, left->lower, facet);
    AddEnd("endsAtUpper", job.at, left->upper, facet);
    AddFractionBounds(job.estimate, facet);
    if (const std::string basis = BasisOf(job); !basis.empty()) facet["basis"] = basis;
  }
  if (job.deadline && IsDate(*job.deadline)) facet["deadlineAt"] = UtcText(*job.deadline);
  if (job.late_probability && std::isfinite(*job.late_probability)) {
    facet["lateProbability"] = *job.late_probability;
  }
  return facet;
}

ordered_json ParentFacet(const LineageParent& parent) {
  return {{"_producer", kProducer},
          {"_schemaURL", kParentSchema},
          {"run", {{"runId", parent.run_id}}},
          {"job", {{"namespace", parent.name_space}, {"name", parent.name}}}};
}

absl::Time TimeOf(const char* type, const Snapshot& job) {
  if (std::string_view(type) == kStart) return job.started_at.value_or(job.at);
  return job.is_final ? job.ended_at.value_or(job.at) : job.at;
}

}  // namespace

LineageEvents::LineageEvents(LineageRules rules, std::set<std::string> sent)
    : rules_(std::move(rules)), sent_(std::move(sent)) {}

std::vector<LineageEvent> LineageEvents::Update(const std::vector<Snapshot>& jobs) {
  std::vector<LineageEvent> events;
  ++updates_;
  for (const Snapshot& job : jobs) {
    // Sequence 0 means that the job has no snapshot.
    if (job.sequence == 0 || !IsNamedBy(rules_.jobs, job)) continue;
    const std::string run = RunOf(job);
    const auto [known, is_added] = tracked_.try_emplace(job.job_id);
    TrackedJob& state = known->second;
    const bool is_new = is_added || state.run != run;
    if (is_new) state = TrackedJob{.run = run};
    state.last_update = updates_;
    if (updates_ == 1 && job.is_final) state.is_final = true;
    CheckJob(job, is_new, state, events);
  }
  absl::erase_if(tracked_, [&](const auto& entry) { return entry.second.last_update != updates_; });
  return events;
}

void LineageEvents::CheckJob(const Snapshot& job, bool is_new, TrackedJob& state,
                             std::vector<LineageEvent>& events) {
  if (state.is_final) return;
  if (is_new) {
    Add(kStart, job, state, events);
    state.running_at = job.at;
  }
  if (job.is_final) {
    state.is_final = true;
    return Add(EndType(job.state), job, state, events);
  }
  const bool is_due = job.at - state.running_at >= rules_.interval;
  if (!is_due || job.sequence == state.sequence) return;
  state.sequence = job.sequence;
  state.running_at = job.at;
  Add(kRunning, job, state, events);
}

void LineageEvents::Add(const char* type, const Snapshot& job, const TrackedJob& state,
                        std::vector<LineageEvent>& events) {
  const bool is_once = std::string_view(type) != kRunning;
  const std::string detail = is_once ? "" : fmt::format(" {}", job.sequence);
  const std::string id = ShortHash(fmt::format("{} lineage {}{}", state.run, type, detail));
  if (is_once && !sent_.Insert(id)) return;
  const bool has_name = job.info && !job.info->name.empty();
  ordered_json facets = {{"tidemark_progress", ProgressFacet(job)}};
  if (rules_.parent) facets["parent"] = ParentFacet(*rules_.parent);
  const ordered_json event = {
      {"eventType", type},
      {"eventTime", UtcText(TimeOf(type, job))},
      {"producer", kProducer},
      {"schemaURL", kEventSchema},
      {"run", {{"runId", UuidOf(state.run)}, {"facets", std::move(facets)}}},
      {"job",
       {{"namespace", rules_.name_space},
        {"name", (has_name ? job.info->name : job.job_id).substr(0, kEventTextBytesMax)}}},
      {"inputs", ordered_json::array()},
      {"outputs", ordered_json::array()}};
  events.push_back({.type = type,
                    .id = id,
                    .is_once = is_once,
                    .job_id = job.job_id,
                    .body = text::AsciiJson(
                        event.dump(-1, ' ', false, ordered_json::error_handler_t::replace))});
}

}  // namespace tidemark::serve
