// Draws frames in place on a terminal.
//
// Changes nothing that would have to be put back: the cursor stays visible below the frame, colours
// end with each line, and the screen scrolls as usual, so a process that is killed leaves the
// terminal as it should be. Not thread-safe.
#pragma once

#include <string>
#include <vector>

namespace tidemark::console {

struct TerminalSize {
  int columns = 80;
  int rows = 24;
  friend bool operator==(const TerminalSize&, const TerminalSize&) = default;
};

class Terminal {
 public:
  // Does not own the descriptor.
  explicit Terminal(int fd) : fd_(fd) {}

  // As it is now; 80 x 24 if the descriptor is not a terminal's.
  TerminalSize size() const;

  // Replaces the frame drawn before. Lines must not be wider than size().columns; those that would
  // not fit the height are left out.
  void Draw(const std::vector<std::string>& lines);
  // Writes lines that stay, of any width, above the frame.
  void Print(const std::vector<std::string>& lines);
  // Leaves the frame where it is; the next one is drawn below it.
  void Keep();

 private:
  int RowsToErase() const;
  void Write(const std::string& bytes) const;

  const int fd_;
  std::vector<std::string> frame_;
};

}  // namespace tidemark::console
