// What a reader may see of who is to blame. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "tidemark/explanation.h"

namespace tidemark::service {

// Jobs that `may_read` does not let through, and those that are forgotten, become one culprit for
// each resource and host, which says how many they are. Then at most `culprits_max` of each query
// are kept, the worst first. The job itself is always seen.
void HideCulprits(const std::function<bool(const std::string& job_id)>& may_read,
                  std::size_t culprits_max, Explanation& explanation);

}  // namespace tidemark::service
