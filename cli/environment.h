// What the environment variables say about the screen.
#pragma once

#include <cstdio>
#include <string>

#include "console/styled_line.h"
#include "tidemark/deadline.h"

namespace tidemark::cli {

// The variables that matter; empty if unset.
struct Environment {
  std::string lc_all;
  std::string lc_ctype;
  std::string lang;
  std::string term;
  std::string no_color;
  static Environment OfProcess();
};

// Whether the locale is one of UTF-8: the first of LC_ALL, LC_CTYPE and LANG that is set decides.
bool HasUtf8(const Environment& environment);
// Not if NO_COLOR is set to anything, nor on a dumb terminal.
bool AllowsColor(const Environment& environment);
// Whether a terminal can move its cursor.
bool AllowsFrames(const Environment& environment);

bool IsTerminal(std::FILE* stream);

// In which the user's clock runs: that of TZ, or of the host.
const absl::TimeZone& LocalZone();

// When that is for a job that begins at `start`, as connectors want it: 2026-11-26T07:30:00+00:00.
std::string InstantText(const Deadline& deadline, absl::Time start);

// How text on `stream` may look.
console::TextOptions TextOptionsFor(std::FILE* stream, const Environment& environment);

// Columns of `stream`; very many if it is not a terminal, whose lines need no end.
int WidthOf(std::FILE* stream);

}  // namespace tidemark::cli
