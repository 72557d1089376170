#include "serve/alerts/lineage_events.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "console/job_wording.h"
#include "serve/alerts/basis_name.h"
#include "serve/alerts/run_name.h"
#include "text/ascii_json.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

constexpr char kStart[] = "START";
constexpr char kRunning[] = "RUNNING";
constexpr char kProducer[] = "urn:tidemark:" TIDEMARK_VERSION;
constexpr char kEventSchema[] =
    "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent";
// docs/openlineage/ProgressRunFacet.json
constexpr char kFacetSchema[] = "urn:tidemark:openlineage:ProgressRunFacet:1-0-0";
constexpr char kParentSchema[] =
    "https://openlineage.io/spec/facets/1-0-1/ParentRunFacet.json#/$defs/ParentRunFacet";
// A text may be long; an event is one of many.
constexpr std::size_t kTextBytesMax = 1000;

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

std::string Instant(absl::Time at) {
  return absl::FormatTime("%Y-%m-%d%ET%H:%M:%E3SZ", at, absl::UTCTimeZone());
}

// Instants that a date can say.
bool IsDate(absl::Time at) {
  return at > absl::UnixEpoch() && at < absl::FromUnixSeconds(7'258'118'400);  // 2200
}

void AddEnd(const char* name, absl::Time at, const std::optional<absl::Duration>& left,
            ordered_json& facet) {
  if (left && IsDate(at + *left)) facet[name] = Instant(at + *left);
}

void AddFractionBounds(const Estimate& estimate, ordered_json& facet) {
  const double lower = estimate.fraction_done_lower;
  const double upper = estimate.fraction_done_upper;
  if (!console::HasBounds(estimate) || !std::isfinite(lower) || !std::isfinite(upper)) return;
  facet["fractionDoneLower"] = lower;
  facet["fractionDoneUpper"] = upper;
}

// What is not known is left out.
ordered_json ProgressFacet(const Snapshot& job) {
  ordered_json facet = {{"_producer", kProducer}, {"_schemaURL", kFacetSchema}};
  facet["jobId"] = job.job_id;
  const double fraction = job.estimate.fraction_done;
  if (std::isfinite(fraction)) facet["fractionDone"] = fraction;
  if (job.is_final) {
    if (job.ended_at && IsDate(*job.ended_at)) facet["endsAt"] = Instant(*job.ended_at);
    if (!job.message.empty()) facet["message"] = job.message.substr(0, kTextBytesMax);
    AddFractionBounds(job.estimate, facet);
  } else if (const auto& left = job.estimate.remaining) {
    AddEnd("endsAt", job.at, left->median, facet);
    AddEnd("endsAtLower", job.at, left->lower, facet);
    AddEnd("endsAtUpper", job.at, left->upper, facet);
    AddFractionBounds(job.estimate, facet);
    if (const std::string_view basis = NameOf(job.estimate.basis); !basis.empty()) {
      facet["basis"] = basis;
    }
  }
  if (job.deadline && IsDate(*job.deadline)) facet["deadlineAt"] = Instant(*job.deadline);
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

LineageEvents::LineageEvents(LineageRules rules, std::set<std::string> told)
    : rules_(std::move(rules)), told_(std::move(told)) {}

std::vector<LineageEvent> LineageEvents::Look(const std::vector<Snapshot>& jobs) {
  std::vector<LineageEvent> events;
  ++look_;
  for (const Snapshot& job : jobs) {
    // Before its first snapshot nothing is known of it.
    if (job.sequence == 0 || !IsNamedBy(rules_.jobs, job)) continue;
    const std::string run = RunOf(job);
    const auto [known, is_added] = seen_.try_emplace(job.job_id);
    Seen& seen = known->second;
    const bool is_new = is_added || seen.run != run;
    if (is_new) seen = Seen{.run = run};
    seen.look = look_;
    if (look_ == 1 && job.is_final) seen.is_final = true;
    LookAt(job, is_new, seen, events);
  }
  absl::erase_if(seen_, [&](const auto& entry) { return entry.second.look != look_; });
  return events;
}

void LineageEvents::LookAt(const Snapshot& job, bool is_new, Seen& seen,
                           std::vector<LineageEvent>& events) {
  if (seen.is_final) return;
  if (is_new) {
    Tell(kStart, job, seen, events);
    seen.running_at = job.at;
  }
  if (job.is_final) {
    seen.is_final = true;
    return Tell(EndType(job.state), job, seen, events);
  }
  const bool is_due = job.at - seen.running_at >= rules_.interval;
  if (!is_due || job.sequence == seen.sequence) return;
  seen.sequence = job.sequence;
  seen.running_at = job.at;
  Tell(kRunning, job, seen, events);
}

void LineageEvents::Tell(const char* type, const Snapshot& job, const Seen& seen,
                         std::vector<LineageEvent>& events) {
  const bool is_once = std::string_view(type) != kRunning;
  const std::string detail = is_once ? "" : fmt::format(" {}", job.sequence);
  const std::string id = ShortHash(fmt::format("{} lineage {}{}", seen.run, type, detail));
  if (is_once && !told_.Insert(id)) return;
  const bool has_name = job.info && !job.info->name.empty();
  ordered_json facets = {{"tidemark_progress", ProgressFacet(job)}};
  if (rules_.parent) facets["parent"] = ParentFacet(*rules_.parent);
  const ordered_json event = {
      {"eventType", type},
      {"eventTime", Instant(TimeOf(type, job))},
      {"producer", kProducer},
      {"schemaURL", kEventSchema},
      {"run", {{"runId", UuidOf(seen.run)}, {"facets", std::move(facets)}}},
      {"job",
       {{"namespace", rules_.name_space},
        {"name", (has_name ? job.info->name : job.job_id).substr(0, kTextBytesMax)}}},
      {"inputs", ordered_json::array()},
      {"outputs", ordered_json::array()}};
  events.push_back({.type = type,
                    .id = id,
                    .is_once = is_once,
                    .job_id = job.job_id,
                    .body = text::AsciiJson(
                        event.dump(-1, ' ', false, ordered_json::error_handler_t::replace))});
}

}  // namespace tidemark::cli
