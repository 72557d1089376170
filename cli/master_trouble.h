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
  if (absl::IsDeadlineExceeded(status)) {
    return fmt::format(
        "what listens at {} does not answer in time: a master that is stopped, hangs or is "
        "overloaded, or something else; see `tidemark doctor` on its host, or name another with "
        "--master",
        address);
  }
  if (!absl::IsUnavailable(status)) return fmt::format("the master at {}: {}", address, reason);
  // A server that waits for a TLS handshake closes the connection of a client without TLS.
  const bool has_answered = says("gave up after");
  if (says(transport::kClosed) && !has_answered) {
    return fmt::format(
        "{} closed the connection; probably the master wants TLS (--tls-ca) or a client "
        "certificate (--tls-certificate)",
        address);
  }
  if (says(transport::kUsesNoTls)) {
    return fmt::format("the server at {} does not use TLS; leave out --tls-ca", address);
  }
  if (says(transport::kUntrusted)) {
    return fmt::format(
        "cannot verify the certificate of the master at {}; check --tls-ca and --tls-server-name",
        address);
  }
  if (says(transport::kOtherName)) {
    return fmt::format(
        "the certificate of the master at {} is for another name; pass its name with "
        "--tls-server-name",
        address);
  }
  if (says(transport::kNoHandshake)) {
    return fmt::format(
        "the server at {} did not complete the TLS handshake: it does not use TLS (leave out "
        "--tls-ca), wants a client certificate (--tls-certificate), or hangs",
        address);
  }
  if (says(transport::kUnknownHost)) {
    return fmt::format("cannot reach the master at {}: {}; check the name in --master", address,
                       reason);
  }
  if (says(transport::kAnswersOtherwise)) {
    return fmt::format(
        "the server at {} is not a master: it answers like a web page or another service; --master "
        "takes the address that `tidemark serve` prints after \"listening on\" (port 7411 by "
        "default; its page has 7412)",
        address);
  }
  // The address is in use: no master can be started there.
  if (says(transport::kDoesNotAnswer)) {
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
