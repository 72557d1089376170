// Tez's row in the table of engines.
#include <string>

#include "cli/engines.h"
#include "cli/process.h"
#include "cli/tez/settings.h"

namespace tidemark::cli {
namespace {

// Returns the command with the settings of the connector in tez-site.xml.
absl::StatusOr<ReportingCommand> LaunchTez(const EngineRunArguments& arguments,
                                           const std::string& jar, const std::string& master,
                                           const std::string& directory) {
  const absl::StatusOr<std::string> configuration =
      FindConfiguration(arguments.command[0], EnvironmentVariable);
  if (!configuration.ok()) return configuration.status();
  absl::StatusOr<ReportingCommand> launched =
      LaunchWithSite(arguments, *configuration,
                     {.name = kTezSite,
                      .original = FindTezSite(*configuration, EnvironmentVariable),
                      .settings = TezConnectorSettings(master, jar),
                      .beside = BesideTez},
                     directory);
  if (launched.ok()) launched->variables["TEZ_CONF_DIR"] = directory;
  return launched;
}

absl::StatusOr<std::string> TezConf(const EngineConfArguments& arguments, const std::string& jar) {
  return SiteConf(arguments.site, arguments.as_options, TezConnectorSettings(arguments.master, jar),
                  BesideTez);
}

void AddTezConfOptions(CLI::App& app, EngineConfArguments& arguments) {
  AddSiteOptions(app, arguments, "Keep the jars and the history service of this tez-site.xml",
                 "Add the properties to the tez-site.xml of the machines that start DAGs.");
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
          .yarn_folders = YarnFoldersOf,
          .conf = TezConf,
          .add_conf_options = AddTezConfOptions,
          .add_commands = nullptr};
}

}  // namespace tidemark::cli
