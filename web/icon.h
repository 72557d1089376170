// The icon of the page, for /favicon.ico. Pure.
#pragma once

#include <string>

namespace tidemark::web {

// Returns a file of the format ICO with one picture: a tide below a mark.
std::string IconFile();

}  // namespace tidemark::web
