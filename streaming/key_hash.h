// Stable 64-bit hash of a serialized intermediate key ([NF] section 6, key hashing).
//
// XXH64 with seed 0 over the key's bytes: the same in every process and language, for ever. Golden
// values for other implementations: tests/vectors/key_hash.json. Not meant to resist a sender who
// wants collisions: two keys with one hash only make one estimate worse.
#pragma once

#include <string_view>

#include "tidemark/event.h"

namespace tidemark::streaming {

KeyHash HashKey(std::string_view serialized_key);

}  // namespace tidemark::streaming
