// A name space is the set of IDs that a reporter may report. It is written as patterns of the
// tokens' file (master/service/gate.h), separated by blanks: "nightly-* etl-*". It is stored
// with the reported jobs, so that it outlives the token.
//
// The functions are thread-safe.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace tidemark::store {

// The name space of all clients of a master without tokens.
inline constexpr const char* kAllIds = "*";

// Returns true if `pattern`, an ID or a prefix followed by a *, matches `id`.
bool Matches(absl::string_view pattern, absl::string_view id);
// Returns an ID within the name space for a plan without an ID, or an empty string.
std::string IdWithin(absl::string_view name_space);
// Returns true if a pattern of `name_space` matches `id`.
bool IsWithin(absl::string_view id, absl::string_view name_space);

// A job or workflow, and all IDs that its reporter may report.
struct Reported {
  std::string id;
  std::string name_space = kAllIds;
};
// Returns true if the reporter of each may report the ID of the other. Only then may one be a past
// run of the other (docs/internals/adr/0016).
bool ShareNames(const Reported& a, const Reported& b);

}  // namespace tidemark::store
