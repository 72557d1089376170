// A run of a program, as its log tells it: settings, and the stages with the counters of their
// tasks.
#pragma once

#include <string>
#include <vector>

#include "whatif/phases/settings.h"
#include "whatif/phases/what_if.h"

namespace tidemark::phases {

struct RanApplication {
  Settings settings;
  std::vector<RanStage> stages;
  std::vector<std::string> names;  // of the stages: by which other runs know them
  // What else is to be told apart, such as parameters of the program, as powers of two; as many of
  // each run.
  std::vector<double> others;
  double seconds = 0;  // from its start to the end of its last stage; 0: it did not succeed
};

}  // namespace tidemark::phases
