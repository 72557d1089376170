#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/time/clock.h"
#include "cli/engines.h"
#include "cli/hadoop/yarn_outcome.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/process.h"
#include "cli/spark/settings.h"
#include "transport/small_file.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

// Returns the file with the settings of the command, like Spark's scripts.
std::string DefaultsFileOf(const std::vector<std::string>& command) {
  if (std::string named = PropertiesFileOf(command); !named.empty()) return named;
  fs::path folder = EnvironmentVariable("SPARK_CONF_DIR");
  if (const std::string home = EnvironmentVariable("SPARK_HOME"); folder.empty() && !home.empty()) {
    folder = fs::path(home) / "conf";
  }
  if (const auto program = FindProgram(command[0], EnvironmentVariable("PATH"));
      folder.empty() && program) {
    std::error_code error;
    folder = fs::canonical(*program, error).parent_path().parent_path() / "conf";
  }
  return folder / "spark-defaults.conf";
}

absl::StatusOr<std::map<std::string, std::string>> DefaultsOf(
    const std::vector<std::string>& command) {
  const std::string file = DefaultsFileOf(command);
  std::error_code error;
  if (!fs::exists(file, error)) return std::map<std::string, std::string>();
  const absl::StatusOr<std::string> text = transport::ReadSmallFile(file);
  if (!text.ok()) return text.status();
  return SparkDefaults(*text);
}

// Returns true if the program accepts the options of spark-submit.
bool IsSparkProgram(const std::string& program) {
  const std::string name = fs::path(program).filename();
  return name.starts_with("spark") || name.starts_with("pyspark");
}

// Returns true if the program runs an application that has its own arguments.
bool IsSparkSubmit(const std::string& program) {
  return std::string(fs::path(program).filename()).starts_with("spark-submit");
}

absl::StatusOr<ReportingCommand> LaunchSpark(const EngineRunArguments& arguments,
                                             const std::string& jar, const std::string& master,
                                             const std::string&) {
  if (!IsSparkProgram(arguments.command[0])) {
    return absl::InvalidArgumentError(
        fmt::format("{} is not spark-submit, pyspark, spark-shell or spark-sql; for other programs "
                    "`tidemark spark conf` prints the settings",
                    arguments.command[0]));
  }
  const auto defaults = DefaultsOf(arguments.command);
  if (!defaults.ok()) return defaults.status();
  std::vector<SparkSetting> settings = SparkConnectorSettings(
      master, jar, arguments.master.empty() ? ClientSecurity() : arguments.security);
  settings.emplace_back("spark.tidemark.announce", "true");
  if (const auto& deadline = arguments.progress.deadline) {
    settings.emplace_back("spark.tidemark.deadline", InstantText(*deadline, absl::Now()));
  }
  if (IsSparkSubmit(arguments.command[0])) {
    for (SparkSetting& parameter : ParametersAmong(arguments.command, *defaults)) {
      settings.push_back(std::move(parameter));
    }
  }
  // Spark's own bars of stages would overwrite this bar.
  settings.emplace_back("spark.ui.showConsoleProgress", "false");
  return ReportingCommand{.command = WithSparkSettings(arguments.command, *defaults, settings),
                          .variables = {}};
}

std::vector<std::string> SparkYarnFolders(const std::vector<std::string>&) {
  return YarnFolders("");
}

absl::StatusOr<std::string> SparkConf(const EngineConfArguments& arguments,
                                      const std::string& jar) {
  const auto settings = SparkConnectorSettings(arguments.master, jar, arguments.security);
  return arguments.as_options ? ToSparkOptions(settings) : ToSparkDefaults(settings);
}

void AddSparkConfOptions(CLI::App& app, EngineConfArguments& arguments) {
  AddSecurity(app, arguments.security);
  app.add_flag("--options", arguments.as_options,
               "Print --conf options for a shell instead of lines of spark-defaults.conf");
}

}  // namespace

Engine SparkEngine() {
  return {.name = "spark",
          .title = "Apache Spark",
          .commands = "COMMAND is `spark-submit ...`, `pyspark`, `spark-shell` or `spark-sql`.",
          .job_noun = "application",
          .logs = "the logs of its driver and executors",
          .jar_classes = {kSparkPlugin, kSparkPart},
          .launch = LaunchSpark,
          .ids_in = ApplicationIdsIn,
          .yarn_folders = SparkYarnFolders,
          .conf = SparkConf,
          .add_conf_options = AddSparkConfOptions,
          .add_commands = nullptr};
}

}  // namespace tidemark::cli
