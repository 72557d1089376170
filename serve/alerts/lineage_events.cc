#include "serve/alerts/lineage_events.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "console/job_wording.h"
#include "text/ascii_json.h"

namespace tidemark::serve {
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

// Returns true for times from 1970 to 2200, which every parser of dates accepts.
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
    if (const std::string_view basis = NameOf(job.estimate.basis); !basis.empty()) {
      facet["basis"] = basis;
    }
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
