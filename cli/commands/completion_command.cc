#include "cli/commands.h"
#include "cli/master_call.h"
#include "cli/options.h"
#include "cli/progress.h"

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

}  // namespace

void AddCompletion(CLI::App& root, Invocation& invocation) {
  CLI::App& app = *root.add_subcommand(
      "completion", "Print a completion script for a shell: source <(tidemark completion bash)");
  auto& arguments = ArgumentsOf<CompletionArguments>(app, invocation, Run);
  OneOf({"bash", "fish", "zsh"}, app.add_option("SHELL", arguments.shell, "The shell"))->required();
}

}  // namespace tidemark::cli
