// What tells one run of a job from every other, also after a restart. Pure.
#pragma once

#include <string>
#include <vector>

#include "tidemark/job.h"

namespace tidemark::cli {

std::string RunOf(const Snapshot& job);

// 16 hexadecimal digits.
std::string ShortHash(const std::string& text);
// A UUID of version 8 (RFC 9562): 122 bits of a hash.
std::string UuidOf(const std::string& text);

// Whether one of `patterns`, where * stands for any text, is the name of the job, or its id if it
// has none.
bool IsNamedBy(const std::vector<std::string>& patterns, const Snapshot& job);

}  // namespace tidemark::cli
