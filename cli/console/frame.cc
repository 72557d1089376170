#include "cli/console/frame.h"

#include <algorithm>
#include <cstddef>

#include "cli/console/bar.h"
#include "cli/console/duration_text.h"
#include "cli/console/shown_percent.h"
#include "cli/console/styled_line.h"
#include "cli/console/text.h"
#include "cli/console/wording.h"

namespace tidemark::console {
namespace {

// "  41 %" and the gap behind it.
constexpr int kPercentColumns = 6;
constexpr int kGap = 2;
// What the longest usual remaining time takes; the bar gets what is left of the line. The same for
// every snapshot, so that the bar does not change its length while it grows.
constexpr int kRemainingColumns = 47;
constexpr int kBarMin = 15;
constexpr int kBarMax = 50;
constexpr int kLabelMax = 16;
constexpr int kLinesOfSentence = 2;
// Narrower headers leave out the phases that are over or to come.
constexpr int kAllPhasesFrom = 60;

struct Piece {
  Style style;
  std::string text;
};

class Frame {
 public:
  Frame(const Snapshot& snapshot, const FrameOptions& options)
      : snapshot_(snapshot),
        options_(options),
        text_{.color = options.color, .unicode = options.unicode} {}

  std::vector<std::string> Render() {
    AddHeader();
    AddBars();
    AddSentence(Style::kDim, StragglerText(snapshot_, text_));
    for (const std::string& text : CoverageTexts(snapshot_, text_)) {
      AddSentence(Style::kWarning, text);
    }
    return std::move(lines_);
  }

 private:
  void Add(const StyledLine& line) { lines_.push_back(line.Render(options_.width, text_)); }
  void AddSentence(Style style, const std::string& text);
  // Pieces side by side, on as many lines as they take.
  void AddPieces(const std::vector<Piece>& pieces);
  void AddHeader();
  void AddBars();
  void AddRemaining(const RemainingWords& words);
  // `room`: columns for words beside the bar; 0: none.
  void AddBar(const Forecast& forecast, int label_columns, int bar_columns, int room);
  int LabelColumns() const;
  bool is_main(const Forecast& forecast) const { return &forecast == &snapshot_.forecasts.front(); }

  const Snapshot& snapshot_;
  const FrameOptions& options_;
  const TextOptions text_;
  std::vector<std::string> lines_;
};

void Frame::AddSentence(Style style, const std::string& text) {
  for (const std::string& line :
       WrapWords(text, options_.width, kLinesOfSentence, options_.unicode)) {
    Add(StyledLine().Add(style, line));
  }
}

void Frame::AddPieces(const std::vector<Piece>& pieces) {
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

void Frame::AddHeader() {
  // A long name leaves room for the rest of the line.
  const int name_columns = std::max(options_.width / 2, std::min(options_.width, 20));
  std::vector<Piece> pieces = {
      {Style::kStrong, Clip(JobTitle(snapshot_, text_), name_columns, options_.unicode)}};
  const PhaseProgress* current = CurrentPhase(snapshot_);
  for (const PhaseProgress& phase : snapshot_.phases) {
    if (&phase != current && options_.width < kAllPhasesFrom) continue;
    pieces.push_back({&phase == current ? Style::kPlain : Style::kDim, PhaseText(phase)});
  }
  pieces.push_back({Style::kDim, DurationText(snapshot_.elapsed)});
  AddPieces(pieces);
}

int Frame::LabelColumns() const {
  if (!options_.compare) return 0;
  int columns = 0;
  for (const Forecast& forecast : snapshot_.forecasts) {
    columns = std::max(columns, Columns(Printable(forecast.indicator, options_.unicode)));
  }
  return std::min({columns, kLabelMax, options_.width / 3});
}

void Frame::AddBars() {
  if (snapshot_.forecasts.empty()) {
    AddSentence(StateStyle(snapshot_.state),
                snapshot_.is_final() ? StateName(snapshot_.state) : "not started");
    return;
  }
  const int label_columns = LabelColumns();
  const int label_space = label_columns == 0 ? 0 : label_columns + kGap;
  const int beside = options_.width - label_space - kPercentColumns - kGap - kRemainingColumns;
  const bool has_room = beside >= kBarMin;
  const int bar_columns =
      std::min(has_room ? beside : options_.width - label_space - kPercentColumns, kBarMax);
  const int room =
      has_room ? options_.width - label_space - bar_columns - kPercentColumns - kGap : 0;
  for (const Forecast& forecast : snapshot_.forecasts) {
    if (!options_.compare && !is_main(forecast)) continue;
    AddBar(forecast, label_columns, bar_columns, room);
  }
  const RemainingWords words = DescribeRemaining(snapshot_, snapshot_.forecasts.front(), text_);
  if (!has_room) return AddRemaining(words);
  // What is too long stands in two places: what it is about beside the bar, the rest below.
  if (Columns(words.text()) > room) AddSentence(Style::kPlain, words.detail);
}

void Frame::AddRemaining(const RemainingWords& words) {
  if (Columns(words.text()) <= options_.width) return AddSentence(Style::kPlain, words.text());
  AddSentence(Style::kPlain, words.about);
  AddSentence(Style::kPlain, words.detail);
}

void Frame::AddBar(const Forecast& forecast, int label_columns, int bar_columns, int room) {
  const bool main = is_main(forecast);
  StyledLine line;
  if (label_columns > 0) {
    const std::string label = Printable(forecast.indicator, options_.unicode);
    line.Add(main ? Style::kStrong : Style::kPlain,
             PadRight(Clip(label, label_columns, options_.unicode), label_columns + kGap));
  }
  const double fraction = ShownFraction(forecast.fraction_done, snapshot_);
  const Bar bar = MakeBar(fraction, bar_columns, options_.unicode);
  line.Add(main ? StateStyle(snapshot_.state) : Style::kPlain, bar.done);
  line.Add(Style::kDim, bar.left);
  line.Add(Style::kPlain, PadLeft(PercentText(snapshot_, forecast), kPercentColumns));
  if (room > 0) {
    const RemainingWords words = DescribeRemaining(snapshot_, forecast, text_);
    line.Add(Style::kPlain, std::string(kGap, ' '));
    line.Add(main ? Style::kPlain : Style::kDim,
             main && Columns(words.text()) <= room ? words.text() : words.about);
  }
  Add(line);
}

}  // namespace

std::vector<std::string> RenderFrame(const Snapshot& snapshot, const FrameOptions& options) {
  if (options.width <= 0) return {};
  return Frame(snapshot, options).Render();
}

}  // namespace tidemark::console
