// tidemark: see `tidemark --help`.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <variant>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "examples/local_mapreduce/run.h"
#include "serve/library_log.h"

namespace tidemark::cli {
namespace {

// Output that is lost is no success. A reader that has gone wants no more of it, and no word.
int CheckOutput(int exit_code) {
  const int error = FlushOutput();
  if (error == 0 || (exit_code != kSuccess && exit_code != kReaderGone)) return exit_code;
  if (error == EPIPE) return kReaderGone;
  Complain(fmt::format("cannot write to standard output: {}", std::strerror(error)));
  return kJobFailed;
}

int Main(const std::vector<std::string>& words) {
  SurviveClosedPipes();
  const auto parsed = ParseCommandLine(words);
  if (const Answer* answer = std::get_if<Answer>(&parsed)) {
    std::fputs(answer->out.c_str(), stdout);
    std::fputs(answer->err.c_str(), stderr);
    return CheckOutput(answer->exit_code);
  }
  return CheckOutput(
      std::visit([](const auto& arguments) { return Do(arguments); }, std::get<Arguments>(parsed)));
}

}  // namespace
}  // namespace tidemark::cli

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv, argv + argc);
  tidemark::cli::SilenceLibraries();
  // `tidemark worker` is what `tidemark run example` starts for each task; it is not for people.
  if (words.size() > 1 && words[1] == "worker") {
    return tidemark::examples::WorkerMain({words.begin() + 2, words.end()});
  }
  // The hidden command that the script of `tidemark completion` calls.
  if (words.size() > 1 && words[1] == "complete") {
    for (const std::string& word : tidemark::cli::CompletionsOf({words.begin() + 2, words.end()})) {
      std::puts(word.c_str());
    }
    return tidemark::cli::kSuccess;
  }
  return tidemark::cli::Main(words);
}
