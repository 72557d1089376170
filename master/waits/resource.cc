#include "master/waits/resource.h"

namespace tidemark::blame {

std::string_view Name(Resource resource) {
  switch (resource) {
    case Resource::kScheduler:
      return "scheduler";
    case Resource::kProcessor:
      return "processor";
    case Resource::kMemory:
      return "memory";
    case Resource::kNetwork:
      return "network";
    case Resource::kIo:
      return "io";
  }
  return "";
}

bool WaitHoldsService(Resource resource) {
  return resource == Resource::kNetwork || resource == Resource::kIo;
}

}  // namespace tidemark::blame
