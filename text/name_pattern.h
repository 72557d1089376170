// Names in which * stands for any text, as settings have them. Pure.
#pragma once

#include <string_view>

namespace tidemark::text {

// Whether `pattern` fits the whole `name`. No other character is special. O(pattern * name) at
// worst.
bool Fits(std::string_view pattern, std::string_view name);

}  // namespace tidemark::text
