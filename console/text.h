// Text for a terminal: printable forms of untrusted text, coloured lines, tables and bars. Pure.
//
// Names, messages and reasons arrive over the network. Printable() replaces characters that could
// move a cursor, change colours or change the direction of text. Widths are columns of a terminal.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"

namespace tidemark::console {

// Returns `text` as one line. Control characters become spaces; invalid UTF-8 and characters that
// control a terminal become '?'. If `unicode` is false, all non-ASCII characters become '?'.
// O(length).
std::string Printable(const std::string& text, bool unicode);

// Returns the width of Printable() text, which is the largest width among terminals, so that a line
// that fits by this measure fits everywhere.
int Columns(const std::string& text);

// Returns `text` in at most `columns`. An ellipsis replaces the end of longer text.
std::string Clip(const std::string& text, int columns, bool unicode);

// Returns `text` in at most `columns`. An ellipsis replaces the middle of longer text.
std::string ClipMiddle(const std::string& text, int columns, bool unicode);

// These functions return `text` padded with spaces to `columns`. Longer text is unchanged.
std::string PadRight(const std::string& text, int columns);
std::string PadLeft(const std::string& text, int columns);

// Breaks `text` between words into lines of at most `columns`, and clips the last of `lines_max`
// lines. Empty text has no lines.
std::vector<std::string> WrapWords(const std::string& text, int columns, int lines_max,
                                   bool unicode);

enum class Style { kPlain, kStrong, kDim, kBar, kGood, kWarning, kBad };

struct TextOptions {
  bool color = false;    // ANSI colours
  bool unicode = false;  // whether non-ASCII characters are allowed
  // Time zone for times; UTC if null. Must outlive the options.
  const absl::TimeZone* zone = nullptr;
};

// Returns `text` in the colours of `style`, which end after it.
std::string Styled(Style style, const std::string& text);

// A line of pieces in different colours.
class StyledLine {
 public:
  // Appends Printable() text. Empty text adds nothing.
  StyledLine& Add(Style style, const std::string& text);
  int columns() const { return columns_; }
  bool empty() const { return pieces_.empty(); }
  // Returns the line in at most `width` columns, clipped with an ellipsis.
  std::string Render(int width, const TextOptions& options) const;

 private:
  struct Piece {
    Style style;
    std::string text;
  };
  std::vector<Piece> pieces_;
  int columns_ = 0;
};

struct TableOptions {
  int width = 80;  // number of columns
  TextOptions text;
  bool is_wide = false;  // whether the table has additional columns
};

// Printable() cells. The last column may be the widest.
using Row = std::vector<std::string>;

// Returns one line of a table, or a line that replaces the table.
std::string TableLine(const std::string& text, const TableOptions& options,
                      Style style = Style::kPlain);

// Returns the lines of a table. The first row is the heading and has the most cells.
std::vector<std::string> RenderTable(const std::vector<Row>& rows, const TableOptions& options);

// The numbers of a bar, each within 0..1 and lower <= fraction <= upper. All are equal without an
// interval.
struct ShownProgress {
  double fraction = 0;
  double lower = 0;
  double upper = 0;
  bool has_number = true;    // whether `fraction` is shown as a number
  bool is_estimate = false;  // whether the number is about right, not exact
  friend bool operator==(const ShownProgress&, const ShownProgress&) = default;
};

// The parts of a bar: up to the lower bound, to the fraction, to the upper bound, and to the end.
// The first two are drawn as full. Together they are exactly `columns` wide.
struct Bar {
  std::string sure;
  std::string likely;
  std::string possible;
  std::string left;
};

// Returns "██▓▓▒▒░░" with `unicode`, else "[##==--..]" (without brackets below 4 columns). Numbers
// are clamped to 0..1; NaN counts as 0. Parts are rounded down, so that the bar is full only for 1.
Bar MakeBar(const ShownProgress& shown, int columns, bool unicode);

std::string BarLegend(bool unicode);

}  // namespace tidemark::console
