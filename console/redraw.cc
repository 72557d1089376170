#include "console/redraw.h"

#include <fmt/format.h>

#include <algorithm>

#include "console/text.h"

namespace tidemark::console {
namespace {

// Begins an update and goes to the first of the `rows` above.
std::string GoUp(int rows) {
  const std::string begin = "\x1b[?2026h\r";
  return rows > 0 ? begin + fmt::format("\x1b[{}A", rows) : begin;
}

}  // namespace

int RowsTaken(const std::vector<int>& line_columns, int width) {
  int rows = 0;
  for (const int columns : line_columns) {
    rows += width > 0 ? std::max((columns + width - 1) / width, 1) : 1;
  }
  return rows;
}

std::string Redraw(int rows, const std::vector<std::string>& lines) {
  std::string bytes = GoUp(rows);
  // Erasing before writing: behind a full line the cursor still stands on its last character.
  for (const std::string& line : lines) bytes += "\x1b[2K" + line + "\r\n";
  return bytes + "\x1b[J\x1b[?2026l";
}

std::string PrintOver(int rows, const std::vector<std::string>& lines) {
  std::string bytes = GoUp(rows) + "\x1b[J";
  for (const std::string& line : lines) bytes += line + "\r\n";
  return bytes + "\x1b[?2026l";
}

int ColumnsWithoutColours(const std::string& line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      i = std::min(line.find('m', i), line.size());
    } else {
      text += line[i];
    }
  }
  return Columns(text);
}

}  // namespace tidemark::console
