// How many messages a message holds, before it is parsed: each takes far more in memory than its
// two bytes on the wire.
#pragma once

#include <cstddef>
#include <initializer_list>

#include "absl/strings/string_view.h"

namespace tidemark::wire {

// How many fields lie at the end of `path` in the serialized message: {7} counts its fields 7, {1,
// 8} the fields 8 of its field 1. All of them are messages, texts or bytes. What comes behind the
// first thing that cannot be read does not count. O(bytes).
std::size_t CountFields(absl::string_view message, std::initializer_list<int> path);

}  // namespace tidemark::wire
