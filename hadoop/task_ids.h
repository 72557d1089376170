// Parses the ids of Hadoop's jobs, tasks and task attempts. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tidemark/event.h"

namespace tidemark::hadoop {

// Returns true for an id such as "job_1700000000000_0001".
bool IsJobId(std::string_view id);

// Returns the task of an id such as "task_1700000000000_0001_m_000017", as attempt 0. Returns
// nullopt for an id without a kind and a number at its end.
std::optional<AttemptId> ParseTaskId(std::string_view id);

// Like ParseTaskId(), for an id such as "attempt_1700000000000_0001_r_000002_1".
std::optional<AttemptId> ParseAttemptId(std::string_view id);

// Parses a decimal number without a sign. Returns nullopt if the text is anything else.
std::optional<std::uint32_t> ParseNumber(std::string_view text);

}  // namespace tidemark::hadoop
