#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "cli/commands.h"
#include "cli/master_call.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "tidemark/client.h"

namespace tidemark::cli {
namespace {

// The shell completes file names for which the command offers no completions.
constexpr char kBash[] = R"(_tidemark() {
  local IFS=$'\n'
  COMPREPLY=($(tidemark complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _tidemark tidemark)";
// bashcompinit runs the script for bash.
constexpr char kZsh[] = R"(whence compdef >/dev/null || { autoload -U compinit && compinit }
autoload -U +X bashcompinit && bashcompinit)";

constexpr char kFish[] =
    R"(complete -c tidemark -a '(tidemark complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)')";

struct CompletionArguments {
  std::string shell;  // bash, fish or zsh
};

int Run(const CompletionArguments& arguments) {
  if (arguments.shell == "fish") return WriteLine(stdout, kFish) ? kSuccess : kReaderGone;
  if (arguments.shell == "zsh" && !WriteLine(stdout, kZsh)) return kReaderGone;
  return WriteLine(stdout, kBash) ? kSuccess : kReaderGone;
}

// A shell waits for its completions.
constexpr absl::Duration kAnswerWithin = absl::Milliseconds(500);

}  // namespace

bool IsPlainWord(std::string_view id) {
  static constexpr std::string_view kPlain = "_-./:@+,=";
  return !id.starts_with('-') && std::ranges::all_of(id, [](char each) {
    return absl::ascii_isalnum(static_cast<unsigned char>(each)) ||
           kPlain.find(each) != std::string_view::npos;
  });
}

std::vector<std::string> AllCompletionsOf(const std::vector<std::string>& words) {
  Completions completions = CompletionsOf(words);
  std::vector<std::string> found = std::move(completions.words);
  for (std::string& value : completions.values) found.push_back(std::move(value));
  if (!completions.takes_job_id) return found;
  const MasterArguments arguments = MasterOfEnvironment();
  const auto master = Client::Create({.address = arguments.address,
                                      .security = arguments.security,
                                      .answer_within = kAnswerWithin});
  const auto jobs = master.ok() ? (*master)->ListJobs() : master.status();
  if (!jobs.ok()) return found;
  for (const Snapshot& job : *jobs) {
    if (job.job_id.starts_with(words.back()) && IsPlainWord(job.job_id)) {
      found.push_back(job.job_id);
    }
  }
  return found;
}

void AddCompletion(CLI::App& root, Invocation& invocation) {
  CLI::App& app = *root.add_subcommand(
      "completion", "Print a completion script for a shell: source <(tidemark completion bash)");
  auto& arguments = ArgumentsOf<CompletionArguments>(app, invocation, Run);
  OneOf({"bash", "fish", "zsh"}, app.add_option("SHELL", arguments.shell, "The shell"))->required();
}

}  // namespace tidemark::cli
