// Which of the tasks of a job a reader hears of who asks for those that run. Pure.
#pragma once

#include <cstddef>

#include "tidemark/job_tasks.h"

namespace tidemark::service {

// Of a list of all attempts those that run, the last to end first, then those of which that is not
// known, by start; of more than `most` the first ones. O(attempts log attempts).
void KeepRunning(std::size_t most, JobTasks& list);

}  // namespace tidemark::service
