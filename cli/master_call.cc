#include "cli/master_call.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/output.h"
#include "serve/page.h"
#include "text/did_you_mean.h"
#include "transport/channel.h"
#include "transport/listen_address.h"

namespace tidemark::cli {
namespace {

// Returns the fault of the socket file at unix:PATH and a remedy. Returns nullopt for another
// address, and if the file is a socket.
std::optional<std::string> DescribeSocket(const std::string& address) {
  constexpr const char* kScheme = "unix:";
  if (!address.starts_with(kScheme)) return std::nullopt;
  std::string path = address.substr(std::string(kScheme).size());
  if (path.starts_with("//")) path = path.substr(2);
  std::error_code error;
  const std::filesystem::file_status file = std::filesystem::status(path, error);
  switch (file.type()) {
    case std::filesystem::file_type::not_found:
      return fmt::format(
          "no master listens at {}: {} does not exist; start one with `tidemark serve --listen "
          "{}`, "
          "or pass another address with --master",
          address, path, address);
    case std::filesystem::file_type::none:
    case std::filesystem::file_type::unknown:
      return fmt::format(
          "cannot reach {}: {}; ask its owner for access, or pass another address with --master",
          path, error.message());
    case std::filesystem::file_type::socket:
      return std::nullopt;
    default:
      return fmt::format(
          "no master listens at {}: {} is not a socket; pass the socket of a master with "
          "--master",
          address, path);
  }
}

}  // namespace

ExitCode ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kSuccess;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAlreadyExists:
      return kUsage;
    case absl::StatusCode::kNotFound:
      return kNotFound;
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
      return kDenied;
    case absl::StatusCode::kCancelled:
      return kInterrupted;
    default:
      return kMasterUnreachable;
  }
}

ExitCode ExitCodeOfRun(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kSuccess;
    case absl::StatusCode::kCancelled:
      return kInterrupted;
    case absl::StatusCode::kUnavailable:
      return kMasterUnreachable;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
      return kUsage;
    default:
      return kJobFailed;
  }
}

std::string ReasonOf(const absl::Status& status) {
  return transport::PlainReason(std::string(status.message()));
}

std::string DescribeMasterError(const std::string& address, const absl::Status& status) {
  const std::string reason = ReasonOf(status);
  const auto contains = [&](const char* part) { return reason.find(part) != std::string::npos; };
  if (absl::IsUnauthenticated(status) && !contains("requires a token")) {
    return fmt::format("the master at {} rejects the token; pass another with --token-file",
                       address);
  }
  if (absl::IsUnauthenticated(status)) {
    return fmt::format("the master at {} requires a token; pass --token-file", address);
  }
  if (absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status)) return reason;
  if (absl::IsNotFound(status) || absl::IsAlreadyExists(status)) return reason;
  if (absl::IsUnimplemented(status)) {
    return fmt::format("the server at {} is not a Tidemark master, or runs a different version",
                       address);
  }
  if (absl::IsDeadlineExceeded(status)) {
    return fmt::format(
        "the server at {} did not answer in time: it is stopped, hangs, is overloaded, or is not a "
        "master; run `tidemark doctor` on its host, or pass another address with --master",
        address);
  }
  if (!absl::IsUnavailable(status)) return fmt::format("the master at {}: {}", address, reason);
  // A server that waits for a TLS handshake closes the connection of a client without TLS.
  const bool has_answered = contains("stopped retrying after");
  if (contains(transport::kClosed) && !has_answered) {
    return fmt::format(
        "{} closed the connection; the master probably requires TLS (--tls-ca) or a client "
        "certificate (--tls-certificate)",
        address);
  }
  if (contains(transport::kUsesNoTls)) {
    return fmt::format("the server at {} does not use TLS; omit --tls-ca", address);
  }
  if (contains(transport::kUntrusted)) {
    return fmt::format(
        "cannot verify the certificate of the master at {}; check --tls-ca and --tls-server-name",
        address);
  }
  if (contains(transport::kOtherName)) {
    return fmt::format(
        "the certificate of the master at {} is for a different name; pass that name with "
        "--tls-server-name",
        address);
  }
  if (contains(transport::kNoHandshake)) {
    return fmt::format(
        "the server at {} did not complete the TLS handshake: it does not use TLS (omit --tls-ca), "
        "requires a client certificate (--tls-certificate), or hangs",
        address);
  }
  if (contains(transport::kUnknownHost)) {
    return fmt::format("cannot reach the master at {}: {}; check the name in --master", address,
                       reason);
  }
  if (contains(transport::kAnswersOtherwise)) {
    return fmt::format(
        "the server at {} is not a master: it speaks HTTP or another protocol; --master takes the "
        "address that `tidemark serve` prints after \"listening on\" (default port 7411; port 7412 "
        "serves the page)",
        address);
  }
  // The address is in use, so advice to start a master there would be wrong.
  if (contains(transport::kDoesNotAnswer)) {
    return fmt::format(
        "the server at {} does not answer: it is stopped, hangs, or is not a master; run `tidemark "
        "doctor` on its host, or pass another address with --master",
        address);
  }
  if (const auto socket = DescribeSocket(address)) return *socket;
  if (contains("Permission denied")) {
    return fmt::format(
        "cannot connect to {}: {}; ask its owner for access, or pass another address with --master",
        address, reason);
  }
  if (address.starts_with("unix:") && contains("Connection refused")) {
    return fmt::format(
        "no master listens at {} any more; start one with `tidemark serve --listen {}`, or pass "
        "another address with --master",
        address, address);
  }
  return fmt::format(
      "no master answers at {} ({}); start one with `tidemark serve`, or pass another address with "
      "--master",
      address, reason);
}

