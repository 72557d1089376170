#include "whatif/phases/memory.h"

#include <algorithm>

namespace tidemark::phases {

double SpillBufferBytes(const Settings& settings, double cached_bytes) {
  if (settings.memory_model == MemoryModel::kFractions) {
    return settings.executor_memory_bytes * settings.shuffle_fraction * settings.safety_fraction *
           settings.task_cores / settings.executor_cores;
  }
  const double shared =
      std::max(settings.executor_memory_bytes - kReservedBytes, 0.0) * settings.memory_fraction +
      settings.off_heap_bytes;
  const double cached = std::clamp(cached_bytes, 0.0, shared * settings.storage_fraction);
  return (shared - cached) / settings.tasks_at_once();
}

}  // namespace tidemark::phases
