// An event of a log as JSON, of which some logs are not quite.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace tidemark::spark {

// Broken UTF-8, control characters and halves of characters, which Java may write, are replaced.
// Discarded: it is no JSON for all that.
nlohmann::json TolerantJson(std::string_view text);

}  // namespace tidemark::spark
