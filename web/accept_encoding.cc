#include "web/accept_encoding.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace tidemark::web {
namespace {

// Returns true for a parameter such as "q=0" or " Q = 0.000".
bool IsWeightOfZero(absl::string_view parameter) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(parameter, absl::MaxSplits('=', 1));
  if (!absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(parts.first), "q")) return false;
  const absl::string_view weight = absl::StripAsciiWhitespace(parts.second);
  return weight.find_first_not_of("0.") == absl::string_view::npos;
}

}  // namespace

bool AcceptsGzip(std::string_view accept_encoding) {
  const absl::string_view header(accept_encoding.data(), accept_encoding.size());
  for (const absl::string_view coding : absl::StrSplit(header, ',')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(coding, ';');
    if (!absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(parts[0]), "gzip")) continue;
    for (std::size_t i = 1; i < parts.size(); ++i) {
      if (IsWeightOfZero(parts[i])) return false;
    }
    return true;
  }
  return false;
}

}  // namespace tidemark::web
