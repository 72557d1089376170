// A fraction of a snapshot as a person is shown it. That it never goes back is the snapshot's own
// promise (tidemark/snapshot.h). Pure.
#pragma once

#include "tidemark/snapshot.h"

namespace tidemark::console {

// `fraction_done` as it may be shown: 0 if it is not a number, within 0..1, and 1 only for a job
// that has succeeded.
double ShownFraction(double fraction_done, const Snapshot& snapshot);

// The same in whole percent, cut: 100 only for a job that has succeeded.
int ShownPercent(double fraction_done, const Snapshot& snapshot);

}  // namespace tidemark::console
