#include "cli/environment.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "console/terminal.h"

namespace tidemark::cli {
namespace {

constexpr int kEndless = 10'000;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Environment Environment::OfProcess() {
  return {.lc_all = Variable("LC_ALL"),
          .lc_ctype = Variable("LC_CTYPE"),
          .lang = Variable("LANG"),
          .term = Variable("TERM"),
          .no_color = Variable("NO_COLOR")};
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
  return IsTerminal(stream) ? console::Terminal(fileno(stream)).size().columns : kEndless;
}

}  // namespace tidemark::cli
