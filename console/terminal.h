// Draws frames in place on a terminal.
//
// If the process is killed, the terminal stays usable: the cursor is visible below the frame,
// colours end with each line, and the screen scrolls as usual.
#pragma once

#include <string>
#include <vector>

namespace tidemark::console {

struct TerminalSize {
  int columns = 80;
  int rows = 24;
  friend bool operator==(const TerminalSize&, const TerminalSize&) = default;
};

// Not thread-safe.
class Terminal {
 public:
  // Does not own the descriptor.
  explicit Terminal(int fd) : fd_(fd) {}

  // Returns the current size, or 80 x 24 if the descriptor is not a terminal.
  TerminalSize size() const;

  // Replaces the previous frame. Lines must not be wider than size().columns. Omits the lines that
  // exceed the height.
  void Draw(const std::vector<std::string>& lines);
  // Prints lines of any width above the frame, where they remain.
  void Print(const std::vector<std::string>& lines);
  // Leaves the frame on the screen. The next frame is drawn below it.
  void Keep();

 private:
  int RowsToErase() const;
  void Write(const std::string& bytes) const;

  const int fd_;
  std::vector<std::string> frame_;
};

// Pure functions that return the bytes that Terminal writes.

// Returns the number of rows that lines of these widths occupy on a terminal of `width` columns. A
// line takes several rows if the terminal became narrower after the line was drawn.
int RowsTaken(const std::vector<int>& line_columns, int width);

// Returns the bytes that move the cursor up `rows` rows, overwrite these rows with `lines`, and
// erase the remainder. The cursor ends at the start of the row below the last line. The bytes are
// marked as one update, which terminals show at once.
std::string Redraw(int rows, const std::vector<std::string>& lines);

// Returns the bytes that erase the `rows` rows above the cursor and write `lines`, which may be
// wider than the terminal.
std::string PrintOver(int rows, const std::vector<std::string>& lines);

// Returns the number of columns of a line, excluding its colour codes.
int ColumnsWithoutColours(const std::string& line);

}  // namespace tidemark::console
