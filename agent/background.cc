#include "agent/background.h"

#include <algorithm>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "agent/shared.h"

namespace tidemark::agent {
namespace {

// The agent reports a master that has not responded for this many flush intervals.
constexpr int kPatienceReports = 3;
// Lower bound of that time, so that short pauses of a busy machine are not reported.
constexpr absl::Duration kPatienceMin = absl::Seconds(3);

}  // namespace

Background::Background(const AgentOptions& options, std::shared_ptr<Shared> shared)
    : shared_(std::move(shared)),
      connection_(options.master_address, options.security, shared_),
      thread_([this] { Run(); }) {}

bool Background::Flush(Instant deadline) {
  if (shared_->off_reason() != nullptr) return false;
  const std::uint64_t dropped_before = shared_->outbox.counts().dropped;
  auto promise = std::make_shared<std::promise<std::optional<std::uint64_t>>>();
  std::future<std::optional<std::uint64_t>> answer = promise->get_future();
  if (!shared_->inbox.Push(FlushNow{std::move(promise)})) {
    return shared_->outbox.empty() && shared_->off_reason() == nullptr;
  }
  if (answer.wait_until(deadline) != std::future_status::ready) return false;
  const std::optional<std::uint64_t> newest = answer.get();
  return newest.has_value() && shared_->outbox.WaitUntilSettled(*newest, deadline) &&
         shared_->outbox.counts().dropped == dropped_before;
}

void Background::Stop(Instant deadline) {
  if (!thread_.joinable()) return;
  last_attempt_.store(true);
  Guarded(*shared_, [&] { Flush(deadline - kCancelTimeout); });
  stopping_.store(true);
  shared_->inbox.Wake();
  thread_.join();
  Guarded(*shared_, [&] { connection_.Close(deadline); });
  GiveUpAll();
  shared_->outbox.CountUnsentAsDropped();
  Guarded(*shared_, [&] { ReportProblems(absl::ZeroDuration()); });
  reporters_.clear();
}

void Background::Run() {
  if (Guarded(*shared_, [this] { RunUntilStopped(); }) && shared_->off_reason() == nullptr) return;
  connection_.GiveUp();
  GiveUpAll();
  Guarded(*shared_, [this] {
    shared_->problems.OnTurnedOff(shared_->off_reason());
    ReportProblems(absl::InfiniteDuration());
  });
}

void Background::RunUntilStopped() {
  Instant deadline = NextFlush();
  while (!stopping_.load() && shared_->off_reason() == nullptr) {
    TakeUntil(deadline);
    for (const std::shared_ptr<Reporter>& reporter : reporters_) reporter->Collect();
    const Instant now = std::chrono::steady_clock::now();
    ReportIfDue(now);
    if (last_attempt_.exchange(false)) connection_.SkipBackoff();
    deadline = std::min(connection_.Poll(now), NextFlush());
    ReportProblems(Patience());
    deadline = std::min(deadline, NextSilenceReport(now));
  }
}

void Background::TakeUntil(Instant deadline) {
  commands_ = shared_->inbox.WaitUntil(deadline);
  for (; executed_ < commands_.size(); ++executed_) Execute(commands_[executed_]);
  commands_.clear();
  executed_ = 0;
}

// Drops a command that will never be executed.
void Background::GiveUp(const Command& command) {
  if (const auto* flush = std::get_if<FlushNow>(&command)) {
    flush->newest->set_value(std::nullopt);
  } else if (std::holds_alternative<SendEvent>(command) ||
             std::holds_alternative<EndReports>(command)) {
    shared_->outbox.CountDropped();  // the last report of a task
  }
}

void Background::GiveUpAll() {
  for (; executed_ < commands_.size(); ++executed_) GiveUp(commands_[executed_]);
  for (const Command& command : shared_->inbox.Close()) GiveUp(command);
}

absl::Duration Background::UnansweredFor() const {
  const std::optional<std::int64_t> oldest = shared_->outbox.oldest_made_at_nanos();
  return oldest ? ClockReading::Now().Since(*oldest) : absl::ZeroDuration();
}

absl::Duration Background::Patience() const {
  return std::max(kPatienceMin, kPatienceReports * shared_->settings.flush_interval());
}

void Background::ReportProblems(absl::Duration patience) {
  shared_->problems.ReportNew(UnansweredFor(), patience, shared_->transport.last_reason());
}

// Returns the time at which to report an unresponsive master, if it still has not responded by
// then.
Instant Background::NextSilenceReport(Instant now) const {
  const absl::Duration unanswered_for = UnansweredFor();
  const bool waits = unanswered_for > absl::ZeroDuration() && shared_->problems.waits_for_silence();
  return waits ? After(now, Patience() - unanswered_for) : Instant::max();
}

Instant Background::NextFlush() const {
  if (reporters_.empty()) return After(std::chrono::steady_clock::now(), absl::Hours(1));
  return After(last_flush_, shared_->settings.flush_interval());
}

void Background::ReportIfDue(Instant now) {
  if (reporters_.empty() || now < NextFlush()) return;
  ReportAll();
}

void Background::ReportAll() {
  last_flush_ = std::chrono::steady_clock::now();
  for (const std::shared_ptr<Reporter>& reporter : reporters_) reporter->Report();
}

void Background::Execute(const Command& command) {
  if (const auto* event = std::get_if<SendEvent>(&command)) {
    shared_->outbox.Add(event->body, event->made_at_nanos);
  } else if (const auto* start = std::get_if<StartReports>(&command)) {
    // The first report follows after a full interval.
    if (reporters_.empty()) last_flush_ = std::chrono::steady_clock::now();
    reporters_.push_back(start->reporter);
  } else if (const auto* profiles = std::get_if<StartProfiles>(&command)) {
    profiles->reporter->BeginProfiles();
  } else if (const auto* end = std::get_if<EndReports>(&command)) {
    end->reporter->ReportLast();
    std::erase(reporters_, end->reporter);
  } else if (const auto* flush = std::get_if<FlushNow>(&command)) {
    ReportAll();
    flush->newest->set_value(shared_->outbox.newest());
  }
}

}  // namespace tidemark::agent
