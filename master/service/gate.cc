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

absl::StatusOr<Guest> Gate::Admit(const grpc::CallbackServerContext& context) {
  absl::StatusOr<Caller> caller = Identify(context);
  if (!caller.ok()) return caller.status();
  absl::StatusOr<PeerLimit::Place> place = peers_.Enter(context.peer());
  if (!place.ok()) return Refuse(place.status(), context.peer());
  return Guest{*std::move(caller), *std::move(place)};
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
