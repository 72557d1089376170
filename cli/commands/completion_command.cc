#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/progress.h"

namespace tidemark::cli {
namespace {

// Where the command knows nothing, the shell completes names of files.
constexpr char kBash[] = R"(_tidemark() {
  local IFS=$'\n'
  COMPREPLY=($(tidemark complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _tidemark tidemark)";
// zsh runs scripts of bash.
constexpr char kZsh[] = R"(whence compdef >/dev/null || { autoload -U compinit && compinit }
autoload -U +X bashcompinit && bashcompinit)";

constexpr char kFish[] =
    R"(complete -c tidemark -a '(tidemark complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)')";

}  // namespace

int Do(const CompletionArguments& arguments) {
  if (arguments.shell == "fish") return WriteLine(stdout, kFish) ? kSuccess : kReaderGone;
  if (arguments.shell == "zsh" && !WriteLine(stdout, kZsh)) return kReaderGone;
  return WriteLine(stdout, kBash) ? kSuccess : kReaderGone;
}

}  // namespace tidemark::cli
