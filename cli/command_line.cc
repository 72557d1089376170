// The only file that knows the command line library.
#include "cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "cli/exit_code.h"
#include "serve/config/settings.h"
#include "text/counted.h"
#include "text/did_you_mean.h"
#include "text/size_text.h"
#include "tidemark/job_monitor.h"
#include "transport/host_port.h"

namespace tidemark::cli {
namespace {

// More worker processes than make sense on one machine.
constexpr std::uint32_t kSlotsMax = 1024;

const std::map<std::string, ProgressMode> kProgressModes = {{"auto", ProgressMode::kAuto},
                                                            {"bar", ProgressMode::kBar},
                                                            {"plain", ProgressMode::kPlain},
                                                            {"jsonl", ProgressMode::kJsonl},
                                                            {"quiet", ProgressMode::kQuiet}};

const std::map<std::string, TableFormat> kTableFormats = {{"table", TableFormat::kTable},
                                                          {"wide", TableFormat::kWide},
                                                          {"json", TableFormat::kJson},
                                                          {"jsonl", TableFormat::kJsonl}};

const std::map<std::string, SchedulingPolicy> kPolicies = {
    {"fifo", SchedulingPolicy::kFifo},
    {"fair", SchedulingPolicy::kFair},
    {"drf", SchedulingPolicy::kDrf},
    {"capacity", SchedulingPolicy::kCapacity}};

const std::map<std::string, examples::OutputKind> kOutputKinds = {
    {"text", examples::OutputKind::kText},
    {"deflate", examples::OutputKind::kDeflate},
    {"count", examples::OutputKind::kCount}};

// The checks below return what is wrong with the word, to stand behind the name of the option.

std::string OrEmpty(const std::string& word) { return word.empty() ? "empty" : word; }

// The option takes one of these.
CLI::Option* OneOf(const std::vector<std::string>& names, CLI::Option* option) {
  const auto check = [names](const std::string& word) -> std::string {
    if (std::find(names.begin(), names.end(), word) != names.end()) return "";
    return fmt::format("must be {}, not {}{}", text::AnyOf(names), OrEmpty(word),
                       text::DidYouMean(word, names));
  };
  return option->check(check, fmt::format("{{{}}}", fmt::join(names, ",")));
}

// The option takes no empty words. Such a word, as of a shell's variable that is not set, would be
// dropped from a list by the command line library, and mean "all" elsewhere.
CLI::Option* NotEmpty(CLI::Option* option) {
  const auto check = [](const std::string& word) -> std::string {
    return word.empty() ? "must not be empty; probably a variable is not set" : "";
  };
  return option->check(check, "");
}

// The option takes a number, a whole one unless `least` and `most` are of type double.
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

// The option takes the address of a master.
CLI::Option* Address(CLI::Option* option) {
  const auto check = [](const std::string& word) { return transport::MasterAddressFault(word); };
  return option->check(check, "")->type_name("HOST:PORT");
}

// The same of a master that a connector reports to.
CLI::Option* NetworkAddress(CLI::Option* option) {
  const auto check = [](const std::string& word) -> std::string {
    if (!word.starts_with("unix:") && !word.starts_with("unix-abstract:")) return "";
    return fmt::format("must be host:port, not {}: connectors in a JVM know no unix sockets", word);
  };
  return Address(option->check(check, ""));
}

// The option takes a directory that is there.
CLI::Option* Directory(CLI::Option* option) {
  const auto check = [](const std::string& path) -> std::string {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) return "";
    if (std::filesystem::exists(path, ignored)) return path + " is not a directory";
    return fmt::format("there is no directory {}", path);
  };
  return NotEmpty(option)->check(check, "")->type_name("DIR");
}

// What the command line asks for, once it is known.
using Choice = std::optional<Arguments>;

// The arguments of a command, filled in by its options; chosen if the words name the command.
template <typename T>
T& ArgumentsOf(CLI::App& app, Choice& choice) {
  const auto arguments = std::make_shared<T>();
  app.final_callback([arguments, &choice] { choice = std::move(*arguments); });
  return *arguments;
}

// An option that takes a list with commas in between, of which each value stands once.
template <typename Value>
CLI::Option* AddList(CLI::App& app, const char* name, std::vector<Value>& target,
                     const std::string& help) {
  const auto take = [name, &target](const std::vector<Value>& values) {
    std::set<Value> seen;
    for (const Value& value : values) {
      if (seen.insert(value).second) continue;
      throw CLI::ValidationError(fmt::format("{}: {} is there twice; leave one out", name, value));
    }
    target = values;
  };
  return app.add_option_function<std::vector<Value>>(name, take, help)->delimiter(',');
}

// An option that takes one of a few names.
template <typename Value, typename Target>
void AddChoice(CLI::App& app, const char* name, const std::map<std::string, Value>& choices,
               Target& target, const std::string& help) {
  std::vector<std::string> names;
  for (const auto& [choice, value] : choices) names.push_back(choice);
  OneOf(names,
        app.add_option_function<std::string>(
            name, [&choices, &target](const std::string& choice) { target = choices.at(choice); },
            help));
}

void AddProgress(CLI::App& app, ProgressArguments& progress) {
  AddChoice(app, "-o,--output", kProgressModes, progress.mode,
            "How to show progress [auto: a bar on a terminal, plain lines elsewhere]");
  app.add_flag(
      "--compare", progress.compare,
      "Also show the indicators from the literature, with a remote master those that it computes, "
      "and at the end how wrong each was");
  app.add_option_function<std::string>(
         "--deadline",
         [&progress](const std::string& word) {
           const absl::StatusOr<Deadline> deadline = ParseDeadline(word);
           if (!deadline.ok()) {
             throw CLI::ValidationError(
                 fmt::format("--deadline {}", std::string(deadline.status().message())));
           }
           progress.deadline = *deadline;
         },
         "When it has to have ended, such as 07:30 or 2h30m from its start: how likely it is late "
         "is "
         "shown")
      ->type_name("WHEN");
}

CLI::Option* AddIndicators(CLI::App& app, std::vector<std::string>& indicators) {
  return OneOf(KnownIndicators(), app.add_option("--indicator", indicators,
                                                 "Indicators to compute, the main one first")
                                      ->expected(1, -1));
}

void AddFormat(CLI::App& app, TableFormat& format) {
  AddChoice(app, "-o,--output", kTableFormats, format, "How to show it [table]");
}

// Names of files only: what is on a command line shows in every list of processes.
void AddSecurity(CLI::App& app, ClientSecurity& security) {
  const struct {
    const char* name;
    const char* variable;
    const char* help;
    std::string* target;
  } options[] = {
      {"--tls-ca", "TIDEMARK_TLS_CA",
       "Certificates that the master's certificate is checked against; turns on TLS",
       &security.ca_file},
      {"--tls-certificate", "TIDEMARK_TLS_CERTIFICATE",
       "Client certificate to present to the master", &security.certificate_file},
      {"--tls-key", "TIDEMARK_TLS_KEY", "Private key of that certificate", &security.key_file},
      {"--tls-server-name", "TIDEMARK_TLS_SERVER_NAME",
       "Name in the master's certificate, if it differs from the address", &security.server_name},
      {"--token-file", "TIDEMARK_TOKEN_FILE", "File with the token to send", &security.token_file}};
  for (const auto& option : options) {
    NotEmpty(app.add_option(option.name, *option.target, option.help))
        ->envname(option.variable)
        ->type_name(option.target == &security.server_name ? "NAME" : "FILE")
        ->group("TLS and tokens");
  }
}

void AddMaster(CLI::App& app, MasterArguments& master) {
  master.address = kDefaultMaster;
  Address(app.add_option("--master", master.address, "Address of the master; also unix:PATH")
              ->envname("TIDEMARK_MASTER")
              ->capture_default_str());
  AddSecurity(app, master.security);
}

// KEY and VALUE of what was given with `option`.
std::pair<std::string, std::string> ParseAssignment(const char* option, const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw CLI::ValidationError(fmt::format("{} must be KEY=VALUE, not {}", option, word));
  }
  return {word.substr(0, equals), word.substr(equals + 1)};
}

