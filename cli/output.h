// Writes lines, tables, JSON and errors to standard output and standard error, in a form that the
// environment allows.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/commands.h"
#include "console/text.h"
#include "tidemark/deadline.h"

namespace tidemark::cli {

// The environment variables that determine how text may look; empty if unset.
struct Environment {
  std::string lc_all;
  std::string lc_ctype;
  std::string lang;
  std::string term;
  std::string no_color;
  static Environment OfProcess();
};

// Returns true if the locale uses UTF-8. The first set variable of LC_ALL, LC_CTYPE and LANG
// determines the locale.
bool HasUtf8(const Environment& environment);
// Returns false if NO_COLOR is set, or for a dumb terminal.
bool AllowsColor(const Environment& environment);
// Returns true if the terminal can move its cursor.
bool AllowsFrames(const Environment& environment);

bool IsTerminal(std::FILE* stream);

// Returns the time zone of TZ, or of the host.
const absl::TimeZone& LocalZone();

// Returns the time of the deadline of a job that starts at `start`, in the form that connectors
// parse: 2026-11-26T07:30:00+00:00.
std::string InstantText(const Deadline& deadline, absl::Time start);

// Returns how text on `stream` may look.
console::TextOptions TextOptionsFor(std::FILE* stream, const Environment& environment);

// Returns the number of columns of `stream`, or 10,000 if it is not a terminal, so that lines stay
// whole.
int WidthOf(std::FILE* stream);

// Writes a line and flushes it. Returns false if the reader has closed the pipe.
bool WriteLine(std::FILE* stream, const std::string& line);

// Flushes standard output. Returns the errno of the first failed write, or 0.
int FlushOutput();

// Returns "tidemark: MESSAGE" without characters that control a terminal (console/text.h).
std::string ErrorLine(const std::string& message);

// Prints ErrorLine() on standard error.
void PrintError(const std::string& message);
void PrintError(const absl::Status& status);

inline bool IsJson(TableFormat format) {
  return format == TableFormat::kJson || format == TableFormat::kJsonl;
}

// Returns the options of a table on standard output.
console::TableOptions TableOptionsFor(TableFormat format);

// Prints lines on standard output. Returns kSuccess or kReaderGone.
int PrintLines(const std::vector<std::string>& lines);

// Prints why an input cannot be used. Returns kLogTorn for damage, otherwise kUsage.
int ReportInputError(const absl::Status& status);

// Returns a value of nlohmann::json as ASCII text. Replaces invalid UTF-8 in strings.
template <typename Json>
std::string JsonText(const Json& value) {
  return value.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

// Prints JSON values as one list, or one on each line.
int PrintJson(const std::vector<std::string>& values, TableFormat format);

}  // namespace tidemark::cli
