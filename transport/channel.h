// What a client needs to call a master: channel credentials and the token of each call.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tidemark/client_security.h"

namespace tidemark::transport {

// A channel to `address` (host:port or unix:PATH), whose files are read now, without waiting. An
// error names the file, the field that lacks another, or what is wrong with the address.
absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannel(const std::string& address,
                                                           const ClientSecurity& security,
                                                           grpc::ChannelArguments arguments);

// Adds the token, read now, to the call's metadata; without a token file nothing.
// FailedPrecondition: it would go to another host in the clear. No message holds the token.
absl::Status AddToken(const std::string& address, const ClientSecurity& security,
                      grpc::ClientContext& context);

// Names the job that a call is about, for proxies that route by it (docs/scale.md), as the metadata
// "tidemark-job". An empty id is none.
void AddJob(const std::string& job_id, grpc::ClientContext& context);
// What is sent: each byte that is no visible ASCII character, and "%", is %XX.
std::string JobMetadata(const std::string& job_id);

// The token in `text`: its only line that is neither empty nor a comment (#). `file` is for
// messages.
absl::StatusOr<std::string> ParseToken(const std::string& text, const std::string& file);

}  // namespace tidemark::transport
