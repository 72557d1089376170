// The engines whose jobs Tidemark follows. docs/internals/adding-an-engine.md lists the steps to
// add an engine.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/commands.h"
#include "tidemark/client_security.h"
#include "tidemark/master.h"

namespace tidemark::cli {

// Arguments of `run ENGINE -- COMMAND`.
struct EngineRunArguments {
  std::string engine;        // Engine::name
  std::string jar;           // path of the connector; the installed connector if empty
  std::string master;        // address of the master; if empty, a master in this process
  ClientSecurity security;   // credentials for `master`
  MasterOptions own_master;  // options of the master in this process
  std::vector<std::string> command;
  ProgressArguments progress;
};

struct EngineConfArguments {
  std::string engine;
  std::string jar;
  std::string master;
  ClientSecurity security;  // credentials of the connector for the master
  std::string site;         // a configuration file whose plug-ins stay in use; none if empty
  bool as_options = false;  // print options for a shell instead of a configuration file
};

// A command whose jobs report to a master.
struct ReportingCommand {
  std::vector<std::string> command;
  std::map<std::string, std::string> variables;  // replacements of environment variables
  // Id of the workflow that the command's jobs report, or empty if they report none.
  std::string workflow;
  // True if the workflow consists of this command, so that it ends with the command.
  bool is_whole_workflow = false;
};

// One row of the table of engines.
struct Engine {
  // In lower case. Determines the commands `run NAME` and `NAME conf`, the connector agent/NAME
  // with its jar tidemark-NAME.jar (TIDEMARK_NAME_JAR), and docs/NAME.md.
  std::string name;
  std::string title;     // name in help texts, such as "Apache Hadoop"
  std::string commands;  // sentence that lists the commands after `run NAME --`
  std::string job_noun;  // "job" or "application"
  // Plural noun for the logs in which the connector reports why a job is missing.
  std::string logs;
  // Classes in the connector's jar. If one is missing, every job with the connector's settings
  // fails.
  std::vector<std::string> jar_classes;

  // Returns `arguments.command` with the settings that make its jobs report to `master` through the
  // connector `jar`. `directory` is empty and exists until the command ends. Error messages contain
  // a remedy.
  absl::StatusOr<ReportingCommand> (*launch)(const EngineRunArguments& arguments,
                                             const std::string& jar, const std::string& master,
                                             const std::string& directory);
  // Returns the ids of jobs in a line that the command writes.
  std::vector<std::string> (*ids_in)(std::string_view line);
  // Returns the folders that may contain the yarn-site.xml of the command.
  std::vector<std::string> (*yarn_folders)(const std::vector<std::string>& command);

  // Returns the text that `NAME conf` prints.
  absl::StatusOr<std::string> (*conf)(const EngineConfArguments& arguments, const std::string& jar);
  // Adds the options and the footer of `NAME conf`, except --jar and --master.
  void (*add_conf_options)(CLI::App& app, EngineConfArguments& arguments);
  // Adds further commands below `NAME`; may be null.
  void (*add_commands)(CLI::App& group, Invocation& invocation);
};

// Each function returns one row and is defined in NAME/engine.cc.
Engine HadoopEngine();
Engine SparkEngine();
Engine TezEngine();
inline constexpr Engine (*kEngineRows[])() = {HadoopEngine, SparkEngine, TezEngine};

// Returns the table of engines.
const std::vector<Engine>& Engines();

// Returns the engine of that name, or null.
const Engine* FindEngine(std::string_view name);

}  // namespace tidemark::cli
