#include "console/bar.h"

#include <algorithm>
#include <cmath>

namespace tidemark::console {
namespace {

// One to seven eighths of a column.
constexpr const char* kEighths[] = {"▏", "▎", "▍", "▌", "▋", "▊", "▉"};

double Clamped(double fraction) { return fraction >= 0 ? std::min(fraction, 1.0) : 0.0; }

std::string Repeat(const char* text, int count) {
  std::string repeated;
  for (int i = 0; i < count; ++i) repeated += text;
  return repeated;
}

// Returns the finished parts of `total`, rounded down. All parts are finished only if `fraction` is
// 1.
int PartsDone(double fraction, int total) {
  const int parts = static_cast<int>(fraction * total);
  return fraction < 1 ? std::min(parts, total - 1) : total;
}

// Returns the columns between the brackets of a bar, if it has any.
int InnerColumns(int columns, bool unicode) {
  return unicode || columns < 4 ? columns : columns - 2;
}

Bar UnicodeBar(double fraction, int columns) {
  const int eighths = PartsDone(fraction, 8 * columns);
  Bar bar{.done = Repeat("█", eighths / 8)};
  const bool has_partial = eighths % 8 != 0;
  if (has_partial) bar.done += kEighths[eighths % 8 - 1];
  bar.left = Repeat("░", columns - eighths / 8 - (has_partial ? 1 : 0));
  return bar;
}

Bar AsciiBar(double fraction, int columns) {
  const int inner = InnerColumns(columns, /*unicode=*/false);
  const int done = PartsDone(fraction, inner);
  Bar bar{.done = Repeat("#", done), .left = Repeat(".", inner - done)};
  if (inner < columns) bar = {.done = "[" + bar.done, .left = bar.left + "]"};
  return bar;
}

}  // namespace

Bar MakeBar(double fraction, int columns, bool unicode) {
  if (columns <= 0) return {};
  return unicode ? UnicodeBar(Clamped(fraction), columns) : AsciiBar(Clamped(fraction), columns);
}

RangeBar MakeRangeBar(double lower, double upper, int columns, bool unicode) {
  if (columns <= 0) return {};
  const int inner = InnerColumns(columns, unicode);
  const int from = std::min(static_cast<int>(Clamped(lower) * inner), inner - 1);
  const int to = std::max(static_cast<int>(std::ceil(Clamped(upper) * inner)), from + 1);
  const char* const outside = unicode ? "░" : ".";
  RangeBar bar{.before = Repeat(outside, from),
               .within = Repeat(unicode ? "▒" : "-", to - from),
               .after = Repeat(outside, inner - to)};
  if (inner < columns) {
    bar.before = "[" + bar.before;
    bar.after += "]";
  }
  return bar;
}

}  // namespace tidemark::console
