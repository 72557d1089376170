#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/time/clock.h"
#include "cli/commands.h"
#include "cli/engines.h"
#include "cli/launch.h"
#include "cli/master_call.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/process.h"
#include "cli/progress.h"
#include "examples/local_mapreduce/run.h"
#include "master/store/event_log.h"
#include "serve/config/serve_config.h"
#include "serve/page.h"
#include "tidemark/agent.h"
#include "tidemark/client.h"
#include "tidemark/master.h"

namespace tidemark::cli {
namespace {

struct RunArguments {
  examples::RunOptions job;               // an empty output_dir discards the result
  std::optional<std::uint32_t> reducers;  // two per slot if nullopt
  ProgressArguments progress;
  bool prints_result = true;
};

// Default number of reducers per slot. A second task per slot balances tasks of unequal length.
constexpr std::uint32_t kReducersPerSlot = 2;

// A master publishes the end of a job within its shortest tick interval, 200 ms by default.
constexpr std::chrono::seconds kFinalSnapshotTimeout{3};

using ShowSnapshot = std::function<void(const Snapshot&)>;

// Omits the reason for a failure from human-readable progress, since the command prints it at its
// end.
ShowSnapshot ShowIn(BackgroundProgress& progress, ProgressMode mode) {
  return [&progress, mode](Snapshot snapshot) {
    const bool is_for_people = mode != ProgressMode::kJsonl;
    if (is_for_people && snapshot.state == JobState::kFailed) snapshot.message.clear();
    progress.Show(snapshot);
  };
}

void ShowJobPage(const Client& master, const std::string& job_id, BackgroundProgress& progress) {
  const std::string page = PageOfJob(master, job_id);
  if (!page.empty()) progress.Inform(fmt::format("job page: {}", page));
}

// Queries the waits of the job from the master in this process. Must be called before the master
// ends.
void ExplainWaits(const std::string& master_address, const std::string& job_id,
                  BackgroundProgress& progress) {
  const auto master = Client::Create({.address = master_address});
  if (master.ok()) progress.Explain(WaitsOf(job_id, /*query=*/"", **master));
}

// Watches the job at a remote master. Errors of the watch do not affect the job.
class RemoteWatch {
 public:
  RemoteWatch(const examples::RunOptions& job, ShowSnapshot show, BackgroundProgress& progress)
      : thread_([this, address = job.master_address, security = job.security, job_id = job.job_id,
                 run_uid = job.run_uid, show = std::move(show),
                 &progress](const std::stop_token& stop) {
          const auto master = Client::Create({.address = address, .security = security});
          absl::Status status = master.status();
          bool is_page_shown = false;
          if (master.ok()) {
            const auto final = (*master)->WatchJob(
                job_id,
                {.patience = absl::InfiniteDuration(), .run_uid = run_uid, .is_to_come = true},
                {.on_snapshot =
                     [&](const Snapshot& snapshot) {
                       is_unreachable_ = false;
                       show(snapshot);
                       if (!std::exchange(is_page_shown, true)) {
                         ShowJobPage(**master, job_id, progress);
                       }
                       return true;
                     },
                 .on_trouble =
                     [&](const std::string& message) {
                       is_unreachable_ = true;
                       progress.Warn(message);
                     }},
                stop);
            status = final.status();
            if (final.ok()) progress.Explain(WaitsOf(job_id, /*query=*/"", **master, stop));
          }
          // The agent reports a rejected token.
          if (!status.ok() && !absl::IsCancelled(status) && !absl::IsUnauthenticated(status)) {
            progress.Warn(fmt::format("cannot watch the job at {}: {}", address, ReasonOf(status)));
          }
          ended_.set_value();
        }) {}
  ~RemoteWatch() = default;

  // Waits up to kFinalSnapshotTimeout for the final snapshot, unless the master is unreachable.
  // `is_reported` is true if the master has acknowledged all events. A short job may end before the
  // first snapshot.
  void WaitForFinalSnapshot(bool is_reported) {
    if (is_reported || !is_unreachable_) ended_.get_future().wait_for(kFinalSnapshotTimeout);
  }

