#include "console/job_summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "console/deadline_wording.h"
#include "console/duration_text.h"
#include "console/job_wording.h"
#include "console/text.h"

namespace tidemark::console {
namespace {

constexpr int kNameMax = 24;
constexpr int kEndingLinesMax = 8;

std::string PointsText(std::optional<double> points) {
  return points && *points >= 0 ? fmt::format("{:.1f}", std::min(*points, 100.0)) : "-";
}

std::string ShareText(std::optional<double> share) {
  if (!share || !(*share >= 0)) return "-";
  return fmt::format("{} %", static_cast<int>(100 * std::min(*share, 1.0)));
}

int WidestName(const Snapshot& snapshot, const TextOptions& options) {
  int columns = 0;
  for (const IndicatorError& error : snapshot.errors) {
    columns = std::max(columns, Columns(Printable(error.indicator, options.unicode)));
  }
  return std::min(columns, kNameMax);
}

std::string ErrorRow(const std::string& name, const IndicatorError& error) {
  return fmt::format("{}{:>8}{:>8}{:>14}{:>8}{:>8}", name, PointsText(error.last_stage_avg_points),
                     PointsText(error.last_stage_max_points), ShareText(error.interval_coverage),
                     PointsText(error.job_avg_points), PointsText(error.job_max_points));
}

// " at 41 %" of one that has ended before its work was done; nothing where that is not known.
std::string HowFar(const Snapshot& ended) {
  if (ended.state == JobState::kSucceeded) return "";
  const std::string percent = PercentText(ended, ended.estimate);
  return percent == "-" ? "" : " at " + percent;
}

bool HasReduce(const Snapshot& snapshot) {
  return snapshot.info && snapshot.info->kind == JobKind::kMapReduce;
}

}  // namespace

std::vector<std::string> RenderSummary(const Snapshot& snapshot, int width,
                                       const TextOptions& options, const std::string& ending,
                                       bool compare) {
  std::vector<std::string> lines;
  const auto add = [&](Style style, const std::string& text) {
    lines.push_back(StyledLine().Add(style, text).Render(width, options));
  };
  const std::string title = JobTitle(snapshot, options);
  const std::string elapsed = ElapsedText(snapshot);
  // The caller may have the outcome of a job that did not report its end.
  const bool is_unreported =
      snapshot.state == JobState::kAbandoned || snapshot.state == JobState::kUnknownEnd;
  const bool is_ending_known = snapshot.is_final && (ending.empty() || !is_unreported);
  if (is_ending_known && !snapshot.started_at) {
    add(StateStyle(snapshot), fmt::format("{} {}{}; how long it ran is not reported", title,
                                          StateName(snapshot), HowFar(snapshot)));
  } else if (is_ending_known) {
    const std::string due = DeadlineText(snapshot, options);
    add(StateStyle(snapshot), fmt::format("{} {}{} after {}{}{}", title, StateName(snapshot),
                                          HowFar(snapshot), elapsed, due.empty() ? "" : ", ", due));
  } else if (!ending.empty()) {
    const std::string text = fmt::format("{} {}", title, Printable(ending, options.unicode));
    for (const std::string& line : WrapWords(text, width, kEndingLinesMax, options.unicode)) {
      add(Style::kWarning, line);
    }
  } else {
    add(Style::kWarning,
        fmt::format("{} was still running when last seen, after {}", title, elapsed));
  }
  if (snapshot.is_final && !snapshot.message.empty()) {
    add(Style::kPlain, Printable(snapshot.message, options.unicode));
  }
  for (const std::string& text : WarningTexts(snapshot, options)) add(Style::kWarning, text);
  for (const Child& child : snapshot.children) {
    if (!child.started_at || !child.ended_at) continue;
    add(Style::kPlain, fmt::format("  {}: {}", Printable(child.name, options.unicode),
                                   ElapsedText(*child.ended_at - *child.started_at)));
  }
  if (!compare || snapshot.errors.empty()) return lines;

  const int name_columns = WidestName(snapshot, options);
  const std::string indent(static_cast<std::size_t>(name_columns), ' ');
  add(Style::kPlain, "How far the progress of each indicator was from the truth, in points of 100");
  add(Style::kDim,
      fmt::format("{}  {:-^28}   {:-^13}", indent,
                  HasReduce(snapshot) ? " reduce phase " : " last stage ", " whole job "));
  add(Style::kDim, fmt::format("{}{:>8}{:>8}{:>14}{:>8}{:>8}", indent, "avg", "max", "end in range",
                               "avg", "max"));
  for (const IndicatorError& error : snapshot.errors) {
    const std::string name =
        Clip(Printable(error.indicator, options.unicode), name_columns, options.unicode);
    add(Style::kPlain, ErrorRow(PadRight(name, name_columns), error));
  }
  return lines;
}

}  // namespace tidemark::console
