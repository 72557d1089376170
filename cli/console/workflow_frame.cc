#include "cli/console/workflow_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>

#include "cli/console/bar.h"
#include "cli/console/duration_text.h"
#include "cli/console/text.h"
#include "cli/console/wording.h"

namespace tidemark::console {
namespace {

constexpr int kPercentColumns = 6;
constexpr int kNameMax = 24;
constexpr int kBarMin = 10;
constexpr int kBarMax = 50;
constexpr int kJobBarMax = 30;
// What the words beside a bar usually take.
constexpr int kWordsColumns = 52;
constexpr int kJobWordsColumns = 30;
constexpr int kLinesOfSentence = 2;
constexpr absl::Duration kAtLeastEvery = absl::Seconds(10);

// Whole percent, cut; 100 only for what has succeeded.
int Percent(double fraction, bool has_succeeded) {
  if (has_succeeded) return 100;
  return fraction > 0 ? static_cast<int>(std::min(100 * fraction, 99.0)) : 0;
}

std::string Title(const WorkflowSnapshot& snapshot, const TextOptions& options) {
  return Printable(snapshot.name.empty() ? snapshot.workflow_id : snapshot.name, options.unicode);
}

std::string JobsText(const WorkflowSnapshot& snapshot) {
  const auto done = std::count_if(
      snapshot.jobs.begin(), snapshot.jobs.end(),
      [](const WorkflowJobProgress& job) { return job.state == WorkflowJobState::kSucceeded; });
  return fmt::format("{} of {} jobs done", done, snapshot.jobs.size());
}

std::string RemainingText(const WorkflowSnapshot& snapshot, const TextOptions& options) {
  if (snapshot.is_final()) return StateName(snapshot.state);
  if (!snapshot.remaining) return "no estimate yet";
  return KnownWords(
             RoundToKnown(*snapshot.remaining, snapshot.remaining_lower, snapshot.remaining_upper),
             options)
      .text();
}

// A guess: what it waits for has not ended.
std::string StartText(absl::Duration starts_in, const TextOptions& options) {
  const absl::Duration known = RoundToKnown(starts_in, std::nullopt, std::nullopt).remaining;
  if (known <= absl::ZeroDuration()) return "about to start";
  return "starts in " + AboutText(known, options);
}

std::string JobText(const WorkflowJobProgress& job, const TextOptions& options) {
  switch (job.state) {
    case WorkflowJobState::kSucceeded:
      return "done";
    case WorkflowJobState::kFailed:
      return "failed";
    case WorkflowJobState::kRetried:
      return "failed, waiting for a retry";
    case WorkflowJobState::kAwaited:
      return "no report yet";
    case WorkflowJobState::kPending:
      return job.starts_in ? StartText(*job.starts_in, options) : "not started";
    case WorkflowJobState::kRunning:
      break;
  }
  if (!job.ends_in) return "running";
  return KnownWords(RoundToKnown(*job.ends_in, job.ends_in_lower, job.ends_in_upper), options)
      .about;
}

Style JobStyle(const WorkflowJobProgress& job) {
  switch (job.state) {
    case WorkflowJobState::kSucceeded:
      return Style::kGood;
    case WorkflowJobState::kFailed:
    case WorkflowJobState::kRetried:
      return Style::kBad;
    default:
      return Style::kBar;
  }
}

class WorkflowFrame {
 public:
  WorkflowFrame(const WorkflowSnapshot& snapshot, const FrameOptions& options)
      : snapshot_(snapshot),
        options_(options),
        text_{.color = options.color, .unicode = options.unicode} {}

  std::vector<std::string> Render() {
    AddHeader();
    AddWhole();
    for (const WorkflowJobProgress& job : snapshot_.jobs) AddJob(job);
    AddLegend();
    for (const std::string& note : snapshot_.notes) AddSentence(Style::kWarning, note);
    if (!snapshot_.message.empty()) AddSentence(Style::kBad, snapshot_.message);
    return std::move(lines_);
  }

