// Hadoop's row in the table of engines, and `hadoop poll`.
#include <fmt/format.h>

#include <optional>
#include <string>

#include "absl/time/clock.h"
#include "cli/engines.h"
#include "cli/hadoop/application_poller.h"
#include "cli/hadoop/rest_view.h"
#include "cli/hadoop/settings.h"
#include "cli/hadoop/yarn_outcome.h"
#include "cli/master_call.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/process.h"
#include "cli/progress.h"

namespace tidemark::cli {
namespace {

constexpr const char* kHadoopSite = "mapred-site.xml";

// Returns the command with the connector in mapred-site.xml, and on the class path for jobs that
// run within the client.
absl::StatusOr<ReportingCommand> LaunchHadoop(const EngineRunArguments& arguments,
                                              const std::string& jar, const std::string& master,
                                              const std::string& directory) {
  const absl::StatusOr<std::string> configuration =
      FindConfiguration(arguments.command[0], EnvironmentVariable);
  if (!configuration.ok()) return configuration.status();
  absl::StatusOr<ReportingCommand> launched =
      LaunchWithSite(arguments, *configuration,
                     {.name = kHadoopSite,
                      .original = *configuration + "/" + kHadoopSite,
                      .settings = ConnectorSettings(master, jar),
                      .beside = Beside},
                     directory);
  if (!launched.ok()) return launched;
  launched->command = WithJar(arguments.command, jar);
  const std::string class_path = EnvironmentVariable("HADOOP_CLASSPATH");
  launched->variables["HADOOP_CLASSPATH"] = class_path.empty() ? jar : jar + ":" + class_path;
  return launched;
}

absl::StatusOr<std::string> HadoopConf(const EngineConfArguments& arguments,
                                       const std::string& jar) {
  return SiteConf(arguments.site, arguments.as_options, ConnectorSettings(arguments.master, jar),
                  Beside);
}

void AddHadoopConfOptions(CLI::App& app, EngineConfArguments& arguments) {
  AddSiteOptions(app, arguments,
                 "Keep the plug-ins of this mapred-site.xml: the connector delegates to them",
                 "Save the XML and pass it to a job: hadoop jar JAR JOB -conf FILE ...");
}

// --- hadoop poll ---

// How long a resource manager that has answered once may be unreachable.
constexpr absl::Duration kUnreachableMax = absl::Minutes(1);

struct HadoopPollArguments {
  std::string application;
  std::string resource_manager;  // URL of the resource manager
  absl::Duration interval = absl::Seconds(1);
  ProgressArguments progress;
};

int Run(const HadoopPollArguments& arguments) {
  WebClient web;
  ApplicationPoller poller(
      arguments.resource_manager, arguments.application,
      [&web](const std::string& url) { return web.Get(url); }, arguments.progress.compare);
  const auto progress = MakeProgress(arguments.progress, stdout, Environment::OfProcess());
  std::optional<absl::Time> answered_at;
  std::string shown_reason;
  for (;;) {
    const absl::Time now = absl::Now();
    const absl::StatusOr<Snapshot> snapshot = poller.Poll(now);
    if (snapshot.ok()) {
      answered_at = now;
      if (const std::string& why = poller.why_no_job(); !why.empty() && why != shown_reason) {
        progress->Warn(shown_reason = why);
      }
      const bool is_named = snapshot->info && !snapshot->info->name.empty();
      if (is_named && !progress->Show(*snapshot)) return kReaderGone;
      if (snapshot->is_final) {
        progress->Finish();
        return snapshot->state == JobState::kSucceeded ? kSuccess : kJobFailed;
      }
    } else if (!answered_at || now - *answered_at > kUnreachableMax ||
               absl::IsFailedPrecondition(snapshot.status())) {
      PrintError(std::string(snapshot.status().message()));
      return ExitCodeOf(snapshot.status());
    }
    absl::SleepFor(arguments.interval);
  }
}

void AddHadoopPoll(CLI::App& hadoop, Invocation& invocation) {
  CLI::App& app = *hadoop.add_subcommand(
      "poll", "Follow a YARN application without the connector, through its web service");
  auto& arguments = ArgumentsOf<HadoopPollArguments>(app, invocation, Run);
  const auto check = [](const std::string& id) -> std::string {
    if (IsYarnId(id)) return "";
    return fmt::format(
        "must be the id of an application or its job, such as application_1700000000000_0001, not "
        "{}",
        id);
  };
  app.add_option("APPLICATION", arguments.application, "Id of the application or of its job")
      ->required()
      ->check(check, "");
  app.add_option("--resource-manager", arguments.resource_manager,
                 "URL of the resource manager's web service, such as http://rm:8088")
      ->required()
      ->type_name("URL");
  Between(0.1, 3600.0,
          app.add_option_function<double>(
                 "--interval",
                 [&arguments](double seconds) { arguments.interval = absl::Seconds(seconds); },
                 "Seconds between polls [1]")
              ->type_name("SECONDS"));
  AddProgress(app, arguments.progress);
  AddFooter(app,
            "Exit code: 0 the job succeeded, 1 it did not, 2 usage error, 3 the resource manager\n"
            "cannot be reached, 5 no such application.");
}

}  // namespace

Engine HadoopEngine() {
  return {
      .name = "hadoop",
      .title = "Apache Hadoop",
      .commands =
          "COMMAND is `hadoop jar ...`, `pig ...`, `hive ...` or a script of these. It gets its\n"
          "own HADOOP_CONF_DIR and HADOOP_CLASSPATH, derived from yours. Several jobs form one\n"
          "workflow. Commands with the same TIDEMARK_WORKFLOW share a workflow.",
      .job_noun = "job",
      .logs = "the logs of its application master and tasks",
      .jar_classes = ConnectorClasses(),
      .launch = LaunchHadoop,
      .ids_in = JobIdsIn,
      .yarn_folders = YarnFoldersOf,
      .conf = HadoopConf,
      .add_conf_options = AddHadoopConfOptions,
      .add_commands = AddHadoopPoll};
}

}  // namespace tidemark::cli
