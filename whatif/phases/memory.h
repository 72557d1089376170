// The memory in which a task gathers the records of a shuffle before it spills.
#pragma once

#include "whatif/phases/settings.h"

namespace tidemark::phases {

// What an executor since 1.6 keeps for itself, and below 1.5 times of which it does not start.
// Spark's source, UnifiedMemoryManager. bytes
inline constexpr double kReservedBytes = 300.0 * 1024 * 1024;

// Of one task, all others of its executor running, too. bytes, at least 0 [dSpillBufferSize]
//
//   kFractions  memory x shuffle fraction x safety fraction x task cores / cores    [SPM] eq. 19
//   kUnified    ((memory - 300 MiB) x memory fraction + off heap - cached) / tasks at once
//
// `cached_bytes`: of data that the executor keeps. Execution pushes out what is beyond the storage
// fraction, so no more than that counts. A task of kUnified may have down to half of it while
// others take their turn, and more while they are fewer.
double SpillBufferBytes(const Settings& settings, double cached_bytes = 0);

}  // namespace tidemark::phases
