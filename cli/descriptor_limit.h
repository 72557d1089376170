// How many descriptors a process may have.
#pragma once

namespace tidemark::cli {

// As many as the system allows: a master needs two for each connection of an agent or a watcher,
// and more for running jobs. Also for processes that are started from now on.
void RaiseDescriptorLimit();

}  // namespace tidemark::cli
