// The second phase of a task: what tasks before it left is fetched, and combined or sorted
// ([SPM] section 4).
#pragma once

#include "master/phases/settings.h"
#include "master/phases/spill.h"
#include "master/phases/stage.h"
#include "master/phases/work.h"

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
