#include "streaming/key_hash.h"

#include <xxhash.h>

namespace tidemark::streaming {

KeyHash HashKey(std::string_view serialized_key) {
  return KeyHash{XXH64(serialized_key.data(), serialized_key.size(), 0)};
}

}  // namespace tidemark::streaming
