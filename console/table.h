// Rows of cells in columns, below a heading. Pure.
#pragma once

#include <string>
#include <vector>

#include "console/styled_line.h"

namespace tidemark::console {

struct TableOptions {
  int width = 80;  // columns
  TextOptions text;
  bool is_wide = false;  // with the columns that are asked for less often
};

// Cells, the last of which may be the longest. They are Printable().
using Row = std::vector<std::string>;

// One line of a table, or instead of one.
std::string TableLine(const std::string& text, const TableOptions& options,
                      Style style = Style::kPlain);

// The first row is the heading; there is one, and no row has more cells.
std::vector<std::string> RenderTable(const std::vector<Row>& rows, const TableOptions& options);

}  // namespace tidemark::console
