// The bytes that replace one frame on a terminal by the next. Pure.
#pragma once

#include <string>
#include <vector>

namespace tidemark::console {

// The rows that lines of so many columns take on a terminal of `width` columns: one each, more if
// the terminal has become narrower than the lines since they were drawn and folds them.
int RowsTaken(const std::vector<int>& line_columns, int width);

// Goes up `rows`, writes `lines` over what is there, erases the rest, and leaves the cursor at the
// beginning of the row below the last line. Marked as one update, so that a terminal that knows
// this shows all of it at once.
std::string Redraw(int rows, const std::vector<std::string>& lines);

// Erases the `rows` above and writes `lines` there, which may be wider than the terminal: folded,
// they stand among nothing of what was there.
std::string PrintOver(int rows, const std::vector<std::string>& lines);

// The columns of a line that may hold colours.
int ColumnsWithoutColours(const std::string& line);

}  // namespace tidemark::console
