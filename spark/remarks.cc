#include "spark/remarks.h"

#include <fmt/format.h>

#include "text/counted.h"

namespace tidemark::cli {

std::vector<std::string> RemarksOn(const spark::LogReader& log, std::uint64_t refused) {
  std::vector<std::string> remarks;
  for (const std::string& remark : log.remarks()) remarks.push_back(remark);
  const spark::LogCounts counts = log.counts();
  if (counts.missing_events > 0) {
    remarks.push_back(fmt::format(
        "at least {} {} missing from the log, by the numbers of its tasks and by what other events "
        "refer to; nothing is known of what ran then",
        text::Counted(counts.missing_events, "event"), counts.missing_events == 1 ? "is" : "are"));
  }
  const std::uint64_t left_out = counts.contradictions + refused;
  if (left_out > 0) {
    remarks.push_back(fmt::format(
        "skipped {}: in conflict with others, such as a task of a stage that was never opened",
        text::Counted(left_out, "event")));
  }
  if (counts.broken_events > 0) {
    remarks.push_back(fmt::format("skipped {}: incomplete or not JSON",
                                  text::Counted(counts.broken_events, "event")));
  }
  if (counts.oversized_events > 0) {
    remarks.push_back(
        fmt::format("skipped {}: too large", text::Counted(counts.oversized_events, "event")));
  }
  if (!log.application().is_closed()) {
    remarks.emplace_back(
        "the log ends before the application: it was running when the log was copied, or was "
        "killed");
  }
  return remarks;
}

std::vector<std::string> RemarksOn(const spark::Unbelievable& unbelievable) {
  std::vector<std::string> remarks;
  if (unbelievable.counters > 0) {
    remarks.push_back(fmt::format(
        "skipped {} of tasks, the first {}: negative, no whole number, or too large to be true",
        text::Counted(unbelievable.counters, "counter"), unbelievable.first_counter));
  }
  if (unbelievable.tasks > 0) {
    remarks.push_back(fmt::format("skipped the counters of {}: longer than three years",
                                  text::Counted(unbelievable.tasks, "task")));
  }
  return remarks;
}

}  // namespace tidemark::cli