 private:
  std::promise<void> ended_;
  std::atomic<bool> is_unreachable_ = false;
  std::jthread thread_;
};

// Returns the command of a worker, which runs this program once for each task.
std::vector<std::string> WorkerCommand() {
  const std::string self = OwnProgram();
  return {self.empty() ? "/proc/self/exe" : self, "worker"};
}

// Returns an id composed of the name, the time and the process.
std::string NewRunId(const std::string& name) {
  return fmt::format("{}-{}-{}", name,
                     absl::FormatTime("%Y%m%d-%H%M%S", absl::Now(), absl::UTCTimeZone()), getpid());
}

// Fills in the options that the user omitted. The temporary directory must outlive the job.
absl::Status CompleteOptions(examples::RunOptions& options,
                             std::optional<TemporaryDirectory>& temporary) {
  if (options.job_id.empty()) options.job_id = NewRunId(options.job);
  options.run_uid = MakeRunUid();
  options.worker_command = WorkerCommand();
  // TIDEMARK_TLS_CA and similar variables are for a remote master.
  if (options.master_address.empty()) options.security = ClientSecurity();
  absl::Status made = CreateDirectory("--data-dir", options.master_options.data_dir);
  if (made.ok()) made = CreateDirectory("--log-dir", options.master_options.event_log_dir);
  if (!made.ok()) return made;
  if (!options.output_dir.empty()) return absl::OkStatus();
  absl::StatusOr<TemporaryDirectory> created = TemporaryDirectory::Create();
  if (!created.ok()) return created.status();
  temporary.emplace(*std::move(created));
  options.output_dir = temporary->path() + "/output";
  return absl::OkStatus();
}

// Prints the result of the job, one name and value per line.
void WriteResult(const examples::RunSummary& summary, const examples::RunOptions& options,
                 bool keeps_output, std::FILE* lines) {
  const auto write = [lines](const char* name, const std::string& value) {
    WriteLine(lines, fmt::format("{:<23} {}", name, value));
  };
  write("job_id", summary.job_id);
  write("elapsed_seconds", fmt::format("{:.3f}", absl::ToDoubleSeconds(summary.elapsed)));
  write("reduce_seconds", fmt::format("{:.3f}", absl::ToDoubleSeconds(summary.reduce_elapsed)));
  write("map_output_records", fmt::to_string(summary.map_output_records));
  write("map_output_bytes", fmt::to_string(summary.map_output_bytes));
  write("reduce_input_groups", fmt::to_string(summary.reduce_input_groups));
  write("reduce_output_records", fmt::to_string(summary.reduce_output_records));
  write("reduce_output_bytes", fmt::to_string(summary.reduce_output_bytes));
  write("reduce_output_checksum", fmt::format("{:016x}", summary.reduce_output_checksum));
  write("failed_attempts", fmt::to_string(summary.failed_attempts));
  write("output", keeps_output ? options.output_dir : "not kept");
  const std::string& log_dir = options.master_options.event_log_dir;
  if (!log_dir.empty() && options.agent_enabled) {
    write("event_log", store::EventLogPath(log_dir, summary.job_id));
  }
}

// Returns a phrase about the outcome of a job that its remote master has not confirmed.
std::string EndingOf(const absl::Status& status, const std::string& master) {
  if (master.empty()) return "";
  const char* ending = absl::IsCancelled(status) ? "was stopped" : "failed";
  return fmt::format("{}; the master at {} has not confirmed the end of the job",
                     status.ok() ? "succeeded" : ending, master);
}

absl::StatusOr<examples::RunSummary> RunAndWatch(const examples::RunOptions& options,
                                                 const ShowSnapshot& show,
                                                 BackgroundProgress& progress) {
  if (options.master_address.empty()) return examples::RunJob(options);
  RemoteWatch watch(options, show, progress);
  auto summary = examples::RunJob(options);
  const bool is_reported = summary.ok() && summary->is_reported;
  if (is_reported || (!summary.ok() && ExitCodeOfRun(summary.status()) != kUsage)) {
    watch.WaitForFinalSnapshot(is_reported);
  }
  return summary;
}

int Run(const RunArguments& arguments) {
  examples::RunOptions options = arguments.job;
  options.deadline = arguments.progress.deadline;
  options.reduce_task_count = arguments.reducers.value_or(std::min(
      kReducersPerSlot * options.slots, options.master_options.job.limits.reduce_tasks_max));
  std::vector<std::string>& indicators = options.master_options.job.indicators;
  indicators = IndicatorsFor(arguments.progress, std::move(indicators));
  std::optional<TemporaryDirectory> temporary;
  absl::Status status = CompleteOptions(options, temporary);
  if (status.ok()) {
    const Streams streams = StreamsOfRun(arguments.progress.mode);
    BackgroundProgress progress(MakeProgress(WithoutDeadline(arguments.progress), streams.progress,
                                             Environment::OfProcess()));
    const ShowSnapshot show = ShowIn(progress, arguments.progress.mode);
    options.on_snapshot = [&show](const Snapshot& snapshot) { show(snapshot); };
    options.on_success = [&](const std::string& master_address) {
      ExplainWaits(master_address, options.job_id, progress);
    };
    options.on_notice = [&progress](const std::string& notice) { progress.Warn(notice); };
    options.stop = &StopOnInterrupt();
    const auto summary = RunAndWatch(options, show, progress);
    progress.Finish(EndingOf(summary.status(), options.master_address));
    if (summary.ok() && arguments.prints_result) {
      WriteResult(*summary, options, !temporary.has_value(), streams.result);
    }
    status = summary.status();
  }
  const bool is_shown = !status.ok() && !absl::IsCancelled(status);
  const std::string flag =
      absl::IsAlreadyExists(status) ? fmt::format("--job-id {}: ", options.job_id) : "";
  if (is_shown) PrintError(flag + std::string(status.message()));
  return ExitCodeOfRun(status);
}

// More workers would overload one machine.
constexpr std::uint32_t kSlotsMax = 1024;

const std::map<std::string, examples::OutputKind> kOutputKinds = {
    {"text", examples::OutputKind::kText},
    {"deflate", examples::OutputKind::kDeflate},
    {"count", examples::OutputKind::kCount}};

std::uint32_t DefaultSlots() {
  constexpr std::uint32_t kUnknown = 2;
  const unsigned processors = std::thread::hardware_concurrency();  // 0 if unknown
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

void AddRunExample(CLI::App& run, Invocation& invocation) {
  CLI::App& app = *run.add_subcommand("example", "Run a job of the example engine");
  auto& arguments = ArgumentsOf<RunArguments>(app, invocation, Run);
  examples::RunOptions& job = arguments.job;
  AddFooter(app,
            JobsHelp() +
                "Exit code: 0 success, 1 the job failed, 2 usage error, 3 the master cannot be\n"
                "reached.");
  app.add_option("JOB", job.job, "Job to run; see below")->required();
  app.add_option("--input", job.inputs, "Input files, plain or .zst; the number depends on the job")
      ->expected(1, -1)
      ->type_name("FILE");
  app.add_option("--output-dir", job.output_dir,
                 "Directory for the result [the result is discarded]")
      ->type_name("DIR");
  app.add_option("--job-id", job.job_id, "Id of the job [made from its name and the time]");
  AddChoice(app, "--output-format", kOutputKinds, job.output,
            "Format of the result; `count` only counts its records");
  job.slots = DefaultSlots();
  Between(1U, kSlotsMax,
          app.add_option("--slots", job.slots, "Tasks that run at once [one per processor]"));
  Between(1U, job.master_options.job.limits.reduce_tasks_max,
          app.add_option_function<std::uint32_t>(
              "--reducers", [&arguments](std::uint32_t count) { arguments.reducers = count; },
              "Reduce tasks [two per slot]"));
  Between(0U, examples::kTasksMax,
          app.add_option("--maps", job.map_task_count, "Map tasks [0: by input size]"));
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
  CLI::Option* master = Address(app.add_option("--master", job.master_address,
                                               "Report to this master [a master in this process]")
                                    ->envname("TIDEMARK_MASTER"));
  AddSecurity(app, job.security);
  app.add_option(
         "--data-dir", job.master_options.data_dir,
         "Data directory of the master in this process; past runs improve the next forecast")
      ->type_name("DIR")
      ->excludes(master);
  app.add_option("--log-dir", job.master_options.event_log_dir,
                 "Write the job's event log to this directory, for `tidemark replay`")
      ->type_name("DIR")
      ->excludes(master);
  app.add_flag_callback(
         "--no-agent", [&job] { job.agent_enabled = false; }, "Run the job without an agent")
      ->excludes(master);
  AddProgress(app, arguments.progress);
  AddIndicators(app, job.master_options.job.indicators)->excludes(master);
}

// --- demo ---

struct DemoArguments {
  RunArguments run;
  bool has_page = false;
};

// Serves a page for the job of a demo until its destruction.
class DemoPage {
 public:
  static absl::StatusOr<std::unique_ptr<DemoPage>> Start(const JobMonitorOptions& job) {
    if (!web::WebServer::HasPage()) {
      return absl::FailedPreconditionError("--web: this program was built without its page");
    }
    serve::ServeConfig config;
    config.master.job = job;
    config.master.listen_address = config.web_address = "127.0.0.1:0";
    auto page = std::make_unique<DemoPage>();
    auto master = Master::Start(config.master);
    if (!master.ok()) return master.status();
    page->master_ = *std::move(master);
    auto server = serve::StartWeb(config, *page->master_);
    if (!server.ok()) return server.status();
    page->server_ = *std::move(server);
    page->url_ = serve::WebUrl(config, *page->server_);
    page->master_->AnnouncePage(page->url_);
    return page;
  }

  const std::string& url() const { return url_; }
  std::string master_address() const { return master_->address(); }

 private:
  std::unique_ptr<Master> master_;
  std::unique_ptr<web::WebServer> server_;  // ends before its master
  std::string url_;
};

// Returns the demo: a job whose keys are skewed, so that linear indicators fail.
examples::RunOptions DemoJob() {
  examples::RunOptions job;
  job.job = "two-path";
  job.parameters = {{"directions", "2"}};
  job.output = examples::OutputKind::kDeflate;
  return job;
}

constexpr char kDemoGraph[] = "graphs/musae-github.txt.zst";
constexpr char kDemoText[] =
    "This demo lists the paths of length two in a graph. Nodes with many neighbours take most of "
    "the time.\nWith its own graph, it takes about 50 s. It keeps no files. Ctrl-C ends it.";

int Run(const DemoArguments& arguments) {
  RunArguments demo = arguments.run;
  std::vector<std::string>& indicators = demo.job.master_options.job.indicators;
  indicators = IndicatorsFor(demo.progress, std::move(indicators));
  const std::string& graph = demo.job.inputs[0];
  std::error_code missing;
  if (graph == InstalledFile(kDemoGraph) && !std::filesystem::exists(graph, missing)) {
    PrintError(fmt::format("the demo's graph is missing at {}; reinstall tidemark, or pass --input",
                           graph));
    return kUsage;
  }
  const bool is_for_people =
      demo.progress.mode != ProgressMode::kJsonl && demo.progress.mode != ProgressMode::kQuiet;
  if (is_for_people) WriteLine(stderr, kDemoText);
  if (!arguments.has_page) return Run(demo);
  const auto page = DemoPage::Start(demo.job.master_options.job);
  if (!page.ok()) {
    PrintError(page.status());
    return kJobFailed;
  }
  WriteLine(stderr, fmt::format("page: {}", (*page)->url()));
  demo.job.master_address = (*page)->master_address();
  const std::atomic<bool>& is_stopped = StopOnInterrupt();
  const int exit_code = Run(demo);
  // Without a terminal, no user could end the page.
  if (exit_code != kSuccess || !IsTerminal(stderr)) return exit_code;
  WriteLine(stderr, fmt::format("The page is available until Ctrl-C: {}", (*page)->url()));
  while (!is_stopped) absl::SleepFor(absl::Milliseconds(100));
  return kSuccess;
}

// --- run ENGINE, ENGINE conf ---

int Run(const EngineConfArguments& arguments) {
  const Engine& engine = *FindEngine(arguments.engine);
  const absl::StatusOr<std::string> jar = FindJar(arguments.jar, engine.name, engine.jar_classes);
  const absl::StatusOr<std::string> text =
      jar.ok() ? engine.conf(arguments, *jar) : absl::StatusOr<std::string>(jar.status());
  if (!text.ok()) {
    PrintError(text.status());
    return kUsage;
  }
  std::fputs(text->c_str(), stdout);
  return kSuccess;
}

void AddJar(CLI::App& app, const std::string& engine, std::string& jar) {
  app.add_option("--jar", jar,
                 fmt::format("The connector, tidemark-{}.jar [the installed connector]", engine))
      ->envname(fmt::format("TIDEMARK_{}_JAR", absl::AsciiStrToUpper(engine)))
      ->type_name("FILE");
}

void AddRunEngine(CLI::App& run, const Engine& engine, Invocation& invocation) {
  CLI::App& app = *run.add_subcommand(
      engine.name,
      fmt::format("Run a command of {} and show its {}s", engine.title, engine.job_noun));
  const auto arguments = std::make_shared<EngineRunArguments>();
  arguments->engine = engine.name;
  app.final_callback([arguments, &invocation] {
    if (invocation.rest.empty()) {
      throw CLI::ValidationError("the command to run is missing; put it after --");
    }
    arguments->command = invocation.rest;
    invocation.arguments = *arguments;
    invocation.run = [arguments] { return Run(*arguments); };
  });
  AddJar(app, engine.name, arguments->jar);
  CLI::Option* master = NetworkAddress(
      app.add_option("--master", arguments->master,
                     "Report to this master [a master in this process while the command runs]")
          ->envname("TIDEMARK_MASTER"));
  AddSecurity(app, arguments->security);
  MasterOptions& own = arguments->own_master;
  app.add_option(
         "--listen", own.listen_address,
         "Address of the master in this process; all nodes of the cluster must be able to reach it")
      ->type_name("HOST:PORT")
      ->capture_default_str()
      ->excludes(master);
  app.add_flag("--allow-insecure-remote", own.allow_insecure_remote,
               "Allow addresses that other hosts can reach, even without TLS or tokens")
      ->excludes(master);
  app.add_option(
         "--data-dir", own.data_dir,
         "Data directory of the master in this process; past runs improve the next forecast")
      ->type_name("DIR")
      ->excludes(master);
  app.add_option("--log-dir", own.event_log_dir,
                 "Write the jobs' event logs to this directory, for `tidemark replay`")
      ->type_name("DIR")
      ->excludes(master);
  AddProgress(app, arguments->progress);
  AddFooter(app, fmt::format(
                     "The command follows the options: tidemark run {} --jar FILE -- COMMAND\n{}\n"
                     "Exit code: that of the command, or 2 if it could not be started.",
                     engine.name, engine.commands));
}

void AddEngine(CLI::App& root, const Engine& engine, Invocation& invocation) {
  CLI::App& group =
      *root.add_subcommand(engine.name, fmt::format("Settings and tools for {}", engine.title));
  group.require_subcommand(1);
  CLI::App& app = *group.add_subcommand(
      "conf", fmt::format("Print the settings that make {}s report to a master", engine.job_noun));
  auto& arguments = ArgumentsOf<EngineConfArguments>(app, invocation, Run);
  arguments.engine = engine.name;
  AddJar(app, engine.name, arguments.jar);
  arguments.master = serve::kDefaultMaster;
  NetworkAddress(app.add_option("--master", arguments.master, "Address of the master")
                     ->envname("TIDEMARK_MASTER")
                     ->capture_default_str());
  engine.add_conf_options(app, arguments);
  AddFooter(app, "Exit code: 0 success, 2 usage error or no connector.");
  if (engine.add_commands != nullptr) engine.add_commands(group, invocation);
}

}  // namespace

void AddDemo(CLI::App& root, Invocation& invocation) {
  CLI::App& app =
      *root.add_subcommand("demo", "Run a skewed job and show its bar; needs no settings");
  auto& arguments = ArgumentsOf<DemoArguments>(app, invocation, Run);
  arguments.run.job = DemoJob();
  arguments.run.reducers = 4;
  arguments.run.progress.compare = true;
  arguments.run.prints_result = false;
  app.add_flag("--web", arguments.has_page, "Also show the job on a page, until Ctrl-C");
  arguments.run.job.inputs = {InstalledFile(kDemoGraph)};
  app.add_option_function<std::string>(
         "--input", [&arguments](const std::string& file) { arguments.run.job.inputs = {file}; },
         "Graph with one edge per line, plain or .zst [37,700 nodes, 289,003 edges]")
      ->type_name("FILE");
  AddProgress(app, arguments.run.progress);
  app.remove_option(app.get_option("--compare"));  // The demo always compares.
  AddFooter(app, "Exit code: 0 success, 1 the job failed, 2 usage error.");
}

void AddRun(CLI::App& root, Invocation& invocation) {
  CLI::App& run = *root.add_subcommand("run", "Run a job and show its progress");
  run.require_subcommand(1);
  AddRunExample(run, invocation);
  for (const Engine& engine : Engines()) AddRunEngine(run, engine, invocation);
  for (const Engine& engine : Engines()) AddEngine(root, engine, invocation);
}

}  // namespace tidemark::cli
