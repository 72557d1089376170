// How much of a snapshot a reader wants, and which jobs. Pure.
#pragma once

#include <string>
#include <vector>

#include "tidemark/job.h"

namespace tidemark::next {

enum class View : std::uint8_t {
  kUnknown,  // the caller's default
  kBasic,    // no stages and no children: their counts
  kStages,   // with stages and children
  kFull,     // everything
};

// Which jobs of a list; what is empty excludes none.
struct JobFilter {
  std::vector<JobState> states;
  std::vector<JobKind> kinds;
  std::string user;
  std::string queue;
  std::string name_prefix;  // of the name, or of the id of a job without a name
  std::string workflow_id;
  friend bool operator==(const JobFilter&, const JobFilter&) = default;
};

namespace wire {

using next::CountParts;

// The snapshot without what `view` leaves out; kUnknown is kFull. A view of a view is the smaller
// of both. For deltas, take the view first (proto/wire/snapshot_delta.h).
Snapshot WithView(Snapshot snapshot, View view);

// REQUIRES: the snapshot is whole.
bool Matches(const JobFilter& filter, const Snapshot& snapshot);

}  // namespace wire
}  // namespace tidemark::next
