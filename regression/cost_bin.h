// What a cost model is fitted to.
#pragma once

namespace tidemark::regression {

// Finished key groups of about one size.
struct CostBin {
  double size = 0;               // mean, bytes (or what else the cost is a function of); > 0
  double count = 0;              // may be a fraction, for evidence that has aged
  double amount = 0;             // mean of what is explained: seconds, or bytes emitted
  double relative_variance = 0;  // of one key group around the mean
  double bytes = 0;              // y, mean; 0: the same as the size
};

}  // namespace tidemark::regression
