// The agent of an engine that has no master.
#pragma once

#include <memory>

#include "tidemark/agent.h"

namespace tidemark::agent {

std::unique_ptr<Agent> MakeNoAgent();
std::unique_ptr<MapTaskAgent> MakeNoMapTask();
std::unique_ptr<ReduceTaskAgent> MakeNoReduceTask();

}  // namespace tidemark::agent
