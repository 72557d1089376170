// Sums of untrusted counts, see streaming/saturating.h.
#pragma once

#include "streaming/saturating.h"

namespace tidemark::model {

using streaming::SaturatingAdd;
using streaming::SaturatingSubtract;

}  // namespace tidemark::model
