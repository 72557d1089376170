// Declares options with CLI11 and checks their values. An error names the option, its allowed
// values and the given value.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "tidemark/wait_reason.h"

namespace tidemark::cli {

// Returns the arguments of a command, which its options fill in. If the command line names the
// command, `invocation` runs it with these arguments.
template <typename Arguments>
Arguments& ArgumentsOf(CLI::App& app, Invocation& invocation, int (*run)(const Arguments&)) {
  const auto arguments = std::make_shared<Arguments>();
  app.final_callback([arguments, run, &invocation] {
    invocation.arguments = *arguments;
    invocation.run = [arguments, run] { return run(*arguments); };
  });
  return *arguments;
}

// Returns the word, or "empty" if it is empty.
std::string OrEmpty(const std::string& word);

// Restricts the option to these names.
CLI::Option* OneOf(const std::vector<std::string>& names, CLI::Option* option);

// Rejects an empty word, such as the value of an unset shell variable. CLI11 drops empty words from
// lists, and elsewhere an empty word would mean "all".
CLI::Option* NotEmpty(CLI::Option* option);

// Restricts the option to a number from `least` to `most`. The number must be whole if `Number` is
// integral.
template <typename Number>
CLI::Option* Between(Number least, Number most, CLI::Option* option) {
  const auto check = [least, most](const std::string& word) -> std::string {
    Number number = 0;
    if (CLI::detail::lexical_cast(word, number) && number >= least && number <= most) return "";
    const char* kind = std::is_integral_v<Number> ? "whole number" : "number";
    return fmt::format("must be a {} from {} to {}, not {}", kind, least, most, OrEmpty(word));
  };
  return option->check(check, fmt::format("{} to {}", least, most));
}

// Address() restricts the option to the address of a master. NetworkAddress() also excludes unix
// sockets, which connectors in a JVM cannot use.
CLI::Option* Address(CLI::Option* option);
CLI::Option* NetworkAddress(CLI::Option* option);

// Restricts the option to an existing directory.
CLI::Option* Directory(CLI::Option* option);

// Restricts the option to a size of at least one byte and converts it to bytes.
CLI::Option* Size(CLI::Option* option);

// Adds an option that takes a comma-separated list without duplicates.
template <typename Value>
CLI::Option* AddList(CLI::App& app, const char* name, std::vector<Value>& target,
                     const std::string& help) {
  const auto take = [name, &target](const std::vector<Value>& values) {
    std::set<Value> seen;
    for (const Value& value : values) {
      if (seen.insert(value).second) continue;
      throw CLI::ValidationError(fmt::format("{}: {} is given twice; remove one", name, value));
    }
    target = values;
  };
  return app.add_option_function<std::vector<Value>>(name, take, help)->delimiter(',');
}

// Adds an option that takes one of the names in `choices`.
template <typename Value, typename Target>
void AddChoice(CLI::App& app, const char* name, const std::map<std::string, Value>& choices,
               Target& target, const std::string& help) {
  std::vector<std::string> names;
  for (const auto& [choice, value] : choices) names.push_back(choice);
  OneOf(names,
        app.add_option_function<std::string>(
            name, [choices, &target](const std::string& choice) { target = choices.at(choice); },
            help));
}

// Splits KEY=VALUE. Throws CLI::ValidationError for any other word.
std::pair<std::string, std::string> ParseAssignment(const char* option, const std::string& word);

// Adds an option that takes a list of KEY=VALUE, each key once.
CLI::Option* AddAssignments(CLI::App& app, const char* option,
                            std::map<std::string, std::string>& values, const char* help);

// Adds --resource, --host and --last, which restrict a question about waits. `last` is the help of
// --last.
template <typename Question>
void AddWaitFilters(CLI::App& app, Question& question, const char* last) {
  std::map<std::string, WaitReason> reasons;
  for (const WaitReasonInfo& info : kWaitReasonTable) reasons.emplace(info.name, info.reason);
  AddChoice(app, "--resource", reasons, question.resource, "Show only waits for this resource");
  NotEmpty(app.add_option("--host", question.host,
                          "Show only waits on this host; slots belong to no host"));
  const auto take = [&question](unsigned minutes) { question.last = absl::Minutes(minutes); };
  Between(1U, 10U, app.add_option_function<unsigned>("--last", take, last))->type_name("MINUTES");
}
// Returns false and prints an error if the question is about slots of a host.
template <typename Question>
bool CheckWaitFilters(const Question& question) {
  if (question.resource != WaitReason::kSlots || question.host.empty()) return true;
  PrintError("--host: slots belong to no host; omit it, or pass another --resource");
  return false;
}
// Returns true if a subject names a file rather than a job.
bool IsPath(const std::string& subject);

// Adds the options of commands that show progress, compute indicators, or print a result.
void AddProgress(CLI::App& app, ProgressArguments& progress);
// Adds an option or a positional argument for a deadline.
CLI::Option* AddDeadline(CLI::App& app, const std::string& name, std::optional<Deadline>& deadline,
                         const std::string& help);
CLI::Option* AddIndicators(CLI::App& app, std::vector<std::string>& indicators);
void AddFormat(CLI::App& app, TableFormat& format, const char* names = "-o,--output");

// The group of --master and the options for TLS and tokens. --help omits the group and refers to
// `tidemark help connection`.
inline constexpr char kConnectionGroup[] = "Connection";

// Adds the options of kConnectionGroup.
void AddMaster(CLI::App& app, MasterArguments& master);
// Returns the master that the environment variables of these options name.
MasterArguments MasterOfEnvironment();
// Adds only the options for TLS and tokens. They name files, since other users can read the words
// of a command line.
void AddSecurity(CLI::App& app, ClientSecurity& security);
// Returns the text of `tidemark help connection`.
std::string ConnectionHelp();

// Appends text to the end of the command's --help.
void AddFooter(CLI::App& app, const std::string& text);

inline constexpr char kExitCodes[] =
    "Exit code: 0 success, 2 usage error, 3 the master cannot be reached, 5 no such job,\n"
    "6 the master requires a different token or certificate.";

}  // namespace tidemark::cli
