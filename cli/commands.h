// Declares the commands of the program. Each file in commands/ declares the options of its commands
// and implements them.
#pragma once

#include <any>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "serve/config/serve_config.h"
#include "tidemark/client_security.h"
#include "tidemark/deadline.h"
#include "tidemark/explanation.h"
#include "tidemark/job_query.h"
#include "tidemark/plan.h"
#include "whatif/what_if.h"

namespace CLI {
class App;
}

namespace tidemark::cli {

// A parsed command line.
struct Invocation {
  std::function<int()> run;       // runs the command and returns its exit code
  std::any arguments;             // arguments of the command, which tests read
  std::vector<std::string> rest;  // the words after `--` for a command that runs another program
};

// Text to print instead of running a command: help, the version, or an error.
struct Answer {
  int exit_code = 0;
  std::string out;  // text for standard output
  std::string err;  // text for standard error
};

// Parses the words that main() received. Environment variables replace missing connection options
// (`tidemark help connection`).
std::variant<Invocation, Answer> ParseCommandLine(const std::vector<std::string>& words);

// Completions of the last of the words before the cursor of a shell.
struct Completions {
  std::vector<std::string> words;   // subcommands or options
  std::vector<std::string> values;  // values of the option before it, or jobs of the example engine
  bool takes_job_id = false;        // whether the word may be the id of a job on a master
};
Completions CompletionsOf(const std::vector<std::string>& words);
// Returns true if a shell may insert the id without quotes. Ids come from untrusted peers.
bool IsPlainWord(std::string_view id);
// Returns the words and values of CompletionsOf(), and the ids of jobs on the master of the
// environment.
std::vector<std::string> AllCompletionsOf(const std::vector<std::string>& words);

// Each function declares one command, or a group of commands, below `root`. If the command line
// names a declared command, parsing fills in `invocation`.
void AddAdvise(CLI::App& root, Invocation& invocation);
void AddCompare(CLI::App& root, Invocation& invocation);
void AddCompletion(CLI::App& root, Invocation& invocation);
void AddContention(CLI::App& root, Invocation& invocation);
void AddDemo(CLI::App& root, Invocation& invocation);
void AddDoctor(CLI::App& root, Invocation& invocation);
void AddGet(CLI::App& root, Invocation& invocation);
void AddPlanCommands(CLI::App& root, Invocation& invocation);  // submit, attach, workflow,
                                                               // deadline, forget
void AddProfile(CLI::App& root, Invocation& invocation);
void AddReplay(CLI::App& root, Invocation& invocation);
void AddRun(CLI::App& root, Invocation& invocation);  // run example, run ENGINE, ENGINE conf
void AddServe(CLI::App& root, Invocation& invocation);
void AddWatch(CLI::App& root, Invocation& invocation);
void AddWhatIf(CLI::App& root, Invocation& invocation);
void AddWhy(CLI::App& root, Invocation& invocation);

// How progress is shown. kAuto selects a bar on a terminal, and plain lines elsewhere.
enum class ProgressMode : std::uint8_t { kAuto, kBar, kPlain, kJsonl, kQuiet };
// How a result is printed.
enum class TableFormat : std::uint8_t { kTable, kWide, kJson, kJsonl, kDot };

struct ProgressArguments {
  ProgressMode mode = ProgressMode::kAuto;
  bool compare = false;              // also show the other indicators
  std::optional<Deadline> deadline;  // deadline of the shown job
};

// The master that a command queries.
struct MasterArguments {
  std::string address;
  ClientSecurity security;
};

struct WatchArguments {
  std::string job_id;  // all jobs if empty
  JobFilter filter;    // applies to all jobs
  MasterArguments master;
  ProgressArguments progress;
  absl::Duration timeout = absl::InfiniteDuration();
  bool waits = false;  // waits for a job or a master that does not exist yet
  bool tasks = false;  // shows the running tasks below the bar of one job
};
int Run(const WatchArguments& arguments);

struct ServeArguments {
  std::string config_file;  // none if empty
  std::vector<serve::SettingOverride> overrides;
  bool ends_with_stdin = false;  // also end when standard input is closed
};
// Adds the options that override settings, for `serve` and `doctor`.
void AddServeOptions(CLI::App& app, ServeArguments& arguments);

struct WhatIfArguments {
  std::string subject;  // a plan file, a log, or a job's id
  whatif::Question question;
  std::optional<whatif::Goal> goal;           // goal of a search for settings
  std::map<std::string, std::string> limits;  // limits of the search, by name
  MasterArguments master;
  TableFormat format = TableFormat::kTable;
};

struct AdviseArguments {
  std::vector<std::string> logs;  // Spark event logs, or folders of them
  std::optional<double> space_bytes;
  std::optional<double> read_bytes_per_second;  // estimated from the logs if unset
  TableFormat format = TableFormat::kTable;
};

struct ReplayArguments {
  std::string log;
  double speed = 0;     // multiple of the original speed; 0 means without waiting
  std::string history;  // a folder with history.sqlite; none if empty
  ProgressArguments progress;
};

struct ProfileNodeArguments {
  std::string directory = ".";                     // a directory on the measured disk
  std::uint64_t bytes = std::uint64_t{256} << 20;  // size of the file that is written and read
  std::string peer;                                // host that runs `iperf3 -s`; loopback if empty
  int peer_port = 5201;
  std::string data_dir;  // data directory that stores the result; none if empty
};

}  // namespace tidemark::cli
