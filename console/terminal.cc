#include "console/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include "console/redraw.h"

namespace tidemark::console {

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
  // The row of the cursor stays free: writing there would scroll the frame's top out of reach.
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
    // A closed terminal is no error.
    if (count <= 0) return;
    written += static_cast<std::size_t>(count);
  }
}

}  // namespace tidemark::console
