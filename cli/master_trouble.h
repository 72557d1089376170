// Messages for calls to a master that failed.
#pragma once

#include <fmt/format.h>

#include <string>

#include "absl/status/status.h"
#include "cli/socket_trouble.h"
#include "transport/reason.h"

namespace tidemark::cli {

inline std::string ReasonOf(const absl::Status& status) {
  return transport::PlainReason(std::string(status.message()));
}

// Why the master at the address did not do what it was asked for, and what to do.
inline std::string DescribeMasterTrouble(const std::string& address, const absl::Status& status) {
  const std::string reason = ReasonOf(status);
  const auto says = [&](const char* part) { return reason.find(part) != std::string::npos; };
  if (absl::IsUnauthenticated(status) && says("does not know")) {
    return fmt::format("the master at {} does not know the token; pass another with --token-file",
                       address);
  }
  if (absl::IsUnauthenticated(status)) {
    return fmt::format("the master at {} requires a token; pass --token-file", address);
  }
  // The flags that this command was given.
  if (absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status)) return reason;
  const bool is_refused = absl::IsNotFound(status) || absl::IsAlreadyExists(status);
  if (is_refused) return reason;
  if (absl::IsUnimplemented(status)) {
    return fmt::format("what answers at {} is of another version, or no Tidemark master", address);
  }
  if (!absl::IsUnavailable(status)) return fmt::format("the master at {}: {}", address, reason);
  // What a server that waits for a TLS handshake does with a client that does not begin one.
  const bool has_answered = says("gave up after");
  if (says("Socket closed") && !has_answered) {
    return fmt::format("{} closed the connection; probably the master wants TLS (--tls-ca)",
                       address);
  }
  if (says("wrong version number")) {
    return fmt::format("the server at {} does not use TLS; leave out --tls-ca", address);
  }
  if (says("certificate verify failed")) {
    return fmt::format(
        "cannot verify the certificate of the master at {}; check --tls-ca and --tls-server-name",
        address);
  }
  // The address is in use: no master can be started there.
  if (says("something listens there")) {
    return fmt::format(
        "what listens at {} does not answer: a master that is stopped or hangs, or something else; "
        "see `tidemark doctor` on its host, or name another with --master",
        address);
  }
  if (const auto socket = DescribeSocket(address)) return *socket;
  if (says("Permission denied")) {
    return fmt::format(
        "you may not connect to {}: {}; ask its owner, or name another with --master", address,
        reason);
  }
  if (address.starts_with("unix:") && says("Connection refused")) {
    return fmt::format(
        "no master listens at {} any more; start one with `tidemark serve --listen {}` or name "
        "another with --master",
        address, address);
  }
  return fmt::format(
      "no master answers at {} ({}); start one with `tidemark serve` or name another with --master",
      address, reason);
}

}  // namespace tidemark::cli
