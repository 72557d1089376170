#include "agent/background.h"

#include <algorithm>
#include <future>
#include <optional>
#include <utility>
#include <variant>

namespace tidemark::agent {

Background::Background(const AgentOptions& options, std::shared_ptr<Shared> shared)
    : shared_(std::move(shared)),
      connection_(options.master_address, options.security, shared_),
      thread_([this] { Run(); }) {}

bool Background::Flush(Instant deadline) {
  const std::uint64_t dropped_before = shared_->outbox.counts().dropped;
  auto promise = std::make_shared<std::promise<std::optional<std::uint64_t>>>();
  std::future<std::optional<std::uint64_t>> answer = promise->get_future();
  if (!shared_->inbox.Push(FlushNow{std::move(promise)})) return shared_->outbox.empty();
  if (answer.wait_until(deadline) != std::future_status::ready) return false;
  const std::optional<std::uint64_t> newest = answer.get();
  return newest.has_value() && shared_->outbox.WaitUntilSettled(*newest, deadline) &&
         shared_->outbox.counts().dropped == dropped_before;
}

void Background::Stop(Instant deadline) {
  if (!thread_.joinable()) return;
  last_attempt_.store(true);
  Flush(deadline - kCancelTimeout);
  stopping_.store(true);
  shared_->inbox.Wake();
  thread_.join();
  for (const Command& command : shared_->inbox.Close()) {
    if (const auto* flush = std::get_if<FlushNow>(&command)) flush->newest->set_value(std::nullopt);
  }
  connection_.Close(deadline);
  reporters_.clear();
}

void Background::Run() {
  Instant deadline = NextFlush();
  while (!stopping_.load()) {
    for (const Command& command : shared_->inbox.WaitUntil(deadline)) Execute(command);
    for (const std::shared_ptr<Reporter>& reporter : reporters_) reporter->Collect();
    const Instant now = std::chrono::steady_clock::now();
    ReportIfDue(now);
    if (last_attempt_.exchange(false)) connection_.ForgetBackoff();
    deadline = std::min(connection_.Poll(now), NextFlush());
  }
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
  if (const auto* event = std::get_if<SayEvent>(&command)) {
    shared_->outbox.Add(event->body, event->made_at_nanos);
  } else if (const auto* start = std::get_if<StartReports>(&command)) {
    // The first report comes a full interval later.
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
