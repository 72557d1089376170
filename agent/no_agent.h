// The agent of an engine that reports to nobody.
#pragma once

#include <memory>

#include "tidemark/agent.h"

namespace tidemark::agent {

std::unique_ptr<Agent> MakeNoAgent();

}  // namespace tidemark::agent
