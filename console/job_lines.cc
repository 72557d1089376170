#include "console/job_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "console/deadline_wording.h"

namespace tidemark::console {
namespace {

constexpr absl::Duration kAtLeastEvery = absl::Seconds(10);
// Smallest misleading change of the predicted end. Chosen by hand.
constexpr absl::Duration kEndMoves = absl::Seconds(5);

std::optional<absl::Time> ForecastEndOf(const Snapshot& snapshot) {
  const std::optional<Snapshot> headline = HeadlineOf(snapshot);
  const std::optional<Range>& left = (headline ? *headline : snapshot).estimate.remaining;
  return left ? std::optional(snapshot.at + left->median) : std::nullopt;
}

// Appends the step, the percentage, the remaining time, the deadline and the method.
void AddProgress(const Snapshot& snapshot, const TextOptions& options, std::string& line) {
  if (const std::string step = CurrentStep(snapshot); !step.empty()) line += " " + step + ",";
  const std::string percent = PercentText(snapshot, snapshot.estimate, options);
  if (percent != "-") line += fmt::format(" {},", percent);
  line += " " + DescribeRemaining(snapshot, snapshot.estimate, options).text();
  for (const std::string& text :
       {EndClockText(snapshot, options), DeadlineText(snapshot, options)}) {
    if (!text.empty()) line += ", " + text;
  }
  if (const std::string method = MethodText(snapshot.estimate, options); !method.empty()) {
    line += ", method: " + method;
  }
}

std::string OtherIndicators(const Snapshot& snapshot, const TextOptions& options) {
  std::string text;
  for (const Indicator& indicator : snapshot.indicators) {
    const std::string percent = PercentText(snapshot, indicator.estimate, options);
    if (percent == "-") continue;
    text += fmt::format("{}{} {}", text.empty() ? "; " : ", ",
                        IndicatorName(indicator.estimate, options), percent);
  }
  return text;
}

std::string PartsText(const Snapshot& snapshot, const TextOptions& options) {
  std::vector<std::string> running;
  std::vector<std::string> waiting;
  for (const Part& part : PartsOf(snapshot, options)) {
    if (part.is_running) {
      const std::string number = DescribePercent(part.shown, options).number;
      running.push_back(part.shown.has_number ? part.name + " " + number : part.name);
    } else if (!part.has_started) {
      waiting.push_back(part.name);
    }
  }
  std::string text;
  if (!running.empty()) text += fmt::format("; running: {}", fmt::join(running, ", "));
  if (!waiting.empty()) text += fmt::format("; not started: {}", fmt::join(waiting, ", "));
  return text;
}

}  // namespace

std::string PlainLine(const Snapshot& snapshot, const TextOptions& options, bool compare,
                      bool shows_losses) {
  std::string line = fmt::format("[{}] {}:", ElapsedText(snapshot), JobTitle(snapshot, options));
  const std::optional<Snapshot> headline = HeadlineOf(snapshot);
  const Snapshot& main = headline ? *headline : snapshot;
  if (headline) {
    line += " " + CurrentStep(snapshot);
    const std::string due = DeadlineText(snapshot, options);
    line += fmt::format("{}{}; {}:", due.empty() ? "" : ", ", due, JobTitle(main, options));
  }
  AddProgress(main, options, line);
  line += PartsText(snapshot, options);
  if (std::string last = StragglerRemark(main, options); !last.empty()) {
    // The text follows other text, so it has no capital.
    if (last.starts_with("Reduce task ")) last[0] = 'r';
    if (last.starts_with("Task ")) last[0] = 't';
    line += "; " + last;
  }
  if (compare) line += OtherIndicators(snapshot, options);
  const std::string losses = LossText(snapshot);
  for (const std::string& text : WarningTexts(snapshot, options)) {
    if (shows_losses || text != losses) line += "; " + text;
  }
  return line;
}

PlainLines::Contents PlainLines::ContentsOf(const Snapshot& snapshot) {
  // Omits the bounds, which would change with every snapshot.
  const std::optional<Snapshot> headline = HeadlineOf(snapshot);
  const Estimate& estimate = (headline ? *headline : snapshot).estimate;
  Contents contents{
      .percent = DescribePercent(ShownOf(headline ? *headline : snapshot, estimate), {}).number,
      .headline = snapshot.headline_group,
      .state = snapshot.state,
      .is_final = snapshot.is_final,
      .estimate = estimate.state,
      .notes = snapshot.notes.size(),
      .is_silent = snapshot.silent_since.has_value(),
      .is_idle = snapshot.idle_since.has_value(),
      .is_raised = snapshot.estimate_raised.has_value(),
      .is_likely_late = IsLikelyLate(snapshot)};
  // Omits the numbers, which change often.
  const std::string step = CurrentStep(snapshot);
  if (snapshot.children.empty()) contents.phase = step.substr(0, step.find_first_of(" 0123456789"));
  for (const Child& child : snapshot.children) contents.children.push_back(child.state);
  return contents;
}

bool PlainLines::HasEndMoved(const Snapshot& snapshot) const {
  const std::optional<absl::Time> end = ForecastEndOf(snapshot);
  if (!end || !last_end_) return end.has_value() != last_end_.has_value();
  const absl::Duration moved = absl::AbsDuration(*end - *last_end_);
  const absl::Duration longer = std::max(*end, *last_end_) - snapshot.at;
  return moved >= kEndMoves && moved > longer / 2;
}

std::optional<std::string> PlainLines::Next(const Snapshot& snapshot) {
  Contents now = ContentsOf(snapshot);
  const bool is_due =
      !last_ || now != *last_ || HasEndMoved(snapshot) || snapshot.at - last_at_ >= kAtLeastEvery;
  if (!is_due) return std::nullopt;
  last_ = std::move(now);
  last_at_ = snapshot.at;
  last_end_ = ForecastEndOf(snapshot);
  // The summary repeats the losses.
  std::string losses = LossText(snapshot);
  const bool shows_losses = !snapshot.is_final && losses != last_losses_;
  last_losses_ = std::move(losses);
  return PlainLine(snapshot, options_, compare_, shows_losses);
}

}  // namespace tidemark::console
