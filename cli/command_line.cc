// The only file that knows the command line library.
#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>
#include <map>
#include <sstream>
#include <utility>

#include "cli/exit_code.h"
#include "tidemark/job_monitor.h"

namespace tidemark::cli {
namespace {

// More worker processes than anybody means to start on one machine.
constexpr std::uint32_t kSlotsMax = 1024;

const std::map<std::string, ProgressMode> kProgressModes = {{"auto", ProgressMode::kAuto},
                                                            {"tty", ProgressMode::kTty},
                                                            {"plain", ProgressMode::kPlain},
                                                            {"json", ProgressMode::kJson},
                                                            {"quiet", ProgressMode::kQuiet}};

const std::map<std::string, examples::OutputKind> kOutputKinds = {
    {"text", examples::OutputKind::kText},
    {"deflate", examples::OutputKind::kDeflate},
    {"count", examples::OutputKind::kCount}};

// An option that takes one of a few names.
template <typename Value>
void AddChoice(CLI::App& app, const char* name, const std::map<std::string, Value>& choices,
               Value& target, const std::string& help) {
  std::vector<std::string> names;
  for (const auto& [choice, value] : choices) names.push_back(choice);
  app.add_option_function<std::string>(
         name, [&choices, &target](const std::string& choice) { target = choices.at(choice); },
         help)
      ->check(CLI::IsMember(names));
}

void AddProgress(CLI::App& app, ProgressArguments& progress) {
  AddChoice(app, "--progress", kProgressModes, progress.mode,
            "How to show it; auto: a bar on a terminal, lines elsewhere");
  app.add_flag("--compare", progress.compare, "Show the other indicators, too");
}

CLI::Option* AddIndicators(CLI::App& app, std::vector<std::string>& indicators) {
  return app.add_option("--indicator", indicators, "Indicators to compute, the one to show first")
      ->expected(1, -1)
      ->check(CLI::IsMember(KnownIndicators()));
}

CLI::Option* AddMaster(CLI::App& app, std::string& master) {
  master = kDefaultMaster;
  return app.add_option("--master", master, "host:port or unix:PATH of the master")
      ->envname("TIDEMARK_MASTER")
      ->capture_default_str();
}

void AddParameter(const std::string& word, std::map<std::string, std::string>& parameters) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw CLI::ValidationError("--set", word + " is not of the form key=value");
  }
  parameters[word.substr(0, equals)] = word.substr(equals + 1);
}

std::string JobsHelp() {
  std::string help = "Jobs:\n";
  for (const std::string& job : examples::JobNames()) {
    help += fmt::format("  {}\n", job);
    std::istringstream lines(examples::DescribeJob(job));
    for (std::string line; std::getline(lines, line);) help += fmt::format("    {}\n", line);
  }
  return help;
}

void AddRun(CLI::App& command, RunArguments& arguments) {
  CLI::App& app = *command.add_subcommand("run", "Run a job of the example MapReduce engine");
  examples::RunOptions& job = arguments.job;
  app.footer(JobsHelp);
  app.add_option("JOB", job.job, "Which job; see below")->required();
  app.add_option("--input", job.inputs, "Files to read, plain or .zst")
      ->required()
      ->expected(1, -1)
      ->type_name("FILE");
  app.add_option("--output", job.output_dir, "Directory for the result; without it none is kept")
      ->type_name("DIR");
  app.add_option("--job-id", job.job_id,
                 "Id of this run; made from the job and the time unless told");
  AddChoice(app, "--output-format", kOutputKinds, job.output,
            "What becomes of the result; count: only counted");
  app.add_option("--slots", job.slots, "Tasks that run at once")
      ->required()
      ->check(CLI::Range(1U, kSlotsMax));
  app.add_option("--reducers", job.reduce_task_count, "Reduce tasks")
      ->required()
      ->check(CLI::Range(1U, job.master_options.job.limits.reduce_tasks_max));
  app.add_option("--maps", job.map_task_count, "Map tasks; 0: by the size of the input");
  app.add_option_function<std::vector<std::string>>(
         "--set",
         [&job](const std::vector<std::string>& words) {
           for (const std::string& word : words) AddParameter(word, job.parameters);
         },
         "Parameters of the job")
      ->expected(1, -1)
      ->type_name("KEY=VALUE");
  CLI::Option* master = app.add_option("--master", job.master_address,
                                       "Report to this master instead of one inside the process");
  app.add_option("--log-dir", job.master_options.event_log_dir,
                 "Write the event log of the job into this directory, for `tidemark replay`")
      ->type_name("DIR")
      ->excludes(master);
  app.add_flag_callback(
         "--no-agent", [&job] { job.agent_enabled = false; }, "Run the job without reporting on it")
      ->excludes(master);
  AddProgress(app, arguments.progress);
  AddIndicators(app, job.master_options.job.indicators)->excludes(master);
}

