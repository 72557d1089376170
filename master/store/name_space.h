// Name spaces: the ids that a reporter may report, as patterns of the tokens' file
// (master/service/tokens.h) with blanks between them: "nightly-* etl-*". They are stored with the
// reported jobs, so that they outlive the token.
//
// Thread-safe: functions of their arguments.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace tidemark::store {

// The name space of all clients of a master without tokens.
inline constexpr const char* kAllIds = "*";

// Returns whether `pattern`, an id or the beginning of one and a *, matches.
bool Matches(absl::string_view pattern, absl::string_view id);
// Returns an id within the name space, for a plan without one; or an empty text.
std::string IdWithin(absl::string_view name_space);
// Returns whether a pattern of `name_space` matches.
bool IsWithin(absl::string_view id, absl::string_view name_space);

// A job or workflow, and all ids that its reporter may report.
struct Reported {
  std::string id;
  std::string name_space = kAllIds;
};
// Returns whether the reporter of each may report the other. Only then may one be a past run of the
// other (docs/internals/adr/0016).
bool ShareNames(const Reported& a, const Reported& b);

}  // namespace tidemark::store
