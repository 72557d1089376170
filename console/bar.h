// A bar of blocks. Pure.
#pragma once

#include <string>

namespace tidemark::console {

// The two parts of a bar, so that they can be coloured apart; together exactly `columns` wide.
struct Bar {
  std::string done;
  std::string left;
};

// With `unicode` in eighths of a column, else "[###...]" (without the brackets below 4 columns).
// `fraction` is held to 0..1, NaN is 0; the bar is full only for 1.
Bar MakeBar(double fraction, int columns, bool unicode);

// The three parts of a bar that shows where its end may be, together exactly `columns` wide:
// "[..-----....]".
struct RangeBar {
  std::string before;
  std::string within;
  std::string after;
};

// From `lower` to `upper`, a column at least. Both are held to 0..1, NaN is 0.
RangeBar MakeRangeBar(double lower, double upper, int columns, bool unicode);

}  // namespace tidemark::console