 private:
  void Add(const StyledLine& line) { lines_.push_back(line.Render(options_.width, text_)); }
  void AddSentence(Style style, const std::string& text) {
    for (const std::string& line : WrapWords(Printable(text, options_.unicode), options_.width,
                                             kLinesOfSentence, options_.unicode)) {
      Add(StyledLine().Add(style, line));
    }
  }
  void AddHeader() {
    const std::string separator = options_.unicode ? " · " : " | ";
    const int name_columns = std::max(options_.width / 2, std::min(options_.width, 20));
    Add(StyledLine()
            .Add(Style::kStrong, Clip(Title(snapshot_, text_), name_columns, options_.unicode))
            .Add(Style::kDim, separator)
            .Add(Style::kPlain, JobsText(snapshot_))
            .Add(Style::kDim, separator)
            .Add(Style::kDim, DurationText(snapshot_.elapsed)));
  }
  void AddWhole() {
    const int columns =
        std::clamp(options_.width - kPercentColumns - kWordsColumns, kBarMin, kBarMax);
    StyledLine line;
    AddBar(snapshot_.fraction_done, snapshot_.state == JobState::kSucceeded,
           StateStyle(snapshot_.state), columns, line);
    Add(line.Add(Style::kPlain, "  " + RemainingText(snapshot_, text_)));
  }
  void AddJob(const WorkflowJobProgress& job) {
    int names = 0;
    for (const WorkflowJobProgress& other : snapshot_.jobs) {
      names = std::max(names, Columns(Printable(other.name, options_.unicode)));
    }
    names = std::min({names, kNameMax, options_.width / 3});
    const int columns = std::clamp(options_.width - names - kPercentColumns - kJobWordsColumns,
                                   kBarMin, kJobBarMax);
    StyledLine line;
    line.Add(Style::kDim, job.is_critical ? "* " : "  ");
    line.Add(
        Style::kPlain,
        PadRight(Clip(Printable(job.name, options_.unicode), names, options_.unicode), names + 1));
    AddBar(job.fraction_done, job.state == WorkflowJobState::kSucceeded, JobStyle(job), columns,
           line);
    Add(line.Add(Style::kDim, "  " + JobText(job, text_)));
  }
  // What the star in front of a job says; nothing where there is none.
  void AddLegend() {
    const bool has_star =
        std::any_of(snapshot_.jobs.begin(), snapshot_.jobs.end(),
                    [](const WorkflowJobProgress& job) { return job.is_critical; });
    if (has_star) AddSentence(Style::kDim, "* critical path: a delay here delays the workflow");
  }
  void AddBar(double fraction, bool has_succeeded, Style style, int columns, StyledLine& line) {
    const Bar bar =
        MakeBar(has_succeeded ? 1 : std::min(fraction, 0.999), columns, options_.unicode);
    line.Add(style, bar.done).Add(Style::kDim, bar.left);
    line.Add(Style::kPlain,
             PadLeft(fmt::format("{} %", Percent(fraction, has_succeeded)), kPercentColumns));
  }

  const WorkflowSnapshot& snapshot_;
  const FrameOptions& options_;
  const TextOptions text_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> RenderWorkflow(const WorkflowSnapshot& snapshot,
                                        const FrameOptions& options) {
  if (options.width <= 0) return {};
  return WorkflowFrame(snapshot, options).Render();
}

std::string WorkflowPlainLine(const WorkflowSnapshot& snapshot, const TextOptions& options) {
  std::string line = fmt::format(
      "[{}] {}: {}, {} %, {}", DurationText(snapshot.elapsed), Title(snapshot, options),
      JobsText(snapshot), Percent(snapshot.fraction_done, snapshot.state == JobState::kSucceeded),
      RemainingText(snapshot, options));
  std::vector<std::string> running;
  std::vector<std::string> waiting;
  for (const WorkflowJobProgress& job : snapshot.jobs) {
    const std::string name = Printable(job.name, options.unicode);
    if (job.state == WorkflowJobState::kRunning) {
      running.push_back(fmt::format("{} {} %", name, Percent(job.fraction_done, false)));
    } else if (job.state == WorkflowJobState::kPending || job.state == WorkflowJobState::kAwaited) {
      waiting.push_back(name);
    }
  }
  if (!running.empty()) line += fmt::format("; running: {}", fmt::join(running, ", "));
  if (!waiting.empty()) line += fmt::format("; not started: {}", fmt::join(waiting, ", "));
  for (const std::string& note : snapshot.notes) line += "; " + Printable(note, options.unicode);
  if (!snapshot.message.empty()) line += "; " + Printable(snapshot.message, options.unicode);
  return line;
}

std::vector<std::string> RenderWorkflowSummary(const WorkflowSnapshot& snapshot,
                                               const TextOptions& options) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{} {} after {}", Title(snapshot, options), StateName(snapshot.state),
                              ElapsedText(snapshot.elapsed)));
  if (!snapshot.message.empty()) lines.push_back(Printable(snapshot.message, options.unicode));
  for (const WorkflowJobProgress& job : snapshot.jobs) {
    if (!job.started_at || !job.ended_at) continue;
    lines.push_back(fmt::format("  {}: {}", Printable(job.name, options.unicode),
                                ElapsedText(*job.ended_at - *job.started_at)));
  }
  return lines;
}

std::optional<std::string> WorkflowPlainLines::Next(const WorkflowSnapshot& snapshot) {
  Said now = {.percent = Percent(snapshot.fraction_done, snapshot.state == JobState::kSucceeded),
              .state = snapshot.state,
              .notes = snapshot.notes.size()};
  for (const WorkflowJobProgress& job : snapshot.jobs) now.jobs.push_back(job.state);
  if (said_ && now == *said_ && snapshot.at - said_at_ < kAtLeastEvery) return std::nullopt;
  said_ = std::move(now);
  said_at_ = snapshot.at;
  return WorkflowPlainLine(snapshot, options_);
}

}  // namespace tidemark::console
