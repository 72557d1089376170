// Tez's row in the table of engines.
#include <string>

#include "absl/time/clock.h"
#include "cli/engines.h"
#include "cli/hadoop/yarn_outcome.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/process.h"
#include "cli/tez/settings.h"

namespace tidemark::cli {
namespace {

// Returns the command in an environment with a copy of Hadoop's settings, whose tez-site.xml
// contains the settings of the connector.
absl::StatusOr<ReportingCommand> LaunchTez(const EngineRunArguments& arguments,
                                           const std::string& jar, const std::string& master,
                                           const std::string& directory) {
  const absl::StatusOr<std::string> configuration =
      FindConfiguration(arguments.command[0], EnvironmentVariable);
  if (!configuration.ok()) return configuration.status();
  std::vector<HadoopSetting> settings = TezConnectorSettings(master, jar);
  if (const auto& deadline = arguments.progress.deadline) {
    settings.push_back({"tidemark.deadline", InstantText(*deadline, absl::Now())});
  }
  const CommandWorkflow workflow = WorkflowOf(arguments.command, EnvironmentVariable);
  settings.insert(settings.end(), workflow.settings.begin(), workflow.settings.end());
  const absl::Status copied =
      CopyConfiguration(*configuration,
                        {.name = kTezSite,
                         .original = FindTezSite(*configuration, EnvironmentVariable),
                         .settings = settings,
                         .beside = BesideTez},
                        directory);
  if (!copied.ok()) return copied;
  return ReportingCommand{.command = arguments.command,
                          .variables = {{kWorkflowVariable, workflow.id},
                                        {"HADOOP_CONF_DIR", directory},
                                        {"YARN_CONF_DIR", directory},
                                        {"TEZ_CONF_DIR", directory}},
                          .workflow = workflow.id,
                          .is_whole_workflow = workflow.is_own};
}

std::vector<std::string> TezYarnFolders(const std::vector<std::string>& command) {
  return YarnFolders(FindConfiguration(command[0], EnvironmentVariable).value_or(""));
}

absl::StatusOr<std::string> TezConf(const EngineConfArguments& arguments, const std::string& jar) {
  return SiteConf(arguments.site, arguments.as_options, TezConnectorSettings(arguments.master, jar),
                  BesideTez);
}

void AddTezConfOptions(CLI::App& app, EngineConfArguments& arguments) {
  app.add_option("--site", arguments.site,
                 "Keep the jars and the history service of this tez-site.xml")
      ->type_name("FILE");
  app.add_flag("--options", arguments.as_options, "Print -D options for a shell instead of XML");
  AddFooter(app, "Add the properties to the tez-site.xml of the machines that start DAGs.");
}

}  // namespace

Engine TezEngine() {
  return {.name = "tez",
          .title = "Apache Tez",
          .commands =
              "COMMAND is `hive ...`, `pig -x tez ...`, `hadoop jar ...` or a script of these. It\n"
              "gets its own HADOOP_CONF_DIR, derived from yours. Several DAGs form one workflow.\n"
              "Commands with the same TIDEMARK_WORKFLOW share a workflow.",
          .job_noun = "DAG",
          .logs = "the logs of its application master",
          .jar_classes = TezConnectorClasses(),
          .launch = LaunchTez,
          .ids_in = DagIdsIn,
          .yarn_folders = TezYarnFolders,
          .conf = TezConf,
          .add_conf_options = AddTezConfOptions,
          .add_commands = nullptr};
}

}  // namespace tidemark::cli
