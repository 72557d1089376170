// How the hosts of the running reduce tasks share their processors, from what their attempts tell.
//
// A task that waits for a processor for a part 1 - x of its time is one of processors / x that
// compete; those that are not tasks of the job stay, so that what the others leave behind when they
// end is shared with strangers, too.
#pragma once

#include <cstdint>
#include <vector>

#include "master/facts/job_record.h"
#include "master/forecast/placement/running_tasks.h"

namespace tidemark::cost {

struct HostSharing {
  std::vector<schedule::SharedHost> hosts;
  std::vector<std::uint32_t> host_of_task;  // into `hosts`, by reduce task; of running ones only
  bool is_felt = false;                     // any task waits for a processor
};

// O(reduce tasks).
HostSharing ObserveHosts(const model::JobRecord& state);

}  // namespace tidemark::cost
