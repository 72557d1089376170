#include "cli/output.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>

#include "cli/master_call.h"
#include "cli/process.h"
#include "console/terminal.h"

namespace tidemark::cli {
namespace {

constexpr int kUnlimitedColumns = 10'000;

std::atomic<int> output_error = 0;

// Stores the first error. stdio records that a write failed, but not why.
void NoteOutputError(int error) {
  int none = 0;
  output_error.compare_exchange_strong(none, error);
}

}  // namespace

Environment Environment::OfProcess() {
  return {.lc_all = EnvironmentVariable("LC_ALL"),
          .lc_ctype = EnvironmentVariable("LC_CTYPE"),
          .lang = EnvironmentVariable("LANG"),
          .term = EnvironmentVariable("TERM"),
          .no_color = EnvironmentVariable("NO_COLOR")};
}

bool HasUtf8(const Environment& environment) {
  std::string locale = environment.lang;
  if (!environment.lc_ctype.empty()) locale = environment.lc_ctype;
  if (!environment.lc_all.empty()) locale = environment.lc_all;
  std::transform(locale.begin(), locale.end(), locale.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
}

bool AllowsColor(const Environment& environment) {
  return environment.no_color.empty() && AllowsFrames(environment);
}

bool AllowsFrames(const Environment& environment) {
  return !environment.term.empty() && environment.term != "dumb";
}

bool IsTerminal(std::FILE* stream) { return isatty(fileno(stream)) == 1; }

const absl::TimeZone& LocalZone() {
  static const auto* const kZone = new absl::TimeZone(absl::LocalTimeZone());
  return *kZone;
}

std::string InstantText(const Deadline& deadline, absl::Time start) {
  return absl::FormatTime(absl::RFC3339_sec, InstantOf(deadline, start, LocalZone()),
                          absl::UTCTimeZone());
}

console::TextOptions TextOptionsFor(std::FILE* stream, const Environment& environment) {
  return {.color = IsTerminal(stream) && AllowsColor(environment),
          .unicode = HasUtf8(environment),
          .zone = &LocalZone()};
}

int WidthOf(std::FILE* stream) {
  return IsTerminal(stream) ? console::Terminal(fileno(stream)).size().columns : kUnlimitedColumns;
}

bool WriteLine(std::FILE* stream, const std::string& line) {
  const bool is_written =
      std::fputs((line + "\n").c_str(), stream) >= 0 && std::fflush(stream) == 0;
  if (!is_written && stream == stdout) NoteOutputError(errno);
  return is_written;
}

int FlushOutput() {
  if (std::fflush(stdout) != 0) NoteOutputError(errno);
  return output_error;
}

std::string ErrorLine(const std::string& message) {
  return "tidemark: " + console::Printable(message, /*unicode=*/true);
}

void PrintError(const std::string& message) { WriteLine(stderr, ErrorLine(message)); }

void PrintError(const absl::Status& status) { PrintError(std::string(status.message())); }

int ReportInputError(const absl::Status& status) {
  PrintError(status);
  return absl::IsDataLoss(status) ? kLogTorn : kUsage;
}

console::TableOptions TableOptionsFor(TableFormat format) {
  return {.width = WidthOf(stdout),
          .text = TextOptionsFor(stdout, Environment::OfProcess()),
          .is_wide = format == TableFormat::kWide};
}

int PrintLines(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    if (!WriteLine(stdout, line)) return kReaderGone;
  }
  return kSuccess;
}

int PrintJson(const std::vector<std::string>& values, TableFormat format) {
  if (format == TableFormat::kJsonl) return PrintLines(values);
  std::string list = "[";
  for (const std::string& value : values) list += (list.size() > 1 ? "," : "") + value;
  return PrintLines({list + "]"});
}

}  // namespace tidemark::cli
