// Client channels to a master: credentials, and the token of each call.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tidemark/client_security.h"

namespace tidemark::transport {

// Replacements for messages of gRPC, its TLS library and its resolver.
inline constexpr char kAnswersOtherwise[] =
    "the server there answers, but not as a Tidemark master";
inline constexpr char kDoesNotAnswer[] =
    "a server listens there, but does not answer as a Tidemark master";
inline constexpr char kUnknownHost[] = "its host name cannot be resolved";
inline constexpr char kUsesNoTls[] = "it does not use TLS";
inline constexpr char kUntrusted[] = "its certificate cannot be verified";
inline constexpr char kOtherName[] = "its certificate is for a different name";
inline constexpr char kNoHandshake[] = "it did not complete the TLS handshake";
inline constexpr char kClosed[] = "it closed the connection";
inline constexpr char kNoAnswer[] = "it did not answer in time";

// Returns the cause of a failed call, extracted from gRPC's message. Replaces messages of the
// libraries, and keeps the system's own message, which gRPC puts last. A message from a master is
// returned unchanged.
inline std::string PlainReason(const std::string& grpc_message) {
  const struct {
    std::string_view words;
    const char* plain;
  } phrases[] = {{"Trying to connect an http1.x server", kAnswersOtherwise},
                 {"Failed parsing HTTP/2", kAnswersOtherwise},
                 {"missing selected ALPN", kAnswersOtherwise},
                 {"SETTINGS frame", kDoesNotAnswer},
                 {"wrong version number", kUsesNoTls},
                 {"WRONG_VERSION_NUMBER", kUsesNoTls},
                 {"certificate verify failed", kUntrusted},
                 {"CERTIFICATE_VERIFY_FAILED", kUntrusted},
                 {"Hostname Verification Check failed", kOtherName},
                 {"is not in peer certificate", kOtherName},
                 {"Handshake read failed", kNoHandshake},
                 {"Socket closed", kClosed},
                 {"recvmsg:Connection reset by peer", kClosed},
                 {"Connection reset by peer", kClosed},
                 {"Broken pipe", kClosed},
                 {"Stream removed", kClosed},
                 {"GOAWAY received", kClosed},
                 {"keepalive watchdog timeout", kNoAnswer},
                 {"Deadline Exceeded", kNoAnswer}};
  const bool is_wrapped = grpc_message.find("last error") != std::string::npos;
  const auto says = [&](std::string_view words) {
    return is_wrapped ? grpc_message.find(words) != std::string::npos
                      : grpc_message.starts_with(words);
  };
  const std::size_t last = grpc_message.rfind(": ");
  const std::string end = last == std::string::npos ? grpc_message : grpc_message.substr(last + 2);
  if (says("DNS resolution failed") || says("errors resolving") || says("C-ares")) {
    return std::string(kUnknownHost) + " (" + end.substr(0, end.find(']')) + ")";
  }
  for (const auto& [words, plain] : phrases) {
    if (says(words)) return plain;
  }
  return is_wrapped ? end : grpc_message;
}

// Returns a channel to `address` (host:port or unix:PATH). Reads the files of `security`
// immediately and does not block. An error names the file, the field that requires another field,
// or the problem with the address.
absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannel(const std::string& address,
                                                           const ClientSecurity& security,
                                                           grpc::ChannelArguments arguments);

// If there is a token file, reads the token and adds it to the call's metadata. Fails with
// FailedPrecondition if the token would be sent to another host in plain text. Error messages never
// contain the token.
absl::Status AddToken(const std::string& address, const ClientSecurity& security,
                      grpc::ClientContext& context);

// Adds the job of a call as metadata "tidemark-job", unless the ID is empty. Proxies use it for
// routing (docs/scale.md).
void AddJob(const std::string& job_id, grpc::ClientContext& context);
// Returns the ID with "%", and each byte that is not a visible ASCII character, encoded as %XX.
std::string JobMetadata(const std::string& job_id);

// Returns the token in `text`, which is the only line that is neither empty nor a comment (#).
// Error messages name `file`.
absl::StatusOr<std::string> ParseToken(const std::string& text, const std::string& file);

// Returns the time at which the first certificate of the file expires. Fails if the file cannot be
// read or is not PEM, or if the certificate is not valid at `now`. The error message begins with
// the file's name.
absl::StatusOr<absl::Time> CertificateEnd(const std::string& file, absl::Time now);

// Returns the name for which clients would request the file's first certificate: the first DNS
// name, or else the common name, or else an empty string. Fails like CertificateEnd().
absl::StatusOr<std::string> CertificateName(const std::string& file);

// Checks that `key_file` contains a PEM private key that has no password and belongs to the
// certificate. Error messages never quote a file.
absl::Status CheckKey(const std::string& certificate_file, const std::string& key_file);

}  // namespace tidemark::transport