// `option` of a list of KEY=VALUE; each key once.
CLI::Option* AddAssignments(CLI::App& app, const char* option,
                            std::map<std::string, std::string>& values, const char* help) {
  const auto set = [option, &values](const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      const auto [key, value] = ParseAssignment(option, word);
      if (values.try_emplace(key, value).second) continue;
      throw CLI::ValidationError(
          fmt::format("{} {}: given twice; a row for each takes a call for each", option, key));
    }
  };
  return app.add_option_function<std::vector<std::string>>(option, set, help)->expected(1, -1);
}

constexpr char kExitCodes[] =
    "Exit code: 0 it worked, 2 wrong use, 3 the master cannot be reached, 5 there is no such job,\n"
    "6 the master wants another token or certificate.";
constexpr char kExitCodesOfForgetting[] =
    "Exit code: 0 there is no such job any more, 2 wrong use or the job runs, 3 the master cannot "
    "be\n"
    "reached, 6 the master wants another token or certificate.";
constexpr char kExitCodesOfWatching[] =
    "Exit code: 0 the job succeeded, 1 it did not, 2 wrong use, 3 the master cannot be reached,\n"
    "5 there is no such job, 6 the master wants another token or certificate, 7 --timeout.";

// One a processor that this process may use.
std::uint32_t DefaultSlots() {
  constexpr std::uint32_t kUnknown = 2;
  const unsigned processors = std::thread::hardware_concurrency();  // 0: not known
  return std::min<std::uint32_t>(processors == 0 ? kUnknown : processors, kSlotsMax);
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

void AddRunExample(CLI::App& run, Choice& choice) {
  CLI::App& app = *run.add_subcommand("example", "Run a job of the example engine");
  auto& arguments = ArgumentsOf<RunArguments>(app, choice);
  examples::RunOptions& job = arguments.job;
  app.footer(JobsHelp);
  app.add_option("JOB", job.job, "Job to run; see below")->required();
  app.add_option("--input", job.inputs, "Input files, plain or .zst; the job decides how many")
      ->expected(1, -1)
      ->type_name("FILE");
  app.add_option("--output-dir", job.output_dir, "Directory for the result; not kept if omitted")
      ->type_name("DIR");
  app.add_option("--job-id", job.job_id, "Id of the job; default: made from its name and the time");
  AddChoice(app, "--output-format", kOutputKinds, job.output,
            "Format of the result; count: counted only, not written");
  job.slots = DefaultSlots();
  Between(1U, kSlotsMax,
          app.add_option("--slots", job.slots, "Tasks that run at once [one a processor]"));
  Between(1U, job.master_options.job.limits.reduce_tasks_max,
          app.add_option_function<std::uint32_t>(
              "--reducers", [&arguments](std::uint32_t count) { arguments.reducers = count; },
              "Reduce tasks [two for each slot]"));
  Between(0U, examples::kTasksMax,
          app.add_option("--maps", job.map_task_count, "Map tasks; 0: chosen by input size"));
  app.add_option_function<std::vector<std::string>>(
         "--param",
         [&job](const std::vector<std::string>& words) {
           for (const std::string& word : words) {
             const auto [key, value] = ParseAssignment("--param", word);
             job.parameters[key] = value;
           }
         },
         "Parameters of the job")
      ->expected(1, -1)
      ->type_name("KEY=VALUE");
  CLI::Option* master = Address(app.add_option(
      "--master", job.master_address, "Report to this master instead of one in this process"));
  AddSecurity(app, job.security);
  app.add_option("--log-dir", job.master_options.event_log_dir,
                 "Write the job's event log to this directory, for `tidemark replay`")
      ->type_name("DIR")
      ->excludes(master);
  app.add_flag_callback(
         "--no-agent", [&job] { job.agent_enabled = false; }, "Run the job without reporting on it")
      ->excludes(master);
  AddProgress(app, arguments.progress);
  AddIndicators(app, job.master_options.job.indicators)->excludes(master);
}

// An option of `serve` that is a setting by another name.
void AddOverride(CLI::App& app, const char* name, const char* key, const char* type,
                 const char* help, ServeArguments& arguments) {
  app.add_option_function<std::string>(
         name,
         [&arguments, name, key](const std::string& word) {
           arguments.overrides.push_back({.origin = name, .key = key, .words = {word}});
         },
         help)
      ->type_name(type);
}

SettingOverride ParseOverride(const std::string& word) {
  const auto [key, value] = ParseAssignment("--set", word);
  SettingOverride given{.origin = "--set", .key = key};
  const Setting* setting = FindSetting(key);
  if (setting == nullptr || !setting->is_list) {
    given.words = {value};
    return given;
  }
  std::istringstream words(value);
  for (std::string item; std::getline(words, item, ',');) given.words.push_back(item);
  return given;
}

void AddServeOptions(CLI::App& app, ServeArguments& arguments) {
  app.add_option("--config", arguments.config_file, "Settings file (YAML); options override it")
      ->type_name("FILE");
  AddOverride(app, "--listen", "listen", "HOST:PORT",
              "Address to listen on; also unix:PATH (setting listen)", arguments);
  AddOverride(app, "--data-dir", "data_dir", "DIR",
              "Keep all jobs in this directory and resume them after a restart (setting data_dir)",
              arguments);
  AddOverride(app, "--log-dir", "log_dir", "DIR",
              "Write each job's event log to this directory (setting log_dir)", arguments);
  AddOverride(app, "--spark-logs", "spark_logs", "DIR",
              "Follow the applications that write their event logs to this directory\n"
              "(setting spark_logs)",
              arguments);
  app.add_flag_callback(
      "--allow-insecure-remote",
      [&arguments] {
        arguments.overrides.push_back({.origin = "--allow-insecure-remote",
                                       .key = "allow_insecure_remote",
                                       .words = {"true"}});
      },
      "Listen on addresses that other hosts reach, without TLS or tokens");
  OneOf(KnownIndicators(),
        app.add_option_function<std::vector<std::string>>(
               "--indicator",
               [&arguments](const std::vector<std::string>& names) {
                 arguments.overrides.push_back(
                     {.origin = "--indicator", .key = "estimate.indicators", .words = names});
               },
               "Indicators to compute, the main one first")
            ->expected(1, -1));
  app.add_option_function<std::vector<std::string>>(
         "--set",
         [&arguments](const std::vector<std::string>& words) {
           for (const std::string& word : words) arguments.overrides.push_back(ParseOverride(word));
         },
         "Any setting of docs/serve.md; commas separate the items of a list")
      ->expected(1, -1)
      ->type_name("KEY=VALUE");
}

void AddServe(CLI::App& command, Choice& choice) {
  CLI::App& app = *command.add_subcommand("serve", "Run a master for any number of jobs");
  AddServeOptions(app, ArgumentsOf<ServeArguments>(app, choice));
  app.footer(
      "Exit code: 0 shut down by SIGTERM or SIGINT, 1 it cannot listen, 2 an option, a setting or "
      "a\n"
      "file is wrong.");
}

void AddDoctor(CLI::App& command, Choice& choice) {
  CLI::App& app =
      *command.add_subcommand("doctor", "Check whether `serve` would work with these settings");
  auto& arguments = ArgumentsOf<DoctorArguments>(app, choice);
  AddServeOptions(app, arguments.serve);
  AddSecurity(app, arguments.security);
  app.footer("Exit code: 0 no check failed (there may be warnings), 1 a check failed.");
}

// The optional argument of commands that ask about one job or all.
CLI::Option* AddJobId(CLI::App& app, std::string& job_id) {
  return app.add_option("ID", job_id, "Id of the job, as `tidemark get jobs` lists it");
}

void AddWatchFlag(CLI::App& app, GetArguments& arguments) {
  app.add_flag("--watch", arguments.watches,
               "Go on with what changes, as `tidemark watch` does; -o is table or jsonl then");
}

void AddGet(CLI::App& command, Choice& choice) {
  CLI::App& get = *command.add_subcommand("get", "Show what a master knows now");
  get.require_subcommand(1);
  const struct {
    const char* name;
    Listed what;
    const char* help;
  } all[] = {{"jobs", Listed::kJobs, "All jobs, or one"},
             {"stages", Listed::kStages, "The stages of a job"},
             {"tasks", Listed::kTasks, "The tasks of a job that end last, and why"}};
  for (const auto& listed : all) {
    CLI::App& app = *get.add_subcommand(listed.name, listed.help);
    auto& arguments = ArgumentsOf<GetArguments>(app, choice);
    arguments.what = listed.what;
    AddJobId(app, arguments.job_id)->required(listed.what != Listed::kJobs);
    AddFormat(app, arguments.format);
    if (listed.what == Listed::kJobs) AddWatchFlag(app, arguments);
    AddMaster(app, arguments.master);
    app.footer(kExitCodes);
  }
}

void AddWatch(CLI::App& command, Choice& choice) {
  CLI::App& app =
      *command.add_subcommand("watch", "Follow a job of a master until it ends, or all jobs");
  auto& arguments = ArgumentsOf<WatchArguments>(app, choice);
  AddJobId(app, arguments.job_id)
      ->description(
          "Id of the job, as `tidemark get jobs` lists it, or of a SQL execution or job of a Spark "
          "application, as ID/sql/3 or ID/job/7");
  AddMaster(app, arguments.master);
  AddProgress(app, arguments.progress);
  Between(0.1, 1e9,
          app.add_option_function<double>(
                 "--timeout",
                 [&arguments](double seconds) { arguments.timeout = absl::Seconds(seconds); },
                 "Give up after this many seconds")
              ->type_name("SECONDS"));
  app.add_flag("--wait", arguments.waits,
               "Wait for a job, and for a master, that are not there yet");
  app.add_flag("--tasks", arguments.tasks,
               "Below the bar of a job a line for each task that runs, the slowest first");
  app.footer(kExitCodesOfWatching);
}

void AddSubmit(CLI::App& command, Choice& choice) {
  CLI::App& app = *command.add_subcommand("submit", "Submit a plan of jobs for a master to watch");
  auto& arguments = ArgumentsOf<SubmitArguments>(app, choice);
  app.add_option("FILE", arguments.file, "Plan, YAML or JSON; see docs/plans.md")->required();
  AddMaster(app, arguments.master);
  app.footer(kExitCodes);
}

void AddAttach(CLI::App& command, Choice& choice) {
  CLI::App& app = *command.add_subcommand(
      "attach", "Tell a master which job runs, or retries, a job of a workflow");
  auto& arguments = ArgumentsOf<AttachArguments>(app, choice);
  app.add_option("ID", arguments.job_id, "Id of the workflow")->required();
  app.add_option("NAME", arguments.child_name, "Name of the job in the workflow")->required();
  app.add_option("JOB_ID", arguments.child_job_id, "Id under which the job reports")->required();
  AddMaster(app, arguments.master);
  app.footer(kExitCodes);
}

void AddUpdate(CLI::App& command, Choice& choice) {
  CLI::App& app = *command.add_subcommand("update", "Change a running workflow, all or nothing");
  auto& arguments = ArgumentsOf<UpdateArguments>(app, choice);
  app.add_option("ID", arguments.job_id, "Id of the workflow")->required();
  app.add_option("--add", arguments.file,
                 "Add the jobs of this file, which may wait for jobs of the workflow")
      ->type_name("FILE");
  NotEmpty(app.add_option("--cancel", arguments.cancel_jobs, "Names of jobs that will not run"))
      ->expected(1, -1)
      ->type_name("NAME");
  app.add_flag("--cancel-all", arguments.cancel, "End the workflow now; jobs that report go on");
  AddMaster(app, arguments.master);
  app.footer(kExitCodes);
}

// The commands for workflows once more, under one name, for who looks for them there.
void AddWorkflow(CLI::App& command, Choice& choice) {
  CLI::App& workflow =
      *command.add_subcommand("workflow", "List workflows, and change one that runs");
  workflow.require_subcommand(1);

  CLI::App& list = *workflow.add_subcommand("list", "All workflows");
  auto& listed = ArgumentsOf<GetArguments>(list, choice);
  listed.filter.kinds = {JobKind::kWorkflow};
  AddFormat(list, listed.format);
  AddWatchFlag(list, listed);
  AddMaster(list, listed.master);
  list.footer(kExitCodes);

  CLI::App& cancel = *workflow.add_subcommand(
      "cancel", "End a workflow now, or take jobs out of it; jobs that report go on");
  auto& cancelled = ArgumentsOf<UpdateArguments>(cancel, choice);
  cancel.add_option("ID", cancelled.job_id, "Id of the workflow")->required();
  cancel.add_option("NAME", cancelled.cancel_jobs,
                    "Jobs of it that will not run [the whole workflow ends]");
  cancel.parse_complete_callback(
      [&cancelled] { cancelled.cancel = cancelled.cancel_jobs.empty(); });
  AddMaster(cancel, cancelled.master);
  cancel.footer(kExitCodes);

  CLI::App& add =
      *workflow.add_subcommand("add", "Add the jobs of a file, which may wait for jobs of it");
  auto& added = ArgumentsOf<UpdateArguments>(add, choice);
  add.add_option("ID", added.job_id, "Id of the workflow")->required();
  add.add_option("FILE", added.file, "Plan of `jobs` only, YAML or JSON; see docs/plans.md")
      ->required();
  AddMaster(add, added.master);
  add.footer(kExitCodes);
}

void AddForget(CLI::App& command, Choice& choice) {
  CLI::App& app = *command.add_subcommand("forget", "Remove a job that has ended from a master");
  auto& arguments = ArgumentsOf<ForgetArguments>(app, choice);
  AddJobId(app, arguments.job_id)->required();
  AddMaster(app, arguments.master);
  app.footer(kExitCodesOfForgetting);
}

// Each a list, separated by commas; there is a row for each combination.
void AddSparkLevels(CLI::App& app, WhatIfArguments& arguments) {
  Between(1U, 10'000U,
          AddList(app, "--cores", arguments.cores, "Of a log of Spark: cores of an executor"));
  NotEmpty(AddList(app, "--memory", arguments.memory,
                   "Of a log of Spark: memory of an executor, as 4g"));
  Between(1U, 1'000'000U,
          AddList(app, "--partitions", arguments.partitions,
                  "Of a log of Spark: partitions of shuffles"));
  OneOf({"true", "false"}, AddList(app, "--compress", arguments.compress,
                                   "Of a log of Spark: whether to compress shuffles"));
  Between(1e-6, 1e6,
          AddList(app, "--data", arguments.data, "Of a log of Spark: so many times its data"));
  AddAssignments(
      app, "--param", arguments.parameters,
      "Of a log of Spark: what the program is told, as spark.tidemark.param.NAME told the runs")
      ->type_name("NAME=VALUE");
  NotEmpty(app.add_option(
               "--learn", arguments.learn,
               "Logs of other runs of the same application, at other settings, to learn from"))
      ->expected(1, -1)
      ->type_name("LOG");
}

void AddWhatIf(CLI::App& command, Choice& choice) {
  CLI::App& app = *command.add_subcommand(
      "what-if", "Estimate when a plan or a job would end, as it is or otherwise");
  auto& arguments = ArgumentsOf<WhatIfArguments>(app, choice);
  app.add_option("FILE|LOG|ID", arguments.subject,
                 "Plan, YAML or JSON, an event log of Spark, or the id of a job; see docs/plans.md")
      ->required();
  CLI::Option* slots =
      Between(1U, 1'000'000U,
              AddList(app, "--slots", arguments.slots, "Numbers of slots, separated by commas"));
  Between(1U, 1'000'000U,
          AddList(app, "--executors", arguments.executors,
                  "Of a log of Spark, or of an application that runs: numbers of executors, "
                  "separated by commas"))
      ->excludes(slots);
  AddAssignments(app, "--conf", arguments.settings,
                 "Of a log of Spark: settings, as spark-submit takes them; see docs/what-if.md")
      ->type_name("KEY=VALUE");
  AddSparkLevels(app, arguments);
  Between(1e-6, 1e6,
          app.add_option("--data-factor", arguments.data_factor,
                         "Scale the data of what has not started by this factor"));
  AddChoice(app, "--policy", kPolicies, arguments.policy, "Who gets a free slot");
  AddFormat(app, arguments.format);
  AddMaster(app, arguments.master);
  app.footer(std::string(
                 "A plan of stages, or a log, needs no master: its task times are in the file.\n") +
             kExitCodes);
}

const std::map<std::string, WaitedResource> kWaitedResourceNames = {
    {"slots", WaitedResource::kScheduler},
    {"processor", WaitedResource::kProcessor},
    {"memory", WaitedResource::kMemory},
    {"network", WaitedResource::kNetwork},
    {"io", WaitedResource::kIo}};

const std::map<std::string, TableFormat> kWaitsFormats = {{"table", TableFormat::kTable},
                                                          {"json", TableFormat::kJson},
                                                          {"jsonl", TableFormat::kJsonl},
                                                          {"dot", TableFormat::kDot}};

void AddWhy(CLI::App& command, Choice& choice) {
  CLI::App& app = *command.add_subcommand(
      "why", "Say what a job, or a logged Spark application, waited for, and for whom");
  auto& arguments = ArgumentsOf<WhyArguments>(app, choice);
  app.add_option("ID|LOG", arguments.subject,
                 "Id of a job of a master, or event log of Spark: a file or a rolling folder")
      ->required();
  NotEmpty(
      app.add_option("--query", arguments.question.query, "Only this one, such as sql/3 or job/7"));
  Between(std::size_t{1}, std::size_t{100},
          app.add_option("--top", arguments.question.culprits_max,
                         "Name at most so many that each query waited for [3]"));
  AddChoice(app, "--resource", kWaitedResourceNames, arguments.question.resource,
            "Only waits for this");
  NotEmpty(app.add_option("--host", arguments.question.host,
                          "Only waits on this host; slots are of no host"));
  Between(1U, 10U,
          app.add_option_function<unsigned>(
              "--last",
              [&arguments](unsigned minutes) { arguments.question.last = absl::Minutes(minutes); },
              "Only the last so many minutes of a job of a master"))
      ->type_name("MINUTES");
  AddChoice(app, "-o,--output,--format", kWaitsFormats, arguments.format,
            "How to show it; dot is for Graphviz [table]");
  AddMaster(app, arguments.master);
  app.footer(
      std::string("Of a log: 0 the waits were shown, 2 the log or the query cannot be read or "
                  "found,\n4 the log is torn or damaged.\n") +
      kExitCodes);
}

// The option takes bytes, at least one.
CLI::Option* Size(CLI::Option* option) {
  const auto in_bytes = [](std::string& word) -> std::string {
    const std::uint64_t bytes = text::SizeIn(word).value_or(0);
    if (bytes == 0) {
      return fmt::format("must be a size of at least 1 byte, such as 10GiB, not {}", OrEmpty(word));
    }
    word = fmt::format("{}", bytes);
    return "";
  };
  return option->transform(CLI::Validator(in_bytes, ""))->type_name("SIZE");
}

void AddSize(CLI::App& app, const char* name, std::optional<double>& target, const char* help) {
  const auto take = [&target](std::uint64_t bytes) { target = static_cast<double>(bytes); };
  Size(app.add_option_function<std::uint64_t>(name, take, help));
}

void AddAdvise(CLI::App& command, Choice& choice) {
  CLI::App& app = *command.add_subcommand(
      "advise", "Say which intermediate results of Spark are worth keeping for others");
  auto& arguments = ArgumentsOf<AdviseArguments>(app, choice);
  app.add_option("LOG", arguments.logs, "Event logs of Spark, or folders of them")
      ->required()
      ->expected(1, -1);
  AddSize(app, "--space", arguments.space_bytes,
          "Bytes to keep results in, such as 10GiB [as many as are worth it]");
  AddSize(app, "--read-rate", arguments.read_bytes_per_second,
          "Bytes a second at which results are read, such as 200MB [as the logs show]");
  AddChoice(app, "-o,--output,--format", kTableFormats, arguments.format, "How to show it [table]");
  app.footer(
      "Nothing is kept by this command. Exit code: 0 the advice was shown, also if nothing is "
      "worth\n"
      "keeping, 2 a log cannot be read or holds no plan, 4 a log is damaged.");
}

// Of a replay. Taste: slower ones seem to stand still.
constexpr double kSpeedMin = 0.001;

double ParseSpeed(const std::string& word) {
  if (word == "max") return 0;
  char* end = nullptr;
  const double speed = std::strtod(word.c_str(), &end);
  if (end == word.c_str() || *end != '\0' || !std::isfinite(speed) || speed < kSpeedMin) {
    throw CLI::ValidationError(
        fmt::format("--speed must be a number of at least {}, or max, not {}", kSpeedMin, word));
  }
  return speed;
}

void AddReplay(CLI::App& command, Choice& choice) {
  CLI::App& app = *command.add_subcommand(
      "replay", "Replay a job from its event log, or a Spark application from its own");
  auto& arguments = ArgumentsOf<ReplayArguments>(app, choice);
  app.add_option("LOG", arguments.log,
                 "Event log of Tidemark, or of Spark: a file or a rolling folder")
      ->required();
  app.add_option_function<std::string>(
         "--speed", [&arguments](const std::string& word) { arguments.speed = ParseSpeed(word); },
         "How many times as fast as the job ran; default max: without waiting")
      ->type_name("N|max");
  Directory(app.add_option(
      "--history", arguments.history,
      "Data directory of a master: learn from the runs in its history, and add this one\n"
      "(logs of Spark)"));
  AddProgress(app, arguments.progress);
  app.footer("Exit code: 0 the log was shown, 2 it cannot be read, 4 it is torn or damaged.");
}

void AddJar(CLI::App& app, const std::string& engine, std::string& jar) {
  app.add_option("--jar", jar,
                 fmt::format("The connector, tidemark-{}.jar [the installed one]", engine))
      ->envname(fmt::format("TIDEMARK_{}_JAR", absl::AsciiStrToUpper(engine)))
      ->type_name("FILE");
}

// Options of commands that run an engine's command and show its jobs.
void AddWatchedCommand(CLI::App& app, const std::string& engine,
                       WatchedCommandArguments& arguments) {
  AddJar(app, engine, arguments.jar);
  CLI::Option* master =
      NetworkAddress(app.add_option("--master", arguments.master,
                                    "Report to this master; without it, one runs as long as the "
                                    "command")
                         ->envname("TIDEMARK_MASTER"));
  AddSecurity(app, arguments.security);
  MasterOptions& own = arguments.own_master;
  app.add_option("--listen", own.listen_address,
                 "Address of that master; all nodes of the cluster must reach it")
      ->type_name("HOST:PORT")
      ->capture_default_str()
      ->excludes(master);
  app.add_flag("--allow-insecure-remote", own.allow_insecure_remote,
               "Listen on addresses that other hosts reach, without TLS or tokens")
      ->excludes(master);
  app.add_option("--data-dir", own.data_dir,
                 "Data directory of that master; what it learns helps the next run")
      ->type_name("DIR")
      ->excludes(master);
  app.add_option("--log-dir", own.event_log_dir,
                 "Write the jobs' event logs to this directory, for `tidemark replay`")
      ->type_name("DIR")
      ->excludes(master);
  AddProgress(app, arguments.progress);
}

void AddHadoopConf(CLI::App& hadoop, Choice& choice) {
  CLI::App& app =
      *hadoop.add_subcommand("conf", "Print the settings that make a Hadoop job report");
  auto& arguments = ArgumentsOf<HadoopConfArguments>(app, choice);
  AddJar(app, "hadoop", arguments.jar);
  arguments.master = kDefaultMaster;
  NetworkAddress(app.add_option("--master", arguments.master, "host:port of the master")
                     ->envname("TIDEMARK_MASTER")
                     ->capture_default_str());
  app.add_option("--site", arguments.site,
                 "Keep what this mapred-site.xml plugs into the same places as the connector")
      ->type_name("FILE");
  app.add_flag("--options", arguments.as_options, "Print -D options for a shell instead of XML");
  app.footer("Save the XML and give it to a job: hadoop jar JAR JOB -conf FILE ...");
}

void AddRunHadoop(CLI::App& run, Choice& choice) {
  CLI::App& app = *run.add_subcommand("hadoop", "Run a Hadoop command and show its jobs");
  AddWatchedCommand(app, "hadoop", ArgumentsOf<HadoopRunArguments>(app, choice));
  app.footer(
      "The command follows the options: tidemark run hadoop --jar FILE -- COMMAND. It is\n"
      "`hadoop jar ...`, `yarn jar ...` or the like, and reads HADOOP_CONF_DIR and "
      "HADOOP_CLASSPATH,\n"
      "which are set for it. Exit code: the command's own, or 2: it could not be started.");
}

void AddHadoopPoll(CLI::App& hadoop, Choice& choice) {
  CLI::App& app = *hadoop.add_subcommand(
      "poll", "Follow a YARN application that does not report, through its web service");
  auto& arguments = ArgumentsOf<HadoopPollArguments>(app, choice);
  app.add_option("APPLICATION", arguments.application, "Id of the application or of its job")
      ->required();
  app.add_option("--resource-manager", arguments.resource_manager,
                 "URL of the resource manager's web service, such as http://rm:8088")
      ->required()
      ->type_name("URL");
  Between(0.1, 3600.0,
          app.add_option_function<double>(
                 "--interval",
                 [&arguments](double seconds) { arguments.interval = absl::Seconds(seconds); },
                 "Seconds between two polls [1]")
              ->type_name("SECONDS"));
  AddProgress(app, arguments.progress);
  app.footer(
      "Exit code: 0 the job succeeded, 1 it did not, 3 the resource manager cannot be reached,\n"
      "5 there is no such application.");
}

void AddHadoop(CLI::App& command, Choice& choice) {
  CLI::App& app = *command.add_subcommand("hadoop", "Follow Apache Hadoop jobs");
  app.require_subcommand(1);
  AddHadoopConf(app, choice);
  AddHadoopPoll(app, choice);
}

// `spark run`, and `run spark` as the grammar of commands has it.
void AddSparkRun(CLI::App& parent, const char* name, Choice& choice) {
  CLI::App& app = *parent.add_subcommand(name, "Run a command of Spark and show its applications");
  AddWatchedCommand(app, "spark", ArgumentsOf<SparkRunArguments>(app, choice));
  app.footer(
      "The command follows the options: tidemark spark run --jar FILE -- COMMAND. It is\n"
      "`spark-submit ...`, `pyspark`, `spark-shell` or `spark-sql`. Exit code: the command's own,\n"
      "or 2: it could not be started.");
}

void AddSparkConf(CLI::App& spark, Choice& choice) {
  CLI::App& app =
      *spark.add_subcommand("conf", "Print the settings that make an application report");
  auto& arguments = ArgumentsOf<SparkConfArguments>(app, choice);
  AddJar(app, "spark", arguments.jar);
  arguments.master = kDefaultMaster;
  NetworkAddress(app.add_option("--master", arguments.master, "host:port of the master")
                     ->envname("TIDEMARK_MASTER")
                     ->capture_default_str());
  AddSecurity(app, arguments.security);
  app.add_flag("--options", arguments.as_options,
               "Print --conf options for a shell instead of lines of spark-defaults.conf");
}

void AddSpark(CLI::App& command, Choice& choice) {
  CLI::App& app = *command.add_subcommand("spark", "Run and follow applications of Apache Spark");
  app.require_subcommand(1);
  AddSparkRun(app, "run", choice);
  AddSparkConf(app, choice);
}

void AddProfile(CLI::App& command, Choice& choice) {
  CLI::App& profile = *command.add_subcommand("profile", "Measure how fast a node is");
  profile.require_subcommand(1);
  CLI::App& app = *profile.add_subcommand(
      "node", "Measure disk (fio), network (iperf3) and cores; print them as `node` of a plan");
  auto& arguments = ArgumentsOf<ProfileNodeArguments>(app, choice);
  Directory(app.add_option("--directory", arguments.directory, "Directory on the disk to measure")
                ->capture_default_str());
  Size(app.add_option("--size", arguments.bytes, "Bytes to write and read there, such as 256MiB")
           ->capture_default_str());
  app.add_option("--peer", arguments.peer,
                 "Host that runs `iperf3 -s`; without it, loopback is measured");
  Between(1, 65535,
          app.add_option("--peer-port", arguments.peer_port, "Port of iperf3 on that host")
              ->capture_default_str());
  app.add_option("--data-dir", arguments.data_dir,
                 "Store the result in this data directory of a master, for its plans")
      ->type_name("DIR");
  app.footer("Exit code: 0 measured, 1 a tool failed, 2 fio or iperf3 is missing.");
}

const std::map<std::string, examples::SlotPolicy> kSlotPolicies = {
    {"fifo", examples::SlotPolicy::kFifo}, {"fair", examples::SlotPolicy::kFair}};

std::string WorkflowsHelp() {
  std::string help = "Workflows:\n";
  for (const std::string& workflow : examples::WorkflowNames()) {
    help += fmt::format("  {}\n    {}\n", workflow, examples::DescribeWorkflow(workflow));
  }
  return help;
}

void AddRunWorkflow(CLI::App& command, Choice& choice) {
  CLI::App& app = *command.add_subcommand(
      "workflow", "Run jobs of the example engine as a DAG on shared slots");
  auto& arguments = ArgumentsOf<WorkflowRunArguments>(app, choice);
  examples::WorkflowRunOptions& run = arguments.run;
  app.footer(WorkflowsHelp);
  app.add_option("WORKFLOW", run.workflow, "Workflow to run; see below")->required();
  CLI::Option* input = app.add_option("--input", run.inputs, "Input files, plain or .zst")
                           ->expected(1, -1)
                           ->type_name("FILE");
  Between(std::uint64_t{1}, std::uint64_t{1'000'000'000},
          app.add_option("--visits", arguments.visits, "Generate this many website visits as input")
              ->excludes(input));
  app.add_option("--output-dir", run.output_dir,
                 "Directory for the results, one per job; not kept if omitted")
      ->type_name("DIR");
  app.add_option("--id", run.id, "Id of this run; default: made from the workflow and the time");
  run.slots = DefaultSlots();
  Between(1U, kSlotsMax,
          app.add_option("--slots", run.slots,
                         "Tasks that run at once, over all jobs [one a processor]"));
  Between(1U, arguments.own_master.job.limits.reduce_tasks_max,
          app.add_option("--reducers", run.reduce_task_count, "Reduce tasks per job")
              ->capture_default_str());
  AddChoice(app, "--policy", kSlotPolicies, run.policy, "Which job gets a free slot [fifo]");
  CLI::Option* master = Address(app.add_option(
      "--master", run.master_address, "Report to this master instead of one in this process"));
  AddSecurity(app, run.security);
  app.add_option("--data-dir", arguments.own_master.data_dir,
                 "Data directory of the master in this process; what it learns helps the next run")
      ->type_name("DIR")
      ->excludes(master);
  app.add_option("--log-dir", arguments.own_master.event_log_dir,
                 "Write the jobs' event logs to this directory, for `tidemark replay`")
      ->type_name("DIR")
      ->excludes(master);
  AddProgress(app, arguments.progress);
}

void AddCompletion(CLI::App& command, Choice& choice) {
  CLI::App& app = *command.add_subcommand(
      "completion", "Print a script that completes commands: source <(tidemark completion bash)");
  auto& arguments = ArgumentsOf<CompletionArguments>(app, choice);
  OneOf({"bash", "fish", "zsh"}, app.add_option("SHELL", arguments.shell, "The shell"))->required();
}

void AddCommands(CLI::App& command, Choice& choice) {
  command.set_version_flag("--version", fmt::format("tidemark {}", TIDEMARK_VERSION));
  command.require_subcommand(1);
  AddGet(command, choice);
  AddWatch(command, choice);
  AddSubmit(command, choice);
  AddAttach(command, choice);
  AddUpdate(command, choice);
  AddWorkflow(command, choice);
  AddForget(command, choice);
  AddWhatIf(command, choice);
  AddWhy(command, choice);
  AddAdvise(command, choice);
  AddReplay(command, choice);
  CLI::App& run = *command.add_subcommand("run", "Run a job and show its progress");
  run.require_subcommand(1);
  AddRunExample(run, choice);
  AddRunWorkflow(run, choice);
  AddRunHadoop(run, choice);
  AddSparkRun(run, "spark", choice);
  AddHadoop(command, choice);
  AddSpark(command, choice);
  AddServe(command, choice);
  AddDoctor(command, choice);
  AddProfile(command, choice);
  AddCompletion(command, choice);
  command.add_subcommand("version", "Print the version")->callback([] {
    throw CLI::CallForVersion(fmt::format("tidemark {}", TIDEMARK_VERSION), kSuccess);
  });
}

void RefuseEmptyArguments(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_positional()) NotEmpty(option);
  }
  for (CLI::App* sub : command.get_subcommands([](CLI::App*) { return true; })) {
    RefuseEmptyArguments(*sub);
  }
}

