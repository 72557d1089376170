// The second phase of a task: what tasks before it left is fetched, and combined or sorted
// ([SPM] section 4).
#pragma once

#include "whatif/phases/settings.h"
#include "whatif/phases/spill.h"
#include "whatif/phases/stage.h"
#include "whatif/phases/work.h"

namespace tidemark::phases {

struct ShuffleRead {
  Flow fetched;             // as it was written [tEachSRRecs, tEachSRSize]
  double local_bytes = 0;   // of them, from this executor [dLocalReadBytes]
  double remote_bytes = 0;  // [dRemoteReadBytes]
  Spills spills;
  Flow out;  // in memory [tComputeInRecs, tComputeInBytes]
  Work fetch, spill, merge;

  Work work() const { return fetch + spill + merge; }  // eq. 29
};

// Eq. 11 to 29. Nothing where there are no tasks.
ShuffleRead ReadShuffle(const StageSize& size, Gathering gathering, const DataStatistics& data,
                        const Settings& settings);

}  // namespace tidemark::phases
