#include "console/job_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "console/deadline_wording.h"
#include "console/duration_text.h"
#include "console/job_wording.h"

namespace tidemark::console {
namespace {

// Columns of "  ≈ 41 %" and of " (11–98)", and of the gap after them.
constexpr int kNumberColumns = 8;
constexpr int kBoundsColumns = 8;
constexpr int kGap = 2;
// Number of columns of the longest common remaining time. It is constant, so that the bar keeps its
// length while the text changes.
constexpr int kRemainingColumns = 44;
constexpr int kBarMin = 15;
constexpr int kBarMax = 50;
constexpr int kLabelMax = 16;
constexpr int kLinesOfSentence = 2;
// Narrower headers show only the current phase, and no method.
constexpr int kAllFrom = 60;
// Numbers of columns in the lines of parts.
constexpr int kPartNameMax = 24;
constexpr int kPartBarMin = 10;
constexpr int kPartBarMax = 28;
constexpr int kPartWordsColumns = 30;

struct Piece {
  Style style;
  std::string text;
};

class Frame {
 public:
  Frame(const Snapshot& snapshot, const FrameOptions& options)
      : snapshot_(snapshot),
        headline_(HeadlineOf(snapshot)),
        main_(headline_ ? *headline_ : snapshot),
        options_(options),
        text_{.color = options.color, .unicode = options.unicode, .zone = options.zone} {}

  std::vector<std::string> Render() {
    AddHeader();
    AddBars();
    if (options_.compare && !snapshot_.is_final) {
      AddSentence(Style::kDim, NoComparisonText(snapshot_));
    }
    AddParts();
    AddSentence(Style::kDim, StragglerRemark(main_, text_));
    for (const std::string& text : WarningTexts(snapshot_, text_)) {
      AddSentence(Style::kWarning, text);
    }
    return std::move(lines_);
  }

 private:
  void Add(const StyledLine& line) { lines_.push_back(line.Render(options_.width, text_)); }
  void AddSentence(Style style, const std::string& text) {
    for (const std::string& line :
         WrapWords(text, options_.width, kLinesOfSentence, options_.unicode)) {
      Add(StyledLine().Add(style, line));
    }
  }

  // Adds pieces side by side, on as many lines as they need.
  void AddPieces(const std::vector<Piece>& pieces) {
    const std::string separator = options_.unicode ? " · " : " | ";
    StyledLine line;
    for (const Piece& piece : pieces) {
      const int needed = Columns(separator) + Columns(piece.text);
      if (!line.empty() && line.columns() + needed > options_.width) {
        Add(line);
        line = StyledLine();
      }
      if (!line.empty()) line.Add(Style::kDim, separator);
      line.Add(piece.style, piece.text);
    }
    Add(line);
  }

  void AddHeader() {
    // A long name must leave space for the other parts of the line.
    const int name_columns = std::max(options_.width / 2, std::min(options_.width, 20));
    std::vector<Piece> pieces = {
        {Style::kStrong, ClipMiddle(JobTitle(snapshot_, text_), name_columns, options_.unicode)}};
    for (const Step& step : StepsOf(snapshot_)) {
      if (!step.is_current && options_.width < kAllFrom) continue;
      pieces.push_back({step.is_current ? Style::kPlain : Style::kDim, step.text});
    }
    pieces.push_back({Style::kDim, ElapsedText(snapshot_)});
    if (!headline_) AddEnd(pieces);
    if (std::string due = DeadlineText(snapshot_, text_); !due.empty()) {
      const Style style = IsLikelyLate(snapshot_) ? Style::kWarning : Style::kPlain;
      pieces.push_back({style, std::move(due)});
    }
    if (!headline_) AddMethod(pieces);
    AddPieces(pieces);
    if (!headline_) return;
    pieces = {{Style::kStrong, ClipMiddle(JobTitle(main_, text_), name_columns, options_.unicode)}};
    if (const std::string step = CurrentStep(main_); !step.empty()) {
      pieces.push_back({Style::kPlain, step});
    }
    pieces.push_back({Style::kDim, ElapsedText(main_)});
    AddEnd(pieces);
    AddMethod(pieces);
    AddPieces(pieces);
  }

  void AddEnd(std::vector<Piece>& pieces) const {
    if (std::string end = EndClockText(main_, text_); !end.empty()) {
      pieces.push_back({Style::kPlain, std::move(end)});
    }
  }
  void AddMethod(std::vector<Piece>& pieces) const {
    const std::string method = MethodText(main_.estimate, text_);
    if (!method.empty() && options_.width >= kAllFrom) {
      pieces.push_back({Style::kDim, "method: " + method});
    }
  }

  int LabelColumns() const {
    if (!options_.compare) return 0;
    int columns = Columns(IndicatorName(snapshot_.estimate, text_));
    for (const Indicator& indicator : snapshot_.indicators) {
      columns = std::max(columns, Columns(IndicatorName(indicator.estimate, text_)));
    }
    return std::min({columns, kLabelMax, options_.width / 3});
  }

