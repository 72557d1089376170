#include "hadoop/task_ids.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace tidemark::hadoop {
namespace {

// Removes the text after the last underscore from `id`, and returns it.
std::string_view CutLast(std::string_view& id) {
  const std::size_t underscore = std::min(id.rfind('_'), id.size());
  const std::string_view last = id.substr(std::min(underscore + 1, id.size()));
  id = id.substr(0, underscore);
  return last;
}

bool IsNumber(std::string_view text) {
  constexpr std::size_t kDigitsMax = 20;
  return !text.empty() && text.size() <= kDigitsMax &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::optional<std::uint32_t> ParseNumber(std::string_view text) {
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || at != end || text.empty()) return std::nullopt;
  return number;
}

bool IsJobId(std::string_view id) {
  constexpr std::string_view kPrefix = "job_";
  if (!id.starts_with(kPrefix)) return false;
  id.remove_prefix(kPrefix.size());
  const std::string_view number = CutLast(id);
  return IsNumber(number) && IsNumber(id);
}

std::optional<AttemptId> ParseTaskId(std::string_view id) {
  const std::optional<std::uint32_t> index = ParseNumber(CutLast(id));
  const std::string_view kind = CutLast(id);
  if (!index || (kind != "m" && kind != "r")) return std::nullopt;
  return AttemptId{.stage = kind == "m" ? kMapStage : kReduceStage, .index = *index};
}

std::optional<AttemptId> ParseAttemptId(std::string_view id) {
  const std::optional<std::uint32_t> attempt = ParseNumber(CutLast(id));
  std::optional<AttemptId> parsed = ParseTaskId(id);
  if (!attempt || !parsed) return std::nullopt;
  parsed->attempt = *attempt;
  return parsed;
}

}  // namespace tidemark::hadoop
