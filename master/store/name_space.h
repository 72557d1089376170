// Name spaces: the ids that a reporter may report, as patterns of the tokens' file
// (master/service/tokens.h) with blanks between them: "nightly-* etl-*". Kept with what they
// reported, so that it outlives their token.
//
// Thread-safe: functions of their arguments.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace tidemark::store {

// The name space of all clients of a master without tokens.
inline constexpr const char* kAllIds = "*";

// `pattern` is an id, or the beginning of one and a *.
bool Matches(absl::string_view pattern, absl::string_view id);
// An id that is within, of something that has none; empty if none is.
std::string AnIdWithin(absl::string_view name_space);
// Whether one of the patterns of `name_space` matches.
bool IsWithin(absl::string_view id, absl::string_view name_space);

// A job or workflow, and all ids that its reporter may report.
struct Reported {
  std::string id;
  std::string name_space = kAllIds;
};
// Whether a name means the same to both: each might have been reported by the other's reporter.
// Only then does one teach the other (docs/adr/0018-names-live-in-the-name-space-of-a-token.md).
bool ShareNames(const Reported& a, const Reported& b);

}  // namespace tidemark::store
