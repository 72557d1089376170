// Patterns of names, in which * matches any string. Pure.
#pragma once

#include <string_view>

namespace tidemark::text {

// Returns true if `pattern` matches the whole `name`. No other character is special. O(pattern *
// name) in the worst case.
bool Fits(std::string_view pattern, std::string_view name);

}  // namespace tidemark::text
