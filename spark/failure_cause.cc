#include "spark/failure_cause.h"

namespace tidemark::spark {
namespace {

constexpr std::string_view kTraceback = "Traceback (most recent call last):";
// "most recent failure: Lost task 0.3 in stage 1.0 (TID 7) (10.0.0.1 executor 2): CAUSE"
constexpr std::string_view kLastFailure = "most recent failure: Lost task ";
constexpr std::string_view kBeforeCause = "): ";

std::string_view FirstLine(std::string_view text) { return text.substr(0, text.find('\n')); }

// The first line of a traceback that is not indented; empty if it breaks off before.
std::string_view RaisedIn(std::string_view traceback) {
  for (std::size_t end = traceback.find('\n'); end != std::string_view::npos;
       end = traceback.find('\n')) {
    traceback.remove_prefix(end + 1);
    const std::string_view line = FirstLine(traceback);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos && line[0] != ' ' &&
        line[0] != '\t') {
      return line;
    }
  }
  return "";
}

std::string_view CauseIn(std::string_view failure) {
  if (const std::size_t at = failure.rfind(kTraceback); at != std::string_view::npos) {
    if (const std::string_view raised = RaisedIn(failure.substr(at)); !raised.empty()) {
      return raised;
    }
  }
  const std::size_t last = failure.find(kLastFailure);
  if (last == std::string_view::npos) return failure;
  const std::size_t before = failure.find(kBeforeCause, last);
  if (before == std::string_view::npos) return failure;
  const std::string_view cause = FirstLine(failure.substr(before + kBeforeCause.size()));
  return cause.empty() ? failure : cause;
}

}  // namespace

std::string FailureCause(std::string_view failure) {
  std::string_view cause = CauseIn(failure);
  if (cause.ends_with('\r')) cause.remove_suffix(1);
  return std::string(cause);
}

bool IsCancelledByItsQuery(std::string_view failure) {
  constexpr std::string_view kJob = "Job ";
  constexpr std::string_view kCancelled = " cancelled";
  if (!failure.starts_with(kJob)) return false;
  failure.remove_prefix(kJob.size());
  const std::size_t digits = failure.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos) return false;
  failure.remove_prefix(digits);
  if (!failure.starts_with(kCancelled)) return false;
  const std::string_view reason = FirstLine(failure.substr(kCancelled.size()));
  return reason.find_first_not_of(" .\r") == std::string_view::npos ||
         reason.find("query stage") != std::string_view::npos;
}

}  // namespace tidemark::spark