void AddServe(CLI::App& command, ServeArguments& arguments) {
  CLI::App& app = *command.add_subcommand("serve", "Be a master for any number of jobs");
  MasterOptions& master = arguments.master;
  master.listen_address = kDefaultMaster;
  app.add_option("--listen", master.listen_address, "host:port or unix:PATH")
      ->capture_default_str();
  app.add_option("--log-dir", master.event_log_dir,
                 "Write the event log of each job into this directory")
      ->type_name("DIR");
  app.add_flag("--allow-insecure-remote", master.allow_insecure_remote,
               "Listen on other than local addresses, although nothing is encrypted");
  AddIndicators(app, master.job.indicators);
}

void AddJobs(CLI::App& command, JobsArguments& arguments) {
  CLI::App& app = *command.add_subcommand("jobs", "List the jobs of a master");
  AddMaster(app, arguments.master);
  app.add_flag("--json", arguments.json, "A snapshot in JSON for each job, one per line");
}

void AddWatch(CLI::App& command, WatchArguments& arguments) {
  CLI::App& app = *command.add_subcommand("watch", "Watch a job of a master until it ends");
  app.add_option("JOB", arguments.job_id, "Id of the job; see `tidemark jobs`")->required();
  AddMaster(app, arguments.master);
  AddProgress(app, arguments.progress);
  app.footer(
      "Exit code: 0 the job succeeded, 1 it did not, 2 there is no such job, 3 the master cannot\n"
      "be reached.");
}

double ParseSpeed(const std::string& word) {
  if (word == "max") return 0;
  char* end = nullptr;
  const double speed = std::strtod(word.c_str(), &end);
  if (end == word.c_str() || *end != '\0' || !std::isfinite(speed) || speed <= 0) {
    throw CLI::ValidationError("--speed", word + " is neither a number above zero nor max");
  }
  return speed;
}

void AddReplay(CLI::App& command, ReplayArguments& arguments) {
  CLI::App& app = *command.add_subcommand("replay", "Show a job again from its event log");
  app.add_option("LOG", arguments.log, "The event log")->required();
  app.add_option_function<std::string>(
         "--speed", [&arguments](const std::string& word) { arguments.speed = ParseSpeed(word); },
         "Times as fast as it was; max (unless told): without waiting")
      ->type_name("N|max");
  AddProgress(app, arguments.progress);
  app.footer("Exit code: 0 the log was shown, 2 it cannot be read, 4 its end is torn.");
}

// Everything that can be asked for, to be filled in by the words.
struct AllArguments {
  RunArguments run;
  ServeArguments serve;
  JobsArguments jobs;
  WatchArguments watch;
  ReplayArguments replay;
};

Arguments Chosen(const CLI::App& command, AllArguments&& all) {
  if (command.got_subcommand("run")) return std::move(all.run);
  if (command.got_subcommand("serve")) return std::move(all.serve);
  if (command.got_subcommand("jobs")) return std::move(all.jobs);
  if (command.got_subcommand("watch")) return std::move(all.watch);
  return std::move(all.replay);
}

Answer AnswerTo(const CLI::App& command, const CLI::ParseError& error) {
  std::ostringstream out;
  std::ostringstream err;
  const bool is_fault = command.exit(error, out, err) != 0;
  return {.exit_code = is_fault ? kUsage : kSuccess, .out = out.str(), .err = err.str()};
}

}  // namespace

std::variant<Arguments, Answer> ParseCommandLine(const std::vector<std::string>& words) {
  CLI::App command("How far MapReduce jobs are, when they will end, and why then.", "tidemark");
  command.set_version_flag("--version", fmt::format("tidemark {}", TIDEMARK_VERSION));
  command.require_subcommand(1);
  AllArguments all;
  AddRun(command, all.run);
  AddServe(command, all.serve);
  AddJobs(command, all.jobs);
  AddWatch(command, all.watch);
  AddReplay(command, all.replay);
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  try {
    command.parse(static_cast<int>(argv.size()), argv.data());
  } catch (const CLI::ParseError& error) {
    return AnswerTo(command, error);
  }
  return Chosen(command, std::move(all));
}

}  // namespace tidemark::cli
