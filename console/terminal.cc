#include "console/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include "console/text.h"

namespace tidemark::console {
namespace {

// Returns the escape sequence that starts a synchronized update and moves the cursor up `rows`
// rows.
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
  // Erases before writing, since after a full line the cursor is still on its last character.
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

TerminalSize Terminal::size() const {
  winsize window{};
  const bool known = ioctl(fd_, TIOCGWINSZ, &window) == 0 && window.ws_col > 0;
  if (!known) return {};
  return {.columns = window.ws_col, .rows = window.ws_row > 0 ? window.ws_row : 24};
}

int Terminal::RowsToErase() const {
  std::vector<int> columns;
  columns.reserve(frame_.size());
  for (const std::string& line : frame_) columns.push_back(ColumnsWithoutColours(line));
  return RowsTaken(columns, size().columns);
}

void Terminal::Draw(const std::vector<std::string>& lines) {
  // Leaves the row of the cursor free, since writing there would scroll the top of the frame away.
  const auto rows = static_cast<std::size_t>(std::max(size().rows - 1, 1));
  std::vector<std::string> fitting(lines.begin(), lines.begin() + std::min(lines.size(), rows));
  Write(Redraw(RowsToErase(), fitting));
  frame_ = std::move(fitting);
}

void Terminal::Print(const std::vector<std::string>& lines) {
  Write(PrintOver(RowsToErase(), lines));
  const std::vector<std::string> frame = std::move(frame_);
  frame_.clear();
  if (!frame.empty()) Draw(frame);
}

void Terminal::Keep() { frame_.clear(); }

void Terminal::Write(const std::string& bytes) const {
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t count = write(fd_, bytes.data() + written, bytes.size() - written);
    if (count < 0 && errno == EINTR) continue;
    // Ignore a closed terminal.
    if (count <= 0) return;
    written += static_cast<std::size_t>(count);
  }
}

}  // namespace tidemark::console
