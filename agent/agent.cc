#include "tidemark/agent.h"