// The innermost command that the words name.
const CLI::App& Innermost(const CLI::App& command) {
  const std::vector<CLI::App*> chosen = command.get_subcommands();
  return chosen.empty() ? command : Innermost(*chosen.front());
}

// "tidemark run hadoop"
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

std::vector<std::string> OptionsOf(const CLI::App& command) {
  std::vector<std::string> options;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  }
  return options;
}

// The error for a word that the command does not know.
std::string DescribeUnknown(const CLI::App& command, const std::string& word) {
  if (word.starts_with("-")) {
    const std::string name = word.substr(0, word.find('='));
    return fmt::format("unknown option {}{}", name, text::DidYouMean(name, OptionsOf(command)));
  }
  const std::vector<std::string> subcommands = SubcommandsOf(command);
  if (subcommands.empty()) return fmt::format("unexpected argument {}", word);
  return fmt::format("unknown subcommand {}{}", word, text::DidYouMean(word, subcommands));
}

// What was wrong, in our words. An unknown word comes first: what is said to be missing is
// often that word, misspelt.
std::string Describe(const CLI::App& command, const CLI::ParseError& error) {
  const CLI::App& innermost = Innermost(command);
  for (const CLI::App* app = &innermost; app != nullptr; app = app->get_parent()) {
    const std::vector<std::string> unknown = app->remaining();
    if (!unknown.empty()) return DescribeUnknown(*app, unknown.front());
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

// Removes the command after `--` from those that run one; it must be passed on unchanged. Returns
// the number of words before it.
std::size_t CutCommand(const std::vector<std::string>& words, std::vector<std::string>& command) {
  const bool has_command =
      words.size() >= 3 && ((words[1] == "run" && (words[2] == "hadoop" || words[2] == "spark")) ||
                            (words[1] == "spark" && words[2] == "run"));
  if (!has_command) return words.size();
  const auto mark = std::find(words.begin(), words.end(), "--");
  if (mark != words.end()) command.assign(mark + 1, words.end());
  return static_cast<std::size_t>(mark - words.begin());
}

}  // namespace

std::variant<Arguments, Answer> ParseCommandLine(const std::vector<std::string>& words) {
  CLI::App command("Shows how far jobs are, when they will end, and why.", "tidemark");
  Choice choice;
  AddCommands(command, choice);
  RefuseEmptyArguments(command);
  std::vector<const char*> argv;
  std::vector<std::string> cut;
  const std::size_t own_words = CutCommand(words, cut);
  for (std::size_t i = 0; i < own_words; ++i) argv.push_back(words[i].c_str());
  try {
    command.parse(static_cast<int>(argv.size()), argv.data());
    WatchedCommandArguments* watched = std::get_if<HadoopRunArguments>(&*choice);
    if (watched == nullptr) watched = std::get_if<SparkRunArguments>(&*choice);
    if (watched != nullptr) {
      if (cut.empty()) {
        throw CLI::ValidationError("the command to run is missing; put it after --");
      }
      watched->command = std::move(cut);
    }
  } catch (const CLI::ParseError& error) {
    return AnswerTo(command, error);
  }
  return *std::move(choice);
}

std::vector<std::string> CompletionsOf(const std::vector<std::string>& words) {
  CLI::App root("", "tidemark");
  Choice choice;
  AddCommands(root, choice);
  const CLI::App* command = &root;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::vector<std::string> names = SubcommandsOf(*command);
    if (std::find(names.begin(), names.end(), words[i]) == names.end()) continue;
    command = command->get_subcommand(words[i]);
  }
  const std::string begun = words.empty() ? "" : words.back();
  std::vector<std::string> found =
      begun.starts_with("-") ? OptionsOf(*command) : SubcommandsOf(*command);
  std::erase_if(found, [&](const std::string& name) { return !name.starts_with(begun); });
  return found;
}

}  // namespace tidemark::cli
