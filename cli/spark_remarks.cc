#include "cli/spark_remarks.h"

#include <fmt/format.h>

namespace tidemark::cli {
namespace {

std::string EventsText(std::uint64_t count) {
  return fmt::format("{} {}", count, count == 1 ? "event" : "events");
}

}  // namespace

std::vector<std::string> RemarksOn(const spark::LogReader& log, std::uint64_t refused) {
  std::vector<std::string> remarks;
  const spark::LogCounts counts = log.counts();
  const std::uint64_t left_out = counts.contradictions + refused;
  if (left_out > 0) {
    remarks.push_back(fmt::format(
        "skipped {}: in conflict with others, such as a task of a stage that was never opened",
        EventsText(left_out)));
  }
  if (counts.broken_events > 0) {
    remarks.push_back(
        fmt::format("skipped {}: incomplete or not JSON", EventsText(counts.broken_events)));
  }
  if (counts.oversized_events > 0) {
    remarks.push_back(fmt::format("skipped {}: too large", EventsText(counts.oversized_events)));
  }
  if (!log.application().is_closed()) {
    remarks.emplace_back(
        "the log ends before the application: it was running when the log was copied, or was "
        "killed");
  }
  return remarks;
}

}  // namespace tidemark::cli
