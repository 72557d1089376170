// Parses the command line: the registry of commands, error messages, and completion.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <sstream>
#include <utility>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "cli/commands.h"
#include "cli/engines.h"
#include "cli/master_call.h"
#include "cli/options.h"
#include "examples/local_mapreduce/run.h"
#include "text/did_you_mean.h"

namespace tidemark::cli {
namespace {

// The commands, in the order in which `tidemark --help` lists them.
constexpr void (*kCommands[])(CLI::App&, Invocation&) = {
    AddGet,        AddWatch,   AddPlanCommands, AddWhatIf,  AddWhy,
    AddContention, AddCompare, AddAdvise,       AddReplay,  AddRun,
    AddDemo,       AddServe,   AddDoctor,       AddProfile, AddCompletion};

class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    // CLI11 also prints a separator for an omitted group.
    return absl::StrReplaceAll(CLI::Formatter::make_help(app, std::move(name), mode),
                               {{"\n\n\n", "\n\n"}});
  }
  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    if (group == kConnectionGroup) return "";
    return CLI::Formatter::make_group(std::move(group), is_positional, std::move(options));
  }
  // Sorts the excluded options, which CLI11 orders by their addresses.
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string text = CLI::Formatter::make_option_opts(option);
    const std::string mark = " Excludes:";
    const std::size_t at = text.find(mark);
    if (at == std::string::npos) return text;
    const std::string list = text.substr(at + mark.size());
    std::vector<std::string> names = absl::StrSplit(list, ' ', absl::SkipEmpty());
    std::sort(names.begin(), names.end());
    return fmt::format("{}{} {}", text.substr(0, at), mark, fmt::join(names, " "));
  }
};

void AddVersion(CLI::App& root) {
  const std::string version = fmt::format("tidemark {}", TIDEMARK_VERSION);
  root.set_version_flag("--version", version);
  root.add_subcommand("version", "Print the version")->callback([version] {
    throw CLI::CallForVersion(version, kSuccess);
  });
}

void RejectEmptyArguments(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_positional()) NotEmpty(option);
  }
  for (CLI::App* sub : command.get_subcommands([](CLI::App*) { return true; })) {
    RejectEmptyArguments(*sub);
  }
}

// Returns the innermost command that the words name.
const CLI::App& Innermost(const CLI::App& command) {
  const std::vector<CLI::App*> chosen = command.get_subcommands();
  return chosen.empty() ? command : Innermost(*chosen.front());
}

// Returns the full name of a command, such as "tidemark run hadoop".
std::string FullName(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : FullName(*parent) + " " + command.get_name();
}

std::vector<std::string> SubcommandsOf(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
  }
  return names;
}

bool HasSubcommand(const CLI::App& command, const std::string& name) {
  const std::vector<std::string> names = SubcommandsOf(command);
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> OptionsOf(const CLI::App& command) {
  std::vector<std::string> options;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  }
  return options;
}

// Adds `tidemark help connection`, and `tidemark help COMMAND` for `tidemark COMMAND --help`.
void AddHelp(CLI::App& root) {
  CLI::App& app = *root.add_subcommand("help", "Explain a command, or the topic `connection`");
  const auto topic = std::make_shared<std::vector<std::string>>();
  app.add_option("TOPIC", *topic, "A command, or the topic `connection`");
  app.final_callback([&root, topic] {
    if (*topic == std::vector<std::string>{"connection"}) {
      throw CLI::CallForVersion(ConnectionHelp(), kSuccess);
    }
    CLI::App* command = &root;
    for (const std::string& word : *topic) {
      if (!HasSubcommand(*command, word)) {
        throw CLI::ValidationError(
            fmt::format("no help for {}; see `tidemark --help`", fmt::join(*topic, " ")));
      }
      command = command->get_subcommand(word);
    }
    throw CLI::CallForVersion(command->get_formatter()->make_help(command, FullName(*command),
                                                                  CLI::AppFormatMode::Normal),
                              kSuccess);
  });
}

void AddCommands(CLI::App& root, Invocation& invocation) {
  root.require_subcommand(1);
  root.formatter(std::make_shared<HelpFormatter>());
  for (const auto add : kCommands) add(root, invocation);
  AddHelp(root);
  AddVersion(root);
}

std::string DescribeUnknown(const CLI::App& command, const CLI::App& innermost,
                            const std::string& word) {
  if (word.starts_with("-")) {
    const std::string name = word.substr(0, word.find('='));
    if (&command != &innermost && innermost.get_option_no_throw(name) != nullptr) {
      return fmt::format("{} must follow the command: {} {} ...", name, FullName(innermost), name);
    }
    return fmt::format("unknown option {}{}", name, text::DidYouMean(name, OptionsOf(command)));
  }
  const std::vector<std::string> subcommands = SubcommandsOf(command);
  if (subcommands.empty()) return fmt::format("unexpected argument {}", word);
  if (command.get_parent() == nullptr) {
    // Words of other programs for the same question.
    const bool is_list = word == "jobs" || word == "ls" || word == "list" || word == "ps" ||
                         word == "status" || word == "top";
    if (is_list) return fmt::format("unknown subcommand {}; did you mean get jobs?", word);
  }
  return fmt::format("unknown subcommand {}{}", word, text::DidYouMean(word, subcommands));
}

