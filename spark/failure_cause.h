// What made a task, a stage or a job of Spark fail, out of what Spark says of it.
#pragma once

#include <string>
#include <string_view>

namespace tidemark::spark {

// The part of `failure` that names the error: the last line of its last Python traceback
// ("ValueError: bad"), else what the most recent failure of a task was, without where it ran and
// without the stack; else all of it. The same as FailureCause.java. O(length).
std::string FailureCause(std::string_view failure);

// Returns true if adaptive execution cancelled the job that failed for `failure`: its query no
// longer needs the job, and continues. Spark then gives no reason behind "Job 7 cancelled", or
// names the stage of the query. If anything else cancels a job, Spark names the reason. O(length).
bool IsCancelledByItsQuery(std::string_view failure);

}  // namespace tidemark::spark