int AtMaster(const MasterArguments& arguments,
             const std::function<absl::StatusOr<int>(const Client&)>& ask) {
  return AtMaster(arguments, /*subject=*/"", ask);
}

int AtMaster(const MasterArguments& arguments, const std::string& subject,
             const std::function<absl::StatusOr<int>(const Client&)>& ask) {
  const auto master =
      Client::Create({.address = arguments.address, .security = arguments.security});
  const absl::StatusOr<int> exit_code = master.ok() ? ask(**master) : master.status();
  if (exit_code.ok()) return *exit_code;
  const std::string reason = DescribeMasterError(arguments.address, exit_code.status());
  const bool may_be_file = !subject.empty() && absl::IsUnavailable(exit_code.status());
  PrintError(may_be_file ? fmt::format("{} is not a file; {}", subject, reason) : reason);
  return ExitCodeOf(exit_code.status());
}

absl::StatusOr<Explanation> WaitsOf(const std::string& job_id, const std::string& query,
                                    const Client& master, std::stop_token stop) {
  absl::StatusOr<Explanation> waits = master.ExplainJob(job_id, {.query = query}, std::move(stop));
  if (absl::IsUnimplemented(waits.status())) {
    return absl::UnimplementedError("this master does not report them");
  }
  if (!waits.ok()) return absl::Status(waits.status().code(), ReasonOf(waits.status()));
  return waits;
}

namespace {

// Prints the message, with similar or existing ids.
ExitCode ReportMissing(std::string message, const std::string& job_id, const Client& master) {
  std::vector<std::string> names;
  const auto jobs = master.ListJobs();
  if (jobs.ok()) {
    for (const Snapshot& job : *jobs) names.push_back(job.job_id);
    if (names.empty()) message += "; it has no jobs yet";
  }
  const std::string meant = text::DidYouMean(job_id, names);
  if (meant.empty() && !names.empty()) {
    message += "; its jobs: " + text::FewNames(names);
  }
  PrintError(message + meant);
  return kNotFound;
}

}  // namespace

ExitCode NoSuchJob(const std::string& job_id, const Client& master) {
  return ReportMissing(fmt::format("no job {} at {}", job_id, master.address()), job_id, master);
}

ExitCode NoSuchFileOrJob(const std::string& subject, const Client& master) {
  return ReportMissing(
      fmt::format("no file {}, and no job {} at {}", subject, subject, master.address()), subject,
      master);
}

std::string PageOfJob(const ServerInfo& server, const std::string& master_address,
                      const std::string& job_id) {
  for (const std::string& feature : server.features) {
    if (!feature.starts_with(kPageFeature)) continue;
    const std::string url = feature.substr(std::string_view(kPageFeature).size());
    // The URL comes from a remote process and is printed on a terminal.
    for (const char letter : url) {
      if (letter <= ' ' || letter > '~') return "";
    }
    const std::size_t host = url.find("://");
    if (host == std::string::npos || !url.ends_with('/')) return "";
    const std::string address = url.substr(host + 3, url.size() - host - 4);
    if (transport::IsLocalAddress(address) && !transport::IsLocalAddress(master_address)) return "";
    return serve::JobPageUrl(url, job_id);
  }
  return "";
}

std::string PageOfJob(const Client& master, const std::string& job_id) {
  const absl::StatusOr<ServerInfo> server = master.GetServerInfo();
  return server.ok() ? PageOfJob(*server, master.address(), job_id) : "";
}

}  // namespace tidemark::cli
