// Bars of block characters. Pure.
#pragma once

#include <string>

namespace tidemark::console {

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
