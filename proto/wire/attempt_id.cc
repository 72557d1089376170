#include <fmt/format.h>

#include "tidemark/event.h"

namespace tidemark {

std::string ToString(const AttemptId& id) {
  const char kind = id.kind == TaskKind::kMap ? 'm' : 'r';
  return id.attempt == 0 ? fmt::format("{}-{}", kind, id.index)
                         : fmt::format("{}-{}.{}", kind, id.index, id.attempt);
}

}  // namespace tidemark
