// The program tidemark; see `tidemark --help`.
#include <fmt/format.h>
#include <sys/prctl.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <variant>
#include <vector>

#include "cli/commands.h"
#include "cli/master_call.h"
#include "cli/output.h"
#include "cli/process.h"
#include "examples/local_mapreduce/run.h"
#include "serve/serve_log.h"

namespace tidemark::cli {
namespace {

// Returns `exit_code`, or another exit code if output was lost. A closed pipe is not reported as an
// error.
int CheckOutput(int exit_code) {
  const int error = FlushOutput();
  if (error == 0 || (exit_code != kSuccess && exit_code != kReaderGone)) return exit_code;
  if (error == EPIPE) return kReaderGone;
  PrintError(fmt::format("cannot write to standard output: {}", std::strerror(error)));
  return kJobFailed;
}

// Restores the variable that the script of a wheel sets aside, for commands that this program
// starts.
void RestorePreload() {
  constexpr char kKept[] = "TIDEMARK_LD_PRELOAD";
  if (const char* const kept = std::getenv(kKept)) setenv("LD_PRELOAD", kept, /*replace=*/1);
  unsetenv(kKept);
}

int Main(const std::vector<std::string>& words) {
  SurviveClosedPipes();
  const auto parsed = ParseCommandLine(words);
  if (const Answer* answer = std::get_if<Answer>(&parsed)) {
    std::fputs(answer->out.c_str(), stdout);
    std::fputs(answer->err.c_str(), stderr);
    return CheckOutput(answer->exit_code);
  }
  return WithSignal(CheckOutput(std::get<Invocation>(parsed).run()));
}

}  // namespace
}  // namespace tidemark::cli

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv, argv + argc);
  tidemark::cli::RestorePreload();
  prctl(PR_SET_NAME, "tidemark");  // In a wheel, the process has the name of the loader.
  tidemark::serve::SilenceLibraries();
  // `tidemark run example` starts the hidden command `worker` for each task.
  if (words.size() > 1 && words[1] == "worker") {
    return tidemark::examples::WorkerMain({words.begin() + 2, words.end()});
  }
  // The scripts of `tidemark completion` call the hidden command `complete`.
  if (words.size() > 1 && words[1] == "complete") {
    for (const std::string& word :
         tidemark::cli::AllCompletionsOf({words.begin() + 2, words.end()})) {
      std::puts(word.c_str());
    }
    return tidemark::cli::kSuccess;
  }
  return tidemark::cli::Main(words);
}
