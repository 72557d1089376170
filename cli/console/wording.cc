#include "cli/console/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "cli/console/duration_text.h"
#include "cli/console/shown_percent.h"
#include "cli/console/text.h"

namespace tidemark::console {
namespace {

// Coverage.silent_tasks counts tasks that were not heard of for so long.
constexpr absl::Duration kTaskSilence = absl::Seconds(10);
constexpr std::size_t kNotesMax = 3;

bool HasReduce(const Snapshot& snapshot) {
  return snapshot.phases.empty() ||
         std::any_of(snapshot.phases.begin(), snapshot.phases.end(),
                     [](const PhaseProgress& phase) { return phase.phase == Phase::kReduce; });
}

// "reduce task 2"; a repeated one says which attempt it is.
std::string TaskText(const AttemptId& id) {
  std::string text = fmt::format("{} task {}", id.stage == kMapStage ? "map" : "reduce", id.index);
  if (id.attempt > 0) text += fmt::format(", attempt {}", id.attempt);
  return text;
}

std::string StillRunning(const Snapshot& snapshot) {
  if (snapshot.straggler) return TaskText(snapshot.straggler->attempt);
  const PhaseProgress* phase = CurrentPhase(snapshot);
  const std::uint32_t running = phase == nullptr ? 0 : phase->running_task_count;
  if (running == 0) return "the job";
  return running == 1 ? "1 task" : fmt::format("{} tasks", running);
}

// `tidemark` learns from map tasks, too; the other indicators wait for a reduce function.
RemainingWords WarmingUpWords(const Snapshot& snapshot, const Forecast& forecast) {
  const PhaseProgress* phase = CurrentPhase(snapshot);
  const bool maps_will_tell = forecast.indicator.starts_with("tidemark") && phase != nullptr &&
                              phase->phase == Phase::kMap && phase->state != PhaseState::kDone;
  if (!HasReduce(snapshot))
    return {"no estimate yet", ": ", "waiting for the first input to be read"};
  return {"no estimate yet", ": ",
          maps_will_tell ? "waiting for the first map results"
                         : "waiting for the first reduce results"};
}

// "3 messages lost" for a part of a list; nothing for zero.
void AddCount(std::uint64_t count, const char* one, const char* many,
              std::vector<std::string>& parts) {
  if (count != 0) parts.push_back(fmt::format("{} {}", count, count == 1 ? one : many));
}

std::string LossText(const Coverage& coverage) {
  std::vector<std::string> parts;
  AddCount(coverage.lost_envelopes, "message lost", "messages lost", parts);
  AddCount(coverage.dropped_events, "event dropped", "events dropped", parts);
  AddCount(coverage.dropped_points, "measurement dropped", "measurements dropped", parts);
  AddCount(coverage.rejected_envelopes, "message refused", "messages refused", parts);
  AddCount(coverage.anomalies, "conflicting event ignored", "conflicting events ignored", parts);
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string SilenceText(const Coverage& coverage) {
  if (coverage.silent_for > absl::ZeroDuration()) {
    return fmt::format("no news from the job for {}", DurationText(coverage.silent_for));
  }
  if (coverage.silent_tasks == 0) return "";
  return fmt::format("{} not heard of for {}",
                     coverage.silent_tasks == 1
                         ? "1 running task"
                         : fmt::format("{} running tasks", coverage.silent_tasks),
                     DurationText(kTaskSilence));
}

std::string MissingProfilesText(const Snapshot& snapshot) {
  const bool any_finished =
      std::any_of(snapshot.phases.begin(), snapshot.phases.end(), [](const PhaseProgress& phase) {
        return phase.phase == Phase::kMap && phase.finished_task_count > 0;
      });
  const double known = snapshot.coverage.map_profiles;
  if (!any_finished || !HasReduce(snapshot) || !(known < 1)) return "";
  return fmt::format("key sizes known for {} % of the finished map tasks",
                     static_cast<int>(100 * std::max(known, 0.0)));
}

const char* PhaseName(Phase phase) {
  switch (phase) {
    case Phase::kMap:
      return "map";
    case Phase::kShuffle:
      return "shuffle";
    case Phase::kReduce:
      return "reduce";
  }
  return "?";
}

// Below 100 until the phase is done.
int PhasePercent(const PhaseProgress& phase) {
  return phase.fraction_done >= 0 ? static_cast<int>(std::min(100 * phase.fraction_done, 99.0)) : 0;
}

}  // namespace

std::string JobTitle(const Snapshot& snapshot, const TextOptions& options) {
  const std::string name =
      Printable(snapshot.job_name.empty() ? snapshot.job_id : snapshot.job_name, options.unicode);
  return name.empty() ? "(unnamed)" : name;
}

std::string StateName(JobState state) {
  switch (state) {
    case JobState::kRunning:
      return "running";
    case JobState::kSucceeded:
      return "succeeded";
    case JobState::kFailed:
      return "failed";
    case JobState::kKilled:
      return "killed";
    case JobState::kAbandoned:
      return "abandoned";
  }
  return "unknown";
}

Style StateStyle(JobState state) {
  if (state == JobState::kRunning) return Style::kBar;
  return state == JobState::kSucceeded ? Style::kGood : Style::kBad;
}

std::string AboutText(absl::Duration duration, const TextOptions& options) {
  return fmt::format("{} {}", options.unicode ? "≈" : "~", DurationText(duration));
}

RemainingWords KnownWords(const KnownRemaining& known, const TextOptions& options) {
  if (known.remaining <= absl::ZeroDuration()) {
    const bool is_exact = !known.has_range || known.upper <= absl::ZeroDuration();
    return {.about = is_exact ? "about to end"
                              : fmt::format("less than {} left", DurationText(known.upper))};
  }
  RemainingWords words{.about = AboutText(known.remaining, options) + " left"};
  if (!known.has_range) return words;
  words.joint = " ";
  words.detail = fmt::format("({})", RangeText(known.lower, known.upper, options.unicode));
  return words;
}

std::string PercentText(const Snapshot& snapshot, const Forecast& forecast) {
  const int percent = ShownPercent(forecast.fraction_done, snapshot);
  if (forecast.state == ForecastState::kWarmingUp && percent == 0) return "-";
  return fmt::format("{} %", percent);
}

RemainingWords DescribeRemaining(const Snapshot& snapshot, const Forecast& forecast,
                                 const TextOptions& options) {
  if (snapshot.is_final()) return {.about = StateName(snapshot.state)};
  if (forecast.state == ForecastState::kWarmingUp) return WarmingUpWords(snapshot, forecast);
  if (forecast.state == ForecastState::kOverdue) {
    return {"past the predicted end", "; ", "still running: " + StillRunning(snapshot)};
  }
  if (!forecast.remaining || *forecast.remaining == absl::InfiniteDuration()) {
    return {.about = "remaining time unknown"};
  }
  return KnownWords(
      RoundToKnown(*forecast.remaining, forecast.remaining_lower, forecast.remaining_upper),
      options);
}

const PhaseProgress* CurrentPhase(const Snapshot& snapshot) {
  // Phases overlap: the last that has begun is the one to watch.
  for (auto phase = snapshot.phases.rbegin(); phase != snapshot.phases.rend(); ++phase) {
    if (phase->state == PhaseState::kRunning) return &*phase;
  }
  for (const PhaseProgress& phase : snapshot.phases) {
    if (phase.state == PhaseState::kPending) return &phase;
  }
  return snapshot.phases.empty() ? nullptr : &snapshot.phases.back();
}

std::string PhaseText(const PhaseProgress& phase) {
  const char* name = PhaseName(phase.phase);
  if (phase.state == PhaseState::kDone) return fmt::format("{} done", name);
  if (phase.state == PhaseState::kPending) return name;
  // The percentage of the reduce phase is nearly that of the job; tasks say something new.
  if (phase.phase != Phase::kReduce) return fmt::format("{} {} %", name, PhasePercent(phase));
  return fmt::format("{} {}/{} tasks", name, phase.finished_task_count, phase.task_count);
}

std::string StragglerText(const Snapshot& snapshot, const TextOptions& options) {
  if (!snapshot.straggler || snapshot.is_final()) return "";
  const std::string reason = Printable(snapshot.straggler->reason, options.unicode);
  return reason.empty() ? "last to end: " + TaskText(snapshot.straggler->attempt) : reason;
}

std::vector<std::string> CoverageTexts(const Snapshot& snapshot, const TextOptions& options) {
  const Coverage& coverage = snapshot.coverage;
  std::vector<std::string> texts;
  for (const std::string& text : {snapshot.is_final() ? "" : SilenceText(coverage),
                                  LossText(coverage), MissingProfilesText(snapshot)}) {
    if (!text.empty()) texts.push_back(text);
  }
  const std::size_t notes = std::min(coverage.notes.size(), kNotesMax);
  for (std::size_t i = 0; i < notes; ++i) {
    texts.push_back(Printable(coverage.notes[i], options.unicode));
  }
  if (notes < coverage.notes.size()) {
    texts.push_back(fmt::format("{} more notes", coverage.notes.size() - notes));
  }
  return texts;
}

}  // namespace tidemark::console
