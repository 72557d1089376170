#include "cli/console/summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/console/duration_text.h"
#include "cli/console/text.h"
#include "cli/console/wording.h"

namespace tidemark::console {
namespace {

constexpr int kNameMax = 24;

std::string PointsText(double points) {
  return points >= 0 ? fmt::format("{:.1f}", std::min(points, 100.0)) : "-";
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

// A reduce phase without an update has errors of exactly zero.
bool HasReduceErrors(const IndicatorError& error) {
  return error.reduce_avg_error_points != 0 || error.reduce_max_error_points != 0 ||
         error.interval_coverage.has_value();
}

std::string ErrorRow(const std::string& name, const IndicatorError& error) {
  const auto of_reduce = [has_any = HasReduceErrors(error)](double points) {
    return has_any ? PointsText(points) : "-";
  };
  return fmt::format("{}{:>8}{:>8}{:>14}{:>8}{:>8}", name, of_reduce(error.reduce_avg_error_points),
                     of_reduce(error.reduce_max_error_points), ShareText(error.interval_coverage),
                     PointsText(error.job_avg_error_points),
                     PointsText(error.job_max_error_points));
}

// Cells of a table: the first column is filled up on the right, the last is the longest.
using Row = std::vector<std::string>;

std::vector<std::size_t> ColumnWidths(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], static_cast<std::size_t>(Columns(row[i])));
    }
  }
  return widths;
}

std::string WithoutTrailingSpaces(const std::string& line) {
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

std::string EndText(const Snapshot& job, const Forecast& forecast, const TextOptions& options) {
  if (job.is_final()) return Printable(job.message, options.unicode);
  const std::string remaining = DescribeRemaining(job, forecast, options).text();
  const absl::Duration silent_for = job.coverage.silent_for;
  if (silent_for <= absl::ZeroDuration()) return remaining;
  return fmt::format("no news for {}; {}", DurationText(silent_for), remaining);
}

Row JobRow(const Snapshot& job, const TextOptions& options) {
  const Forecast none;
  const Forecast& main = job.forecasts.empty() ? none : job.forecasts.front();
  const PhaseProgress* phase = CurrentPhase(job);
  return {Printable(job.job_id, options.unicode),
          StateName(job.state),
          PercentText(job, main),
          DurationText(job.elapsed),
          phase == nullptr || job.is_final() ? "" : PhaseText(*phase),
          EndText(job, main, options)};
}

}  // namespace

std::vector<std::string> RenderSummary(const Snapshot& snapshot, int width,
                                       const TextOptions& options, const std::string& ending) {
  std::vector<std::string> lines;
  const auto add = [&](Style style, const std::string& text) {
    lines.push_back(StyledLine().Add(style, text).Render(width, options));
  };
  const std::string title = JobTitle(snapshot, options);
  const std::string elapsed = ElapsedText(snapshot.elapsed);
  if (snapshot.is_final()) {
    add(StateStyle(snapshot.state),
        fmt::format("{} {} after {}", title, StateName(snapshot.state), elapsed));
  } else if (!ending.empty()) {
    add(Style::kWarning, fmt::format("{} {}", title, Printable(ending, options.unicode)));
  } else {
    add(Style::kWarning,
        fmt::format("{} was still running when last seen, after {}", title, elapsed));
  }
  if (snapshot.is_final() && !snapshot.message.empty()) {
    add(Style::kPlain, Printable(snapshot.message, options.unicode));
  }
  for (const std::string& text : CoverageTexts(snapshot, options)) add(Style::kWarning, text);
  if (snapshot.errors.empty()) return lines;

  const int name_columns = WidestName(snapshot, options);
  const std::string indent(static_cast<std::size_t>(name_columns), ' ');
  add(Style::kPlain, "Forecast error (percentage points)");
  add(Style::kDim, fmt::format("{}  {:-^28}   {:-^13}", indent, " reduce phase ", " whole job "));
  add(Style::kDim, fmt::format("{}{:>8}{:>8}{:>14}{:>8}{:>8}", indent, "avg", "max", "end in range",
                               "avg", "max"));
  for (const IndicatorError& error : snapshot.errors) {
    const std::string name =
        Clip(Printable(error.indicator, options.unicode), name_columns, options.unicode);
    add(Style::kPlain, ErrorRow(PadRight(name, name_columns), error));
  }
  return lines;
}

std::vector<std::string> RenderJobTable(const std::vector<Snapshot>& jobs, int width,
                                        const TextOptions& options) {
  if (jobs.empty()) return {"no jobs"};
  std::vector<Row> rows = {{"JOB", "STATE", "DONE", "ELAPSED", "PHASE", "END"}};
  for (const Snapshot& job : jobs) rows.push_back(JobRow(job, options));
  const std::vector<std::size_t> widths = ColumnWidths(rows);
  std::vector<std::string> lines;
  for (const Row& row : rows) {
    StyledLine line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool is_last = i + 1 == row.size();
      const std::string cell = is_last ? row[i] : PadRight(row[i], static_cast<int>(widths[i]) + 2);
      line.Add(&row == &rows.front() ? Style::kDim : Style::kPlain, cell);
    }
    lines.push_back(WithoutTrailingSpaces(line.Render(width, options)));
  }
  return lines;
}

}  // namespace tidemark::console
