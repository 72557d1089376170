#include "whatif/phases/work.h"

namespace tidemark::phases {

Work& Work::operator+=(const Work& other) {
  for (std::size_t i = 0; i < kCosts; ++i) units[i] += other.units[i];
  return *this;
}

Work operator*(double times, Work work) {
  for (double& units : work.units) units *= times;
  return work;
}

double Seconds(const Work& work, const CostStatistics& costs) {
  double seconds = 0;
  for (std::size_t i = 0; i < kCosts; ++i) seconds += work.units[i] * costs.seconds[i];
  return seconds;
}

bool IsOfProcessor(Cost cost) { return cost >= Cost::kCompute && cost <= Cost::kSerialize; }

const char* NameOf(Cost cost) {
  constexpr const char* kNames[kCosts] = {"input read", "output write", "local read", "local write",
                                          "network",    "compute",      "combine",    "merge",
                                          "partition",  "sort",         "compress",   "uncompress",
                                          "serialize",  "setup",        "cleanup"};
  return kNames[Index(cost)];
}

}  // namespace tidemark::phases
