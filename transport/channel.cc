#include "transport/channel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <utility>

#include "transport/host_port.h"
#include "transport/listen_address.h"
#include "transport/small_file.h"

namespace tidemark {

ClientSecurity ClientSecurity::FromEnvironment() {
  const auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  return {.ca_file = variable("TIDEMARK_TLS_CA"),
          .certificate_file = variable("TIDEMARK_TLS_CERTIFICATE"),
          .key_file = variable("TIDEMARK_TLS_KEY"),
          .server_name = variable("TIDEMARK_TLS_SERVER_NAME"),
          .token_file = variable("TIDEMARK_TOKEN_FILE")};
}

namespace transport {
namespace {

// Reads a file. Errors are InvalidArgument, since callers could confuse a code such as NotFound
// with an answer of the master.
absl::StatusOr<std::string> ReadOwnFile(const std::string& name) {
  absl::StatusOr<std::string> read = ReadSmallFile(name);
  if (read.ok()) return read;
  return absl::InvalidArgumentError(read.status().message());
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeCredentials(
    const ClientSecurity& security) {
  if (security.certificate_file.empty() != security.key_file.empty()) {
    return absl::InvalidArgumentError(
        "a client certificate and its key go together: pass both --tls-certificate and --tls-key, "
        "or neither");
  }
  if (security.ca_file.empty()) {
    if (!security.certificate_file.empty()) {
      return absl::InvalidArgumentError(
          "a client certificate is used only over TLS: pass --tls-ca too");
    }
    return grpc::InsecureChannelCredentials();
  }
  grpc::SslCredentialsOptions options;
  const std::pair<const std::string*, std::string*> files[] = {
      {&security.ca_file, &options.pem_root_certs},
      {&security.certificate_file, &options.pem_cert_chain},
      {&security.key_file, &options.pem_private_key}};
  for (const auto& [name, contents] : files) {
    if (name->empty()) continue;
    absl::StatusOr<std::string> read = ReadOwnFile(*name);
    if (!read.ok()) return read.status();
    *contents = *std::move(read);
  }
  return grpc::SslCredentials(options);
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannel(const std::string& address,
                                                           const ClientSecurity& security,
                                                           grpc::ChannelArguments arguments) {
  if (const std::string fault = MasterAddressFault(address); !fault.empty()) {
    return absl::InvalidArgumentError(NamedFault("the address of the master", fault));
  }
  auto credentials = MakeCredentials(security);
  if (!credentials.ok()) return credentials.status();
  if (!security.server_name.empty()) arguments.SetSslTargetNameOverride(security.server_name);
  return grpc::CreateCustomChannel(address, *credentials, arguments);
}

absl::Status AddToken(const std::string& address, const ClientSecurity& security,
                      grpc::ClientContext& context) {
  if (security.token_file.empty()) return absl::OkStatus();
  if (security.ca_file.empty() && !IsLocalAddress(address)) {
    return absl::FailedPreconditionError(
        fmt::format("the token is not sent to {} without TLS: pass --tls-ca", address));
  }
  const absl::StatusOr<std::string> text = ReadOwnFile(security.token_file);
  if (!text.ok()) return text.status();
  const absl::StatusOr<std::string> token = ParseToken(*text, security.token_file);
  if (!token.ok()) return token.status();
  context.AddMetadata("authorization", "Bearer " + *token);
  return absl::OkStatus();
}

void AddJob(const std::string& job_id, grpc::ClientContext& context) {
  if (!job_id.empty()) context.AddMetadata("tidemark-job", JobMetadata(job_id));
}

std::string JobMetadata(const std::string& job_id) {
  std::string value;
  for (const char c : job_id) {
    if (c > ' ' && c <= '~' && c != '%') {
      value += c;
    } else {
      fmt::format_to(std::back_inserter(value), "%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return value;
}

absl::StatusOr<std::string> ParseToken(const std::string& text, const std::string& file) {
  std::string token;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (line.empty() || line[0] == '#') continue;
    const bool is_word =
        std::all_of(line.begin(), line.end(), [](char c) { return c > ' ' && c <= '~'; });
    if (!token.empty() || !is_word) {
      return absl::InvalidArgumentError(fmt::format(
          "{} must contain exactly one token: one line of printable ASCII without spaces", file));
    }
    token = line;
  }
  if (token.empty()) return absl::InvalidArgumentError(fmt::format("{} contains no token", file));
  return token;
}

}  // namespace transport

}  // namespace tidemark
