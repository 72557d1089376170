// The words of an address, as they were meant. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::web {

// "a%2Fb" is "a/b". Nothing: a % without two hexadecimal digits, or what is no UTF-8 without
// control characters.
std::optional<std::string> PercentDecoded(std::string_view text);

// "/api/jobs/a%2Fb" is "api", "jobs", "a/b"; "/" is nothing. Likewise; nothing, too, if it has
// an empty part or does not begin with a slash.
std::optional<std::vector<std::string>> PathParts(std::string_view path);

}  // namespace tidemark::web