// Returns the message for an error of CLI11. An unknown word takes precedence, since it is often a
// misspelt form of the missing argument.
std::string Describe(const CLI::App& command, const CLI::ParseError& error) {
  const CLI::App& innermost = Innermost(command);
  for (const CLI::App* app = &innermost; app != nullptr; app = app->get_parent()) {
    const std::vector<std::string> unknown = app->remaining();
    if (!unknown.empty()) return DescribeUnknown(*app, innermost, unknown.front());
  }
  const std::string what = error.what();
  if (what == "A subcommand is required") {
    return fmt::format("a subcommand is missing: {}", fmt::join(SubcommandsOf(innermost), ", "));
  }
  if (error.get_name() == "ExcludesError") {
    return absl::StrReplaceAll(what, {{" excludes ", " cannot be used with "}});
  }
  if (error.get_name() == "ValidationError") {
    return absl::StrReplaceAll(what, {{": must ", " must "}});
  }
  if (error.get_name() == "ArgumentMismatch") {
    const bool is_missing = what.ends_with(" missing");
    return what.substr(0, what.find(':')) + (is_missing ? " needs a value" : " takes one value");
  }
  return what;
}

Answer AnswerTo(const CLI::App& command, const CLI::ParseError& error) {
  std::ostringstream out;
  std::ostringstream err;
  if (command.exit(error, out, err) == 0) return {.exit_code = kSuccess, .out = out.str()};
  return {.exit_code = kUsage,
          .err = fmt::format("tidemark: {}\nSee `{} --help`.\n", Describe(command, error),
                             FullName(Innermost(command)))};
}

// Moves the words after `--` of `run ENGINE` to `rest`, because they must stay unchanged. Returns
// the number of words before `--`.
std::size_t CutCommand(const std::vector<std::string>& words, std::vector<std::string>& rest) {
  const bool runs_engine =
      words.size() >= 3 && words[1] == "run" && FindEngine(words[2]) != nullptr;
  if (!runs_engine) return words.size();
  const auto mark = std::find(words.begin(), words.end(), "--");
  if (mark != words.end()) rest.assign(mark + 1, words.end());
  return static_cast<std::size_t>(mark - words.begin());
}

}  // namespace

std::variant<Invocation, Answer> ParseCommandLine(const std::vector<std::string>& words) {
  CLI::App root("Shows the progress of jobs, predicts their ends, and explains delays.",
                "tidemark");
  Invocation invocation;
  AddCommands(root, invocation);
  RejectEmptyArguments(root);
  std::vector<const char*> argv;
  const std::size_t own_words = CutCommand(words, invocation.rest);
  for (std::size_t i = 0; i < own_words; ++i) argv.push_back(words[i].c_str());
  try {
    root.parse(static_cast<int>(argv.size()), argv.data());
  } catch (const CLI::ParseError& error) {
    return AnswerTo(root, error);
  }
  return invocation;
}

Completions CompletionsOf(const std::vector<std::string>& words) {
  CLI::App root("", "tidemark");
  Invocation invocation;
  AddCommands(root, invocation);
  const CLI::App* command = &root;
  std::string before;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    before = words[i];
    if (HasSubcommand(*command, before)) command = command->get_subcommand(before);
  }
  const std::string prefix = words.empty() ? "" : words.back();
  const auto matching = [&](std::vector<std::string> names) {
    std::erase_if(names, [&](const std::string& name) { return !name.starts_with(prefix); });
    return names;
  };
  if (prefix.starts_with("-")) return {.words = matching(OptionsOf(*command))};
  Completions found = {.words = matching(SubcommandsOf(*command))};
  const CLI::Option* const option =
      before.starts_with("-") ? command->get_option_no_throw(before) : nullptr;
  if (option != nullptr && option->get_items_expected_max() > 0) {
    // The type of an option with choices is "TEXT:{bar,plain}".
    const std::string type = option->get_type_name();
    const std::size_t begin = type.find('{');
    const std::size_t end = type.find('}', begin);
    if (end == std::string::npos) return found;
    found.values = matching(absl::StrSplit(type.substr(begin + 1, end - begin - 1), ','));
    return found;
  }
  if (command->get_name() == "example") found.values = matching(examples::JobNames());
  found.takes_job_id = std::ranges::any_of(command->get_options(), [](const CLI::Option* argument) {
    const std::string name = argument->get_single_name();
    return argument->get_positional() && (name.find("ID") != std::string::npos || name == "RUN");
  });
  return found;
}

}  // namespace tidemark::cli
