#include "agent/problem_reporter.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidemark::agent {

namespace {

// Returns the reason as the end of a message. Other servers send no reason.
std::string Because(const std::string& reason) { return reason.empty() ? "" : ": " + reason; }

}  // namespace

void ProblemReporter::OnRejected(int code, const std::string& reason) {
  Note(std::clamp(code, 0, kTurnedOff - 1),
       fmt::format("the master at {} rejects events{}", address_, Because(reason)));
}

void ProblemReporter::OnLocalError(const std::string& reason) {
  Note(kCannotSend, fmt::format("cannot report to the master at {}{}", address_, Because(reason)));
}

void ProblemReporter::OnStalled(const std::string& reason) {
  Note(kStalled, fmt::format("the master at {} cannot accept events now: {}", address_, reason));
}

void ProblemReporter::OnTurnedOff(const std::string& reason) {
  Note(kTurnedOff, fmt::format("reporting to the master at {} has stopped: {}", address_, reason));
}

void ProblemReporter::Note(int kind, std::string text) {
  const std::lock_guard lock(mutex_);
  is_explained_ = true;
  const std::uint32_t bit = std::uint32_t{1} << kind;
  if (!report_ || (kinds_noted_ & bit) != 0) return;
  kinds_noted_ |= bit;
  noted_.push_back(std::move(text));
}

bool ProblemReporter::waits_for_silence() const {
  const std::lock_guard lock(mutex_);
  return report_ != nullptr && !is_explained_;
}

void ProblemReporter::ReportNew(absl::Duration unanswered_for, absl::Duration patience,
                                const std::string& last_reason) {
  std::vector<std::string> texts;
  {
    const std::lock_guard lock(mutex_);
    if (!report_) return;
    texts.swap(noted_);
    if (unanswered_for == absl::ZeroDuration()) {
      is_explained_ = false;
    } else if (!is_explained_ && unanswered_for >= patience) {
      is_explained_ = true;
      texts.push_back(fmt::format("no response from the master at {} for {:.1f} s{}", address_,
                                  absl::ToDoubleSeconds(unanswered_for), Because(last_reason)));
    }
  }
  for (const std::string& text : texts) Report(text);
}

void ProblemReporter::Report(const std::string& text) {
  try {
    report_(text);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    report_ = nullptr;
  }
}

}  // namespace tidemark::agent
