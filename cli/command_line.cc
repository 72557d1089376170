// The only file that knows the command line library.
#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <sstream>
#include <utility>

#include "cli/config/settings.h"
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

// Names of files only: what is on a command line shows in every list of processes.
void AddSecurity(CLI::App& app, ClientSecurity& security) {
  const struct {
    const char* name;
    const char* variable;
    const char* help;
    std::string* target;
  } options[] = {
      {"--tls-ca", "TIDEMARK_TLS_CA",
       "Authorities that sign the master's certificate; turns on TLS", &security.ca_file},
      {"--tls-certificate", "TIDEMARK_TLS_CERTIFICATE", "Certificate to show to the master",
       &security.certificate_file},
      {"--tls-key", "TIDEMARK_TLS_KEY", "Its key", &security.key_file},
      {"--tls-server-name", "TIDEMARK_TLS_SERVER_NAME",
       "Name in the master's certificate, if not that of its address", &security.server_name},
      {"--token-file", "TIDEMARK_TOKEN_FILE", "File that holds the token to send",
       &security.token_file}};
  for (const auto& option : options) {
    app.add_option(option.name, *option.target, option.help)
        ->envname(option.variable)
        ->type_name(option.target == &security.server_name ? "NAME" : "FILE")
        ->group("TLS and tokens");
  }
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
  app.add_option("--input", job.inputs, "Files to read, plain or .zst; how many is up to the job")
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
  AddSecurity(app, job.security);
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

// An option of `serve` that is a setting by another name.
void AddOverride(CLI::App& app, const char* name, const char* key, const char* help,
                 ServeArguments& arguments) {
  app.add_option_function<std::string>(
      name,
      [&arguments, name, key](const std::string& word) {
        arguments.overrides.push_back({.origin = name, .key = key, .words = {word}});
      },
      help);
}

SettingOverride ParseOverride(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw CLI::ValidationError("--set", word + " is not of the form KEY=VALUE");
  }
  SettingOverride given{.origin = "--set", .key = word.substr(0, equals)};
  std::istringstream words(word.substr(equals + 1));
  const Setting* setting = FindSetting(given.key);
  if (setting == nullptr || !setting->is_list) {
    given.words = {words.str()};
    return given;
  }
  for (std::string item; std::getline(words, item, ',');) given.words.push_back(item);
  return given;
}

void AddServeOptions(CLI::App& app, ServeArguments& arguments) {
  app.add_option("--config", arguments.config_file, "Settings in YAML; options win over them")
      ->type_name("FILE");
  AddOverride(app, "--listen", "listen", "host:port or unix:PATH; setting listen", arguments);
  AddOverride(app, "--data-dir", "data_dir",
              "Keep all jobs in this directory and take them up again after a restart; setting "
              "data_dir",
              arguments);
  AddOverride(app, "--log-dir", "log_dir",
              "Write the event log of each job into this directory; setting log_dir", arguments);
  app.add_flag_callback(
      "--allow-insecure-remote",
      [&arguments] {
        arguments.overrides.push_back({.origin = "--allow-insecure-remote",
                                       .key = "allow_insecure_remote",
                                       .words = {"true"}});
      },
      "Listen on other than local addresses, although nothing is encrypted");
  app.add_option_function<std::vector<std::string>>(
         "--indicator",
         [&arguments](const std::vector<std::string>& names) {
           arguments.overrides.push_back(
               {.origin = "--indicator", .key = "estimate.indicators", .words = names});
         },
         "Indicators to compute, the one to show first")
      ->expected(1, -1)
      ->check(CLI::IsMember(KnownIndicators()));
  app.add_option_function<std::vector<std::string>>(
         "--set",
         [&arguments](const std::vector<std::string>& words) {
           for (const std::string& word : words) arguments.overrides.push_back(ParseOverride(word));
         },
         "Any setting of docs/serve.md; a list has commas")
      ->expected(1, -1)
      ->type_name("KEY=VALUE");
}

void AddServe(CLI::App& command, ServeArguments& arguments) {
  AddServeOptions(*command.add_subcommand("serve", "Be a master for any number of jobs"),
                  arguments);
}

void AddDoctor(CLI::App& command, DoctorArguments& arguments) {
  CLI::App& app =
      *command.add_subcommand("doctor", "Check an installation: what `serve` would stumble over");
  AddServeOptions(app, arguments.serve);
  AddSecurity(app, arguments.security);
  app.footer("Exit code: 0 nothing is wrong, warnings aside, 1 something is.");
}

void AddJobs(CLI::App& command, JobsArguments& arguments) {
  CLI::App& app = *command.add_subcommand("jobs", "List the jobs of a master");
  AddMaster(app, arguments.master);
  AddSecurity(app, arguments.security);
  app.add_flag("--json", arguments.json, "A snapshot in JSON for each job, one per line");
}

