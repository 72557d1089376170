#include "master/store/name_space.h"

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace tidemark::store {

bool Matches(absl::string_view pattern, absl::string_view id) {
  return absl::ConsumeSuffix(&pattern, "*") ? absl::StartsWith(id, pattern) : id == pattern;
}

std::string IdWithin(absl::string_view name_space) {
  absl::string_view pattern = name_space.substr(0, name_space.find(' '));
  const bool is_open = absl::ConsumeSuffix(&pattern, "*");
  return std::string(pattern) + (is_open ? "plan" : "");
}

bool IsWithin(absl::string_view id, absl::string_view name_space) {
  for (const absl::string_view pattern : absl::StrSplit(name_space, ' ', absl::SkipEmpty())) {
    if (Matches(pattern, id)) return true;
  }
  return false;
}

bool ShareNames(const Reported& a, const Reported& b) {
  return IsWithin(a.id, b.name_space) && IsWithin(b.id, a.name_space);
}

}  // namespace tidemark::store
