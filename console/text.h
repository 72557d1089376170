// Text for a terminal: untrusted text made printable, lines in colours, tables and bars. Pure.
//
// Names, messages and reasons arrive over the network. Printable() replaces characters that could
// move a cursor, change colours or change the direction of text. Widths are columns of a terminal.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"

namespace tidemark::console {

// Returns `text` as one line: control characters become spaces; invalid UTF-8 and characters that
// control a terminal become '?'. If `unicode` is false, all characters beyond ASCII become '?'.
// O(length).
std::string Printable(const std::string& text, bool unicode);

// Returns the width of Printable() text. It is the largest width among terminals, so that a line
// that fits by this measure fits everywhere.
int Columns(const std::string& text);

// Returns `text` in at most `columns`; an ellipsis replaces the end of longer text.
std::string Clip(const std::string& text, int columns, bool unicode);

// Return `text` padded with spaces to `columns`; longer text is unchanged.
std::string PadRight(const std::string& text, int columns);
std::string PadLeft(const std::string& text, int columns);

// Breaks `text` between words into lines of at most `columns`, and clips the last of `lines_max`
// lines. Empty text has no lines.
std::vector<std::string> WrapWords(const std::string& text, int columns, int lines_max,
                                   bool unicode);

enum class Style { kPlain, kStrong, kDim, kBar, kGood, kWarning, kBad };

struct TextOptions {
  bool color = false;    // ANSI colours
  bool unicode = false;  // characters beyond ASCII
  // Time zone of instants; UTC if null. Must outlive the options.
  const absl::TimeZone* zone = nullptr;
};

// Returns `text` in the colours of `style`, which end with it.
std::string Styled(Style style, const std::string& text);

// One line of pieces in different colours.
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
  int width = 80;  // columns
  TextOptions text;
  bool is_wide = false;  // with additional columns
};

// Printable() cells. The last column may be the widest.
using Row = std::vector<std::string>;

// Returns one line of a table, or a line that replaces the table.
std::string TableLine(const std::string& text, const TableOptions& options,
                      Style style = Style::kPlain);

// Returns the lines of a table. The first row is the heading and has the most cells.
std::vector<std::string> RenderTable(const std::vector<Row>& rows, const TableOptions& options);

// The two parts of a bar, which have different colours. Together they are exactly `columns` wide.
struct Bar {
  std::string done;
  std::string left;
};

// Returns a bar in eighths of a column with `unicode`, else "[###...]" (without brackets below 4
// columns). `fraction` is clamped to 0..1; NaN counts as 0. The bar is full only for 1.
Bar MakeBar(double fraction, int columns, bool unicode);

// The three parts of a bar with an interval, "[..-----....]". Together they are exactly `columns`
// wide.
struct RangeBar {
  std::string before;
  std::string within;
  std::string after;
};

// Returns a bar that marks `lower` to `upper`, at least one column. Both are clamped to 0..1; NaN
// counts as 0.
RangeBar MakeRangeBar(double lower, double upper, int columns, bool unicode);

}  // namespace tidemark::console
