#include "serve/alerts/alert_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "console/deadline_wording.h"
#include "console/job_wording.h"
#include "console/text.h"
#include "serve/alerts/job_run.h"
#include "serve/page.h"
#include "text/ascii_json.h"

namespace tidemark::serve {
namespace {

using nlohmann::ordered_json;

// Largest size of a name, message or text, since people read alerts on phones.
constexpr std::size_t kTextBytesMax = 1000;

std::string Dump(const ordered_json& json) {
  return text::AsciiJson(json.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

void AddSeconds(const char* name, const std::optional<absl::Duration>& span, ordered_json& json) {
  if (span && *span < absl::InfiniteDuration()) json[name] = absl::ToDoubleSeconds(*span);
}

// Returns at most kTextBytesMax bytes of the text and an ellipsis. Cuts between characters.
std::string Cut(std::string text) {
  if (text.size() <= kTextBytesMax) return text;
  std::size_t end = kTextBytesMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

// Adds the known parts of the progress, the remaining time, its basis, and the deadline.
void AddEstimate(const Snapshot& job, ordered_json& json) {
  const Estimate& estimate = job.estimate;
  json["fraction_done"] = estimate.fraction_done;
  if (console::HasBounds(estimate)) {
    json["fraction_done_lower"] = estimate.fraction_done_lower;
    json["fraction_done_upper"] = estimate.fraction_done_upper;
  }
  if (const std::string_view basis = NameOf(estimate.basis); !basis.empty()) json["basis"] = basis;
  if (const auto& left = estimate.remaining) {
    AddSeconds("remaining_seconds", left->median, json);
    AddSeconds("remaining_lower_seconds", left->lower, json);
    AddSeconds("remaining_upper_seconds", left->upper, json);
  }
  if (job.deadline) json["deadline_at"] = UtcText(*job.deadline);
  if (job.late_probability) json["late_probability"] = *job.late_probability;
}

// Returns the name of a basis in a message.
std::string BasisText(Basis basis) {
  if (basis == Basis::kGuess) return "a guess";
  const std::string name(NameOf(basis));
  return name.empty() ? "unknown" : absl::StrReplaceAll(name, {{"earlier", "past"}, {"_", " "}});
}

// Returns the remaining time. Names past runs as its basis; the text of a guess already names its
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
  switch (alert.kind) {
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
      text = "no reports " + console::SilenceText(job);
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

// Returns the end of a job that has ended, or the forecast end of a running job.
std::optional<absl::Time> EndOf(const Snapshot& job) {
  return job.is_final ? job.ended_at : console::ForecastEnd(job);
}

// Returns the text of a field, or "unknown".
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
      return done == "-" ? "unknown" : done;  // used in tables
    }
    case AlertField::kLeft:
      return console::DescribeRemaining(job, job.estimate, options).text();
    case AlertField::kBasis:
      return BasisText(job.estimate.basis);
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
  // Slack interprets these characters; a name must not mention a channel or become a link.
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
  if (job.is_final && !HasFailed(job)) {
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

}  // namespace tidemark::serve
