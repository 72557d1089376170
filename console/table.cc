#include "console/table.h"

#include <algorithm>
#include <cstddef>

#include "console/text.h"

namespace tidemark::console {

std::string TableLine(const std::string& text, const TableOptions& options, Style style) {
  return StyledLine().Add(style, text).Render(options.width, options.text);
}

std::vector<std::string> RenderTable(const std::vector<Row>& rows, const TableOptions& options) {
  std::vector<int> widths(rows.front().size(), 0);
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Columns(row[i]));
  }
  std::vector<std::string> lines;
  for (const Row& row : rows) {
    std::string text;
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += i + 1 == row.size() ? row[i] : PadRight(row[i], widths[i] + 2);
    }
    text.resize(text.find_last_not_of(' ') + 1);
    lines.push_back(TableLine(text, options, &row == &rows.front() ? Style::kDim : Style::kPlain));
  }
  return lines;
}

}  // namespace tidemark::console
