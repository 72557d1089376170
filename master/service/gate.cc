#include "master/service/gate.h"

#include <string>
#include <utility>

#include "absl/time/clock.h"

namespace tidemark::service {
namespace {

std::string AuthorizationOf(const grpc::CallbackServerContext& context) {
  const auto& metadata = context.client_metadata();
  const auto entry = metadata.find("authorization");
  if (entry == metadata.end()) return "";
  return {entry->second.data(), entry->second.size()};
}

}  // namespace

absl::StatusOr<Caller> Gate::Identify(const grpc::CallbackServerContext& context) {
  Caller caller(tokens_, AuthorizationOf(context));
  if (absl::Status known = caller.CheckKnown(); !known.ok()) {
    return Refuse(std::move(known), context.peer());
  }
  acceptor_.BecameKnown(context.peer());
  return caller;
}

absl::StatusOr<AdmittedStream> Gate::Admit(const grpc::CallbackServerContext& context) {
  absl::StatusOr<Caller> caller = Identify(context);
  if (!caller.ok()) return caller.status();
  absl::StatusOr<PeerLimit::Place> place = peers_.Enter(context.peer());
  if (!place.ok()) return Refuse(place.status(), context.peer());
  return AdmittedStream{*std::move(caller), *std::move(place)};
}

absl::StatusOr<std::pair<Caller, std::string>> Gate::Count(
    const grpc::CallbackServerContext& context) {
  absl::StatusOr<Caller> caller = Identify(context);
  if (!caller.ok()) return caller.status();
  std::string key = caller->KeyAt(HostOfPeer(context.peer()));
  if (absl::Status paced = pace_.Enter(key, clock_.Now()); !paced.ok()) {
    // A refusal takes memory until it is read.
    if (!refused_.Enter(context.peer(), clock_.Now()).ok()) acceptor_.CutOff(context.peer());
    return Refuse(std::move(paced), context.peer());
  }
  return std::pair(*std::move(caller), std::move(key));
}

absl::StatusOr<Gate::AdmittedCall> Gate::Ask(const grpc::CallbackServerContext& context) {
  auto counted = Count(context);
  if (!counted.ok()) return counted.status();
  return AdmittedCall{std::move(counted->first), Meter(*this, std::move(counted->second))};
}

absl::StatusOr<Gate::AdmittedWatcher> Gate::AdmitWatcher(
    const grpc::CallbackServerContext& context) {
  auto call = Ask(context);
  if (!call.ok()) return call.status();
  auto stream = Admit(context);
  if (!stream.ok()) return stream.status();
  return AdmittedWatcher{*std::move(stream), std::move(call->meter)};
}

absl::Status Gate::Refuse(absl::Status status, const std::string& peer) {
  const char* what = "a call failed";
  if (absl::IsUnauthenticated(status)) {
    metrics_.calls_unauthenticated.fetch_add(1, std::memory_order_relaxed);
    what = "refused a call without a valid token";
  } else if (absl::IsPermissionDenied(status)) {
    metrics_.calls_denied.fetch_add(1, std::memory_order_relaxed);
    what = "refused a call: its token lacks the right";
  } else if (absl::IsResourceExhausted(status)) {
    metrics_.calls_refused_by_limit.fetch_add(1, std::memory_order_relaxed);
    what = "refused a call: a limit is reached";
  }
  log_.WarnRarely(what, absl::Now(), "", {{"peer", HostOfPeer(peer)}});
  return status;
}

}  // namespace tidemark::service
