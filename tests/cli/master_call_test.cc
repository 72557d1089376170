// Tests the errors of calls to a master, and the messages and exit codes of the process.
#include "cli/master_call.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "absl/status/status.h"
#include "cli/process.h"
#include "tests/scratch_directory.h"
#include "tests/test.h"

namespace tidemark::cli::master_call_test {
namespace {

using testing::StartsWith;

std::string PageAt(const std::string& feature, const std::string& master = "127.0.0.1:7411",
                   const std::string& job_id = "job-1") {
  return PageOfJob({.features = {"other", feature}}, master, job_id);
}

TEST(PageOfJob, ReturnsTheAddressOfTheJob) {
  EXPECT_EQ(PageAt("page=http://127.0.0.1:7412/"), "http://127.0.0.1:7412/#/jobs/job-1");
  EXPECT_EQ(PageAt("page=http://127.0.0.1:7412/", "127.0.0.1:7411", "a/b c?"),
            "http://127.0.0.1:7412/#/jobs/a%2Fb%20c%3F");
  EXPECT_EQ(PageAt("page=https://progress.example:443/", "progress.example:7411"),
            "https://progress.example:443/#/jobs/job-1");
}

TEST(PageOfJob, IsEmptyWithoutAReachablePage) {
  EXPECT_EQ(PageAt("deadlines"), "");
  EXPECT_EQ(PageAt("page="), "");
  EXPECT_EQ(PageAt("page=http://\x1b[2J/"), "");
  EXPECT_EQ(PageAt("page=http://127.0.0.1:7412/", "far.example:7411"), "")
      << "a loopback address there is another one here";
}

TEST(DescribeMasterError, NamesTheOptionThatHelps) {
  const auto text = [](const absl::Status& status) { return DescribeMasterError("m:1", status); };
  EXPECT_EQ(text(absl::UnauthenticatedError("this master requires a token: send the metadata")),
            "the master at m:1 requires a token; pass --token-file");
  EXPECT_EQ(text(absl::UnauthenticatedError("this master rejects the token")),
            "the master at m:1 rejects the token; pass another with --token-file");
  EXPECT_EQ(text(absl::UnavailableError("last error: UNKNOWN: Socket closed")),
            "m:1 closed the connection; the master probably requires TLS (--tls-ca) or a client "
            "certificate (--tls-certificate)");
  EXPECT_EQ(text(absl::UnavailableError("last error: SSL routines::wrong version number")),
            "the server at m:1 does not use TLS; omit --tls-ca");
  EXPECT_EQ(text(absl::InvalidArgumentError("pass both --tls-certificate and --tls-key")),
            "pass both --tls-certificate and --tls-key");
  EXPECT_EQ(
      text(absl::UnavailableError("failed to connect to all addresses; last error: UNKNOWN: "
                                  "ipv4:127.0.0.1:1: connection attempt timed out before "
                                  "receiving SETTINGS frame")),
      "the server at m:1 does not answer: it is stopped, hangs, or is not a master; run `tidemark "
      "doctor` on its host, or pass another address with --master");
  EXPECT_THAT(text(absl::UnavailableError("last error: Connection refused")),
              StartsWith("no master answers at m:1 (Connection refused); start one"));
  EXPECT_THAT(
      text(absl::UnavailableError("it closed the connection; stopped retrying after 60 s")),
      StartsWith(
          "no master answers at m:1 (it closed the connection; stopped retrying after 60 s)"));
  EXPECT_EQ(text(absl::UnavailableError("failed to connect to all addresses; last error: UNKNOWN: "
                                        "ipv4:127.0.0.1:1: Trying to connect an http1.x server")),
            "the server at m:1 is not a master: it speaks HTTP or another protocol; --master takes "
            "the address that `tidemark serve` prints after \"listening on\" (default port 7411; "
            "port 7412 serves the page)");
  EXPECT_EQ(text(absl::UnavailableError("DNS resolution failed for m:1: C-ares status is not "
                                        "ARES_SUCCESS qtype=A name=m is_balancer=0: Domain name "
                                        "not found")),
            "cannot reach the master at m:1: its host name cannot be resolved (Domain name not "
            "found); check the name in --master");
  EXPECT_EQ(text(absl::UnavailableError("failed to connect to all addresses; last error: UNKNOWN: "
                                        "ipv4:127.0.0.1:1: Hostname Verification Check failed.")),
            "the certificate of the master at m:1 is for a different name; pass that name with "
            "--tls-server-name");
  EXPECT_EQ(
      text(absl::DeadlineExceededError("Deadline Exceeded")),
      "the server at m:1 did not answer in time: it is stopped, hangs, is overloaded, or is not a "
      "master; run `tidemark doctor` on its host, or pass another address with --master");
  EXPECT_EQ(text(absl::UnimplementedError("")),
            "the server at m:1 is not a Tidemark master, or runs a different version");
}

TEST(DescribeMasterError, NamesTheFaultOfASocket) {
  const test::ScratchDirectory folder;
  const auto at = [](const std::string& path, const char* reason) {
    return DescribeMasterError("unix:" + path, absl::UnavailableError(reason));
  };
  const std::string none = folder / "none";
  EXPECT_EQ(at(none, "last error: No such file or directory"),
            "no master listens at unix:" + none + ": " + none +
                " does not exist; start one with `tidemark serve --listen unix:" + none +
                "`, or pass another address with --master");
  EXPECT_EQ(at(folder.path(), "last error: Connection refused"),
            "no master listens at unix:" + folder.path() + ": " + folder.path() +
                " is not a socket; pass the socket of a master with --master");
  const std::string gone = folder / "gone";
  sockaddr_un socket_address = {.sun_family = AF_UNIX, .sun_path = {}};
  ASSERT_LT(gone.size(), sizeof(socket_address.sun_path));
  gone.copy(socket_address.sun_path, gone.size());
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(
      bind(listener, reinterpret_cast<const sockaddr*>(&socket_address), sizeof(socket_address)),
      0);
  close(listener);
  EXPECT_EQ(at(gone, "last error: Connection refused"),
            "no master listens at unix:" + gone +
                " any more; start one with `tidemark serve --listen unix:" + gone +
                "`, or pass another address with --master");
  EXPECT_EQ(
      at(gone, "last error: Permission denied"),
      "cannot connect to unix:" + gone +
          ": Permission denied; ask its owner for access, or pass another address with --master");
}

TEST(ExitCodeOf, DependsOnTheStatusOfTheMaster) {
  EXPECT_EQ(ExitCodeOf(absl::UnavailableError("")), kMasterUnreachable);
  EXPECT_EQ(ExitCodeOf(absl::DeadlineExceededError("")), kMasterUnreachable);
  EXPECT_EQ(ExitCodeOf(absl::NotFoundError("")), kNotFound);
  EXPECT_EQ(ExitCodeOf(absl::UnauthenticatedError("")), kDenied);
  EXPECT_EQ(ExitCodeOf(absl::PermissionDeniedError("")), kDenied);
  EXPECT_EQ(ExitCodeOf(absl::FailedPreconditionError("")), kUsage);
}

TEST(RaiseDescriptorLimit, RaisesTheLimitToItsMaximum) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = 100;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  RaiseDescriptorLimit();
  rlimit raised{};
  getrlimit(RLIMIT_NOFILE, &raised);
  EXPECT_EQ(raised.rlim_cur, limit.rlim_max);
}

}  // namespace
}  // namespace tidemark::cli::master_call_test