  void AddBars() {
    const Estimate& main = main_.estimate;
    const RemainingWords words = DescribeRemaining(main_, main, text_);
    if (main.state == EstimateState::kUnknown) {
      return AddSentence(StateStyle(main_), words.text());
    }
    const int label_columns = LabelColumns();
    const int label_space = label_columns == 0 ? 0 : label_columns + kGap;
    percent_columns_ = kNumberColumns;
    if (options_.width - label_space >= kBarMin + kNumberColumns + kBoundsColumns) {
      percent_columns_ += kBoundsColumns;
    }
    const int whole = options_.width - label_space - percent_columns_;
    const bool has_room = whole - kGap - kRemainingColumns >= kBarMin;
    const int bar_columns = std::min(has_room ? whole - kGap - kRemainingColumns : whole, kBarMax);
    const int room = has_room ? whole - bar_columns - kGap : 0;
    AddIndicator(main, label_columns, bar_columns, room);
    if (options_.compare) {
      for (const Indicator& indicator : snapshot_.indicators) {
        AddIndicator(indicator.estimate, label_columns, bar_columns, room);
      }
    }
    if (!has_room) {
      AddRemaining(words);
    } else if (Columns(words.text()) > room) {
      // The first part is next to the bar and the rest below.
      AddSentence(Style::kPlain, words.detail);
    }
    const ShownProgress shown = ShownOf(main_, main);
    if (shown.lower < shown.upper && options_.width >= kAllFrom) {
      AddSentence(Style::kDim, BarLegend(options_.unicode));
    }
  }

  void AddRemaining(const RemainingWords& words) {
    if (Columns(words.text()) <= options_.width) return AddSentence(Style::kPlain, words.text());
    AddSentence(Style::kPlain, words.about);
    AddSentence(Style::kPlain, words.detail);
  }

  // `room` is the number of columns next to the bar, or 0.
  void AddIndicator(const Estimate& estimate, int label_columns, int bar_columns, int room) {
    const bool is_main = &estimate == &main_.estimate;
    StyledLine line;
    if (label_columns > 0) {
      const std::string label =
          Clip(IndicatorName(estimate, text_), label_columns, options_.unicode);
      line.Add(is_main ? Style::kStrong : Style::kPlain, PadRight(label, label_columns + kGap));
    }
    const Style style = is_main ? StateStyle(main_) : Style::kPlain;
    AddBar(ShownOf(main_, estimate), style, bar_columns, percent_columns_, line);
    if (room > 0) {
      const RemainingWords words = DescribeRemaining(main_, estimate, text_);
      const std::string text =
          is_main && Columns(words.text()) <= room ? words.text() : words.about;
      const std::string space(static_cast<std::size_t>(options_.width - room - line.columns()),
                              ' ');
      line.Add(is_main ? Style::kPlain : Style::kDim, space + text);
    }
    Add(line);
  }

  // Adds a bar, the number and, if there are enough `percent_columns`, the bounds.
  void AddBar(const ShownProgress& shown, Style style, int bar_columns, int percent_columns,
              StyledLine& line) {
    const Bar bar = MakeBar(shown, bar_columns, options_.unicode);
    line.Add(style, bar.sure + bar.likely).Add(Style::kDim, bar.possible + bar.left);
    const PercentWords words = DescribePercent(shown, text_);
    line.Add(Style::kPlain, PadLeft(words.number, kNumberColumns));
    if (percent_columns > kNumberColumns && !words.bounds.empty()) {
      line.Add(Style::kDim, " " + words.bounds);
    }
  }

  // Adds a line that starts at column `indent` if the text fits.
  void AddBelow(int indent, const std::string& text) {
    if (text.empty()) return;
    if (indent + Columns(text) > options_.width) return AddSentence(Style::kDim, text);
    Add(StyledLine().Add(Style::kDim, std::string(static_cast<std::size_t>(indent), ' ') + text));
  }

