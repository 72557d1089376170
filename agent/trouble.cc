#include "agent/trouble.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidemark::agent {

namespace {

// Behind what happened; servers of other kinds refuse without a word.
std::string Because(const std::string& reason) { return reason.empty() ? "" : ": " + reason; }

}  // namespace

void Trouble::Refused(int code, const std::string& reason) {
  Note(std::clamp(code, 0, kTurnedOff - 1),
       fmt::format("the master at {} refuses what is reported{}", address_, Because(reason)));
}

void Trouble::CannotSend(const std::string& reason) {
  Note(kCannotSend, fmt::format("cannot report to the master at {}{}", address_, Because(reason)));
}

void Trouble::Stalled(const std::string& reason) {
  Note(kStalled, fmt::format("the master at {} cannot take what is reported at the moment: {}",
                             address_, reason));
}

void Trouble::TurnedOff(const std::string& reason) {
  Note(kTurnedOff,
       fmt::format("nothing more is reported to the master at {}: {}", address_, reason));
}

void Trouble::Note(int kind, std::string text) {
  const std::lock_guard lock(mutex_);
  is_explained_ = true;
  const std::uint32_t bit = std::uint32_t{1} << kind;
  if (!tell_ || (kinds_noted_ & bit) != 0) return;
  kinds_noted_ |= bit;
  noted_.push_back(std::move(text));
}

bool Trouble::waits_for_silence() const {
  const std::lock_guard lock(mutex_);
  return tell_ != nullptr && !is_explained_;
}

void Trouble::TellNew(absl::Duration unanswered_for, absl::Duration patience,
                      const std::string& last_reason) {
  std::vector<std::string> texts;
  {
    const std::lock_guard lock(mutex_);
    if (!tell_) return;
    texts.swap(noted_);
    if (unanswered_for == absl::ZeroDuration()) {
      is_explained_ = false;
    } else if (!is_explained_ && unanswered_for >= patience) {
      is_explained_ = true;
      texts.push_back(fmt::format("no answer from the master at {} for {:.1f} s{}", address_,
                                  absl::ToDoubleSeconds(unanswered_for), Because(last_reason)));
    }
  }
  for (const std::string& text : texts) Say(text);
}

void Trouble::Say(const std::string& text) {
  try {
    tell_(text);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    tell_ = nullptr;
  }
}

}  // namespace tidemark::agent