void AddWatch(CLI::App& command, WatchArguments& arguments) {
  CLI::App& app = *command.add_subcommand("watch", "Watch a job of a master until it ends");
  app.add_option("JOB", arguments.job_id, "Id of the job; see `tidemark jobs`")->required();
  AddMaster(app, arguments.master);
  AddSecurity(app, arguments.security);
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

void AddJar(CLI::App& app, std::string& jar) {
  app.add_option("--jar", jar, "The connector, tidemark-hadoop.jar")
      ->envname("TIDEMARK_HADOOP_JAR")
      ->required()
      ->type_name("FILE");
}

void AddHadoopConf(CLI::App& hadoop, HadoopConfArguments& arguments) {
  CLI::App& app =
      *hadoop.add_subcommand("conf", "Print the settings that make a job of Hadoop report");
  AddJar(app, arguments.jar);
  AddMaster(app, arguments.master);
  app.add_option("--site", arguments.site,
                 "Have the connector beside what this mapred-site.xml has in its places")
      ->type_name("FILE");
  app.add_flag("--options", arguments.as_options, "Print -D options for a shell instead of XML");
  app.footer("Save the XML and give it to a job: hadoop jar JAR JOB -conf FILE ...");
}

void AddHadoopRun(CLI::App& hadoop, HadoopRunArguments& arguments) {
  CLI::App& app = *hadoop.add_subcommand("run", "Run a command of Hadoop and show its jobs");
  AddJar(app, arguments.jar);
  CLI::Option* master =
      app.add_option("--master", arguments.master,
                     "Report to this master; without it one runs as long as the command")
          ->envname("TIDEMARK_MASTER");
  AddSecurity(app, arguments.security);
  MasterOptions& own = arguments.own_master;
  app.add_option("--listen", own.listen_address,
                 "host:port of that master, which all nodes of the cluster must reach")
      ->capture_default_str()
      ->excludes(master);
  app.add_flag("--allow-insecure-remote", own.allow_insecure_remote,
               "Listen on other than local addresses, although nothing is encrypted")
      ->excludes(master);
  app.add_option("--log-dir", own.event_log_dir,
                 "Write the event logs of the jobs into this directory, for `tidemark replay`")
      ->type_name("DIR")
      ->excludes(master);
  AddProgress(app, arguments.progress);
  app.footer(
      "COMMAND is `hadoop jar ...`, `yarn jar ...` or the like; it reads HADOOP_CONF_DIR and\n"
      "HADOOP_CLASSPATH, which are set for it. Exit code: the command's own; 2 it was not "
      "started.");
}

void AddHadoopPoll(CLI::App& hadoop, HadoopPollArguments& arguments) {
  CLI::App& app = *hadoop.add_subcommand(
      "poll", "Follow an application of YARN that does not report, by its web service");
  app.add_option("APPLICATION", arguments.application, "Id of the application, or of its job")
      ->required();
  app.add_option("--resource-manager", arguments.resource_manager,
                 "URL of the resource manager's web service, such as http://rm:8088")
      ->required()
      ->type_name("URL");
  app.add_option_function<double>(
         "--interval",
         [&arguments](double seconds) { arguments.interval = absl::Seconds(seconds); },
         "Seconds between two looks [1]")
      ->check(CLI::Range(0.1, 3600.0))
      ->type_name("SECONDS");
  AddProgress(app, arguments.progress);
  app.footer(
      "Exit code: 0 the job succeeded, 1 it did not, 2 there is no such application, 3 the\n"
      "resource manager cannot be reached.");
}

void AddHadoop(CLI::App& command, HadoopConfArguments& conf, HadoopRunArguments& run,
               HadoopPollArguments& poll) {
  CLI::App& app = *command.add_subcommand("hadoop", "Follow jobs of Apache Hadoop");
  app.require_subcommand(1);
  AddHadoopConf(app, conf);
  AddHadoopRun(app, run);
  AddHadoopPoll(app, poll);
}

void AddProfile(CLI::App& command, ProfileNodeArguments& arguments) {
  CLI::App& profile = *command.add_subcommand("profile", "Measure what a node gets done");
  profile.require_subcommand(1);
  CLI::App& app = *profile.add_subcommand(
      "node", "Disk by fio, network by iperf3, cores; printed as the section `node` of a workflow");
  app.add_option("--directory", arguments.directory, "Where the disk to measure is mounted")
      ->capture_default_str()
      ->check(CLI::ExistingDirectory);
  app.add_option("--size", arguments.bytes, "Bytes to write and read there, such as 256MiB")
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();
  app.add_option("--peer", arguments.peer,
                 "Another host, which runs `iperf3 -s`; without it the network is loopback");
  app.add_option("--peer-port", arguments.peer_port, "Its port")->capture_default_str();
  app.add_option("--data-dir", arguments.data_dir,
                 "Keep it in this data directory of a master, for its workflows")
      ->type_name("DIR");
  app.footer("Exit code: 0 it was measured, 1 a tool failed, 2 fio or iperf3 is missing.");
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

void AddWorkflowRun(CLI::App& workflow, WorkflowRunArguments& arguments) {
  CLI::App& app = *workflow.add_subcommand(
      "run", "Run jobs of the example engine as a DAG on slots that they share");
  examples::WorkflowRunOptions& run = arguments.run;
  app.footer(WorkflowsHelp);
  app.add_option("WORKFLOW", run.workflow, "Which workflow; see below")->required();
  CLI::Option* input = app.add_option("--input", run.inputs, "Files to read, plain or .zst")
                           ->expected(1, -1)
                           ->type_name("FILE");
  app.add_option("--visits", arguments.visits, "Generate so many visits of a web site as input")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
      ->excludes(input);
  app.add_option("--output", run.output_dir,
                 "Directory for the results, one for each job; without it none is kept")
      ->type_name("DIR");
  app.add_option("--id", run.id, "Id of this run; made from the workflow and the time unless told");
  app.add_option("--slots", run.slots, "Tasks that run at once, of all jobs together")
      ->required()
      ->check(CLI::Range(1U, kSlotsMax));
  app.add_option("--reducers", run.reduce_task_count, "Reduce tasks of each job")
      ->capture_default_str()
      ->check(CLI::Range(1U, arguments.own_master.job.limits.reduce_tasks_max));
  AddChoice(app, "--policy", kSlotPolicies, run.policy, "Who gets a free slot [fifo]");
  CLI::Option* master = app.add_option("--master", run.master_address,
                                       "Report to this master instead of one inside the process");
  AddSecurity(app, run.security);
  app.add_option("--data-dir", arguments.own_master.data_dir,
                 "Of the master inside the process: what it learns serves the next run")
      ->type_name("DIR")
      ->excludes(master);
  app.add_option("--log-dir", arguments.own_master.event_log_dir,
                 "Write the event logs of the jobs into this directory, for `tidemark replay`")
      ->type_name("DIR")
      ->excludes(master);
  AddProgress(app, arguments.progress);
}

// What is asked of a master about workflows.
struct WorkflowAtMaster {
  WorkflowRunArguments run;
  WorkflowSubmitArguments submit;
  WorkflowAttachArguments attach;
  WorkflowWatchArguments watch;
};

void AddWorkflowAtMaster(CLI::App& app, WorkflowAtMaster& arguments) {
  AddWorkflowRun(app, arguments.run);
  CLI::App& submit = *app.add_subcommand("submit", "Have a master watch a workflow of jobs");
  submit.add_option("FILE", arguments.submit.file, "YAML or JSON; docs/workflows.md has the form")
      ->required();
  AddMaster(submit, arguments.submit.master);
  AddSecurity(submit, arguments.submit.security);
  CLI::App& attach =
      *app.add_subcommand("attach", "Say which job reports for one of a workflow, or is its retry");
  attach.add_option("WORKFLOW", arguments.attach.workflow_id, "Id of the workflow")->required();
  attach.add_option("JOB", arguments.attach.job_name, "How the workflow calls the job")->required();
  attach.add_option("JOB_ID", arguments.attach.job_id, "Id of the job that reports")->required();
  AddMaster(attach, arguments.attach.master);
  AddSecurity(attach, arguments.attach.security);
  CLI::App& watch = *app.add_subcommand("watch", "Follow a workflow and its jobs to their end");
  watch.add_option("WORKFLOW", arguments.watch.workflow_id, "Id of the workflow")->required();
  AddMaster(watch, arguments.watch.master);
  AddSecurity(watch, arguments.watch.security);
  AddProgress(watch, arguments.watch.progress);
  watch.footer(
      "Exit code: 0 it succeeded, 1 it did not, 2 there is no such workflow, 3 no master answers.");
}

void AddWorkflow(CLI::App& command, WorkflowEstimateArguments& estimate,
                 WorkflowWhatIfArguments& what_if, WorkflowAtMaster& at_master) {
  CLI::App& app = *command.add_subcommand("workflow", "When a DAG of stages or jobs ends");
  app.require_subcommand(1);
  AddWorkflowAtMaster(app, at_master);
  CLI::App& one = *app.add_subcommand("estimate", "Estimate a workflow described in a file");
  one.add_option("FILE", estimate.file, "YAML or JSON; docs/workflows.md has the form")->required();
  one.add_flag("--json", estimate.json, "One line of JSON");
  CLI::App& many = *app.add_subcommand("what-if", "The same on other numbers of slots");
  many.add_option("FILE", what_if.file, "YAML or JSON; docs/workflows.md has the form")->required();
  many.add_option("--slots", what_if.slots, "Numbers of slots, separated by commas")
      ->required()
      ->delimiter(',')
      ->check(CLI::Range(1.0, 1e6));
  many.add_option("--data", what_if.data, "Times as much data")->check(CLI::Range(1e-6, 1e6));
  many.add_flag("--json", what_if.json, "One line of JSON for each");
  app.footer("Exit code: 0 it was estimated, 2 the file cannot be read or is wrong.");
}

// Everything that can be asked for, to be filled in by the words.
struct AllArguments {
  RunArguments run;
  ServeArguments serve;
  DoctorArguments doctor;
  JobsArguments jobs;
  WatchArguments watch;
  ReplayArguments replay;
  HadoopConfArguments hadoop_conf;
  HadoopRunArguments hadoop_run;
  HadoopPollArguments hadoop_poll;
  WorkflowEstimateArguments workflow_estimate;
  WorkflowWhatIfArguments workflow_what_if;
  WorkflowAtMaster workflow_at_master;
  ProfileNodeArguments profile_node;
};

Arguments Chosen(const CLI::App& command, AllArguments&& all) {
  if (command.got_subcommand("run")) return std::move(all.run);
  if (command.got_subcommand("serve")) return std::move(all.serve);
  if (command.got_subcommand("doctor")) return std::move(all.doctor);
  if (command.got_subcommand("jobs")) return std::move(all.jobs);
  if (command.got_subcommand("watch")) return std::move(all.watch);
  if (command.got_subcommand("replay")) return std::move(all.replay);
  if (const CLI::App* hadoop = command.get_subcommand("hadoop"); hadoop->parsed()) {
    if (hadoop->got_subcommand("run")) return std::move(all.hadoop_run);
    if (hadoop->got_subcommand("poll")) return std::move(all.hadoop_poll);
    return std::move(all.hadoop_conf);
  }
  if (command.got_subcommand("profile")) return std::move(all.profile_node);
  const CLI::App* workflow = command.get_subcommand("workflow");
  if (workflow->got_subcommand("what-if")) return std::move(all.workflow_what_if);
  if (workflow->got_subcommand("run")) return std::move(all.workflow_at_master.run);
  if (workflow->got_subcommand("submit")) return std::move(all.workflow_at_master.submit);
  if (workflow->got_subcommand("attach")) return std::move(all.workflow_at_master.attach);
  if (workflow->got_subcommand("watch")) return std::move(all.workflow_at_master.watch);
  return std::move(all.workflow_estimate);
}

Answer AnswerTo(const CLI::App& command, const CLI::ParseError& error) {
  std::ostringstream out;
  std::ostringstream err;
  const bool is_fault = command.exit(error, out, err) != 0;
  return {.exit_code = is_fault ? kUsage : kSuccess, .out = out.str(), .err = err.str()};
}

// Takes what stands behind the `--` of `tidemark hadoop run`: it is another program's command line,
// of which not a letter may change. How many words stand before it.
std::size_t CutCommand(const std::vector<std::string>& words, std::vector<std::string>& command) {
  if (words.size() < 3 || words[1] != "hadoop" || words[2] != "run") return words.size();
  const auto mark = std::find(words.begin(), words.end(), "--");
  if (mark != words.end()) command.assign(mark + 1, words.end());
  return static_cast<std::size_t>(mark - words.begin());
}

}  // namespace

std::variant<Arguments, Answer> ParseCommandLine(const std::vector<std::string>& words) {
  CLI::App command("How far MapReduce jobs are, when they will end, and why then.", "tidemark");
  command.set_version_flag("--version", fmt::format("tidemark {}", TIDEMARK_VERSION));
  command.require_subcommand(1);
  AllArguments all;
  AddRun(command, all.run);
  AddServe(command, all.serve);
  AddDoctor(command, all.doctor);
  AddJobs(command, all.jobs);
  AddWatch(command, all.watch);
  AddReplay(command, all.replay);
  AddHadoop(command, all.hadoop_conf, all.hadoop_run, all.hadoop_poll);
  AddWorkflow(command, all.workflow_estimate, all.workflow_what_if, all.workflow_at_master);
  AddProfile(command, all.profile_node);
  std::vector<const char*> argv;
  const std::size_t own_words = CutCommand(words, all.hadoop_run.command);
  for (std::size_t i = 0; i < own_words; ++i) argv.push_back(words[i].c_str());
  try {
    command.parse(static_cast<int>(argv.size()), argv.data());
    const bool runs = command.get_subcommand("hadoop")->got_subcommand("run");
    if (runs && all.hadoop_run.command.empty()) {
      throw CLI::RequiredError("-- and the command to run");
    }
  } catch (const CLI::ParseError& error) {
    return AnswerTo(command, error);
  }
  return Chosen(command, std::move(all));
}

}  // namespace tidemark::cli