  void AddParts() {
    const std::vector<Part> parts = PartsOf(snapshot_, text_);
    if (parts.empty()) return;
    int names = 0;
    bool has_critical = false;
    for (const Part& part : parts) {
      names = std::max(names, Columns(part.name));
      has_critical = has_critical || part.is_critical;
    }
    names = std::min({names, kPartNameMax, options_.width / 3});
    const int columns = std::clamp(options_.width - names - kNumberColumns - kPartWordsColumns,
                                   kPartBarMin, kPartBarMax);
    for (const Part& part : parts) {
      StyledLine line;
      line.Add(Style::kDim, part.is_critical ? "* " : "  ");
      line.Add(Style::kPlain, PadRight(ClipMiddle(part.name, names, options_.unicode), names + 1));
      AddBar(part.shown, part.style, columns, kNumberColumns, line);
      line.Add(Style::kDim, "  " + part.state);
      const bool fits = line.columns() + 1 + Columns(part.detail) <= options_.width;
      if (fits && !part.detail.empty()) line.Add(Style::kDim, " " + part.detail);
      Add(line);
      if (!fits) AddBelow(names + 3, part.detail);
    }
    const bool is_workflow = !snapshot_.children.empty();
    std::uint64_t running = 0;
    for (const StageProgress& stage : snapshot_.stages) {
      if (stage.state == StageState::kRunning) ++running;
    }
    const auto groups =
        static_cast<std::size_t>(std::ranges::count_if(snapshot_.groups, [&](const Group& group) {
          return group.state == JobState::kRunning && group.group != snapshot_.headline_group;
        }));
    if (!is_workflow && groups > kGroupsShown) {
      AddSentence(Style::kDim, fmt::format("and {} more running groups", groups - kGroupsShown));
    }
    if (!is_workflow && running > kStagesShown) {
      AddSentence(Style::kDim, fmt::format("and {} more running stages", running - kStagesShown));
    }
    // Explain the star in front of a part.
    if (has_critical) {
      AddSentence(Style::kDim, fmt::format("* critical path: a delay here delays the {}",
                                           is_workflow ? "workflow" : "job"));
    }
  }

  const Snapshot& snapshot_;
  const std::optional<Snapshot> headline_;
  const Snapshot& main_;  // the headline, or the job
  const FrameOptions& options_;
  const TextOptions text_;
  int percent_columns_ = kNumberColumns;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> RenderFrame(const Snapshot& snapshot, const FrameOptions& options) {
  if (options.width <= 0) return {};
  return Frame(snapshot, options).Render();
}

// --- the running tasks below a bar ---

namespace {

constexpr int kTaskNameMax = 40;
constexpr int kTaskHostMax = 24;

struct Cells {
  std::string name;
  std::string host;
  std::string runs;
  std::string left;
};

bool Runs(const TaskProgress& task) {
  return task.state == AttemptState::kStarted || task.state == AttemptState::kShuffled;
}

bool HasStage(const Snapshot& snapshot, std::uint32_t stage) {
  return snapshot.stages.empty() ||
         std::ranges::any_of(snapshot.stages, [&](const StageProgress& known) {
           return known.id == StageId{.stage = stage};
         });
}

Cells CellsOf(const Snapshot& snapshot, const TaskProgress& task, absl::Time at,
              const TextOptions& options) {
  Cells cells = {.name = TaskText(snapshot, {.attempt = task.attempt}, options),
                 .host = Printable(task.host, options.unicode)};
  if (task.is_speculative) cells.name += ", speculative";
  if (task.started_at) cells.runs = DurationText(at - *task.started_at);
  if (task.remaining) cells.left = DescribeLeft(*task.remaining, options).about;
  return cells;
}

int Widest(const std::vector<Cells>& rows, std::string Cells::*cell, int most) {
  int columns = 0;
  for (const Cells& row : rows) columns = std::max(columns, Columns(row.*cell));
  return std::min(columns, most);
}

}  // namespace

std::vector<std::string> RenderTaskLines(const Snapshot& snapshot, const JobTasks& tasks,
                                         std::size_t lines_max, int width,
                                         const TextOptions& options) {
  std::vector<const TaskProgress*> running;
  for (const TaskProgress& task : tasks.tasks) {
    if (Runs(task) && HasStage(snapshot, task.attempt.stage)) running.push_back(&task);
  }
  const std::size_t all = running.size() + tasks.tasks_left_out;
  if (lines_max == 0 || width <= 0 || running.empty()) return {};
  const std::size_t shown =
      all <= lines_max ? running.size() : std::min(running.size(), lines_max - 1);
  std::vector<Cells> rows;
  for (std::size_t i = 0; i < shown; ++i) {
    rows.push_back(CellsOf(snapshot, *running[i], tasks.at, options));
  }
  const int names = Widest(rows, &Cells::name, kTaskNameMax);
  const int hosts = Widest(rows, &Cells::host, kTaskHostMax);
  const int spans = Widest(rows, &Cells::runs, width);
  std::vector<std::string> lines;
  for (const Cells& row : rows) {
    StyledLine line;
    line.Add(Style::kPlain, "  " + PadRight(ClipMiddle(row.name, names, options.unicode), names));
    if (hosts > 0) {
      line.Add(Style::kDim, "  " + PadRight(ClipMiddle(row.host, hosts, options.unicode), hosts));
    }
    line.Add(Style::kDim, "  " + PadLeft(row.runs, spans));
    if (!row.left.empty()) line.Add(Style::kPlain, "  " + row.left);
    lines.push_back(line.Render(width, options));
  }
  if (shown < all) {
    lines.push_back(StyledLine()
                        .Add(Style::kDim, fmt::format("  and {} more running tasks", all - shown))
                        .Render(width, options));
  }
  return lines;
}

}  // namespace tidemark::console
