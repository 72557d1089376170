#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <system_error>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/progress.h"
#include "tidemark/master.h"

namespace tidemark::cli {
namespace {

// What running calls may still take after the signal.
constexpr absl::Duration kGrace = absl::Seconds(5);

// Signals that end the service. Blocked from before the first thread starts, so that no thread but
// the one that waits ever takes them.
class EndSignals {
 public:
  EndSignals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }
  void Wait() const {
    int signal = 0;
    sigwait(&signals_, &signal);
    // A second one ends the process at once.
    pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
  }

 private:
  sigset_t signals_;
};

}  // namespace

int Serve(const ServeArguments& arguments) {
  if (const std::string& directory = arguments.master.event_log_dir; !directory.empty()) {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error) {
      Complain(fmt::format("--log-dir {}: {}", directory, error.message()));
      return kUsage;
    }
  }
  const EndSignals signals;
  const auto master = Master::Start(arguments.master);
  if (!master.ok()) {
    Complain(std::string(master.status().message()));
    return absl::IsInvalidArgument(master.status()) ? kUsage : kJobFailed;
  }
  WriteLine(stderr, fmt::format("listening on {}", (*master)->address()));
  signals.Wait();
  WriteLine(stderr, "shutting down");
  (*master)->Shutdown(kGrace);
  return kSuccess;
}

}  // namespace tidemark::cli
