// `tidemark spark run` and `tidemark spark conf`.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "cli/client_process.h"
#include "cli/commands.h"
#include "cli/connector_jar.h"
#include "cli/environment.h"
#include "cli/exit_code.h"
#include "cli/hadoop/yarn_endings.h"
#include "cli/progress.h"
#include "cli/spark/settings.h"
#include "cli/watched_command.h"
#include "transport/small_file.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Where the command's settings are, as Spark's scripts have it.
std::string DefaultsFileOf(const std::vector<std::string>& command) {
  if (std::string named = PropertiesFileOf(command); !named.empty()) return named;
  fs::path folder = Variable("SPARK_CONF_DIR");
  if (const std::string home = Variable("SPARK_HOME"); folder.empty() && !home.empty()) {
    folder = fs::path(home) / "conf";
  }
  if (const auto program = FindProgram(command[0], Variable("PATH")); folder.empty() && program) {
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

// Whether it takes the options of spark-submit.
bool IsOfSpark(const std::string& program) {
  const std::string name = fs::path(program).filename();
  return name.starts_with("spark") || name.starts_with("pyspark");
}

// Whether it runs a program that has arguments of its own.
bool IsSparkSubmit(const std::string& program) {
  return std::string(fs::path(program).filename()).starts_with("spark-submit");
}

absl::StatusOr<std::string> FindSparkJar(const std::string& jar) {
  return FindJar(jar, "spark", {kSparkPlugin, kSparkPart});
}

}  // namespace

int Do(const SparkRunArguments& arguments) {
  const auto launch = [&](const std::string& master,
                          const std::string&) -> absl::StatusOr<CommandLaunch> {
    if (!IsOfSpark(arguments.command[0])) {
      return absl::InvalidArgumentError(fmt::format(
          "{} is none of spark-submit, pyspark, spark-shell and spark-sql; for other programs "
          "`tidemark spark conf` prints the settings",
          arguments.command[0]));
    }
    const absl::StatusOr<std::string> jar = FindSparkJar(arguments.jar);
    if (!jar.ok()) return jar.status();
    const auto defaults = DefaultsOf(arguments.command);
    if (!defaults.ok()) return defaults.status();
    std::vector<SparkSetting> settings = SparkConnectorSettings(
        master, *jar, arguments.master.empty() ? ClientSecurity() : arguments.security);
    settings.emplace_back("spark.tidemark.announce", "true");
    if (const auto& deadline = arguments.progress.deadline) {
      settings.emplace_back("spark.tidemark.deadline", InstantText(*deadline, absl::Now()));
    }
    if (IsSparkSubmit(arguments.command[0])) {
      for (SparkSetting& parameter : ParametersAmong(arguments.command, *defaults)) {
        settings.push_back(std::move(parameter));
      }
    }
    // Spark's own bars show stages; ours replace them.
    settings.emplace_back("spark.ui.showConsoleProgress", "false");
    return CommandLaunch{WithSparkSettings(arguments.command, *defaults, settings), {}};
  };
  YarnEndings endings(YarnFolders(""));
  return RunWatched(
      arguments,
      {.launch = launch,
       .ids_in = ApplicationIdsIn,
       .on_line = [&](std::string_view line) { endings.NoteLine(line); },
       .ending_of = [&](const std::string& job,
                        int exit_code) { return endings.EndingOf(job, exit_code); },
       .silent_job = "the logs of its driver and executors",
       .no_job = "no application has reported; see docs/spark.md for what may be in the way"});
}

int Do(const SparkConfArguments& arguments) {
  const absl::StatusOr<std::string> jar = FindSparkJar(arguments.jar);
  if (!jar.ok()) {
    Complain(std::string(jar.status().message()));
    return kUsage;
  }
  const auto settings = SparkConnectorSettings(arguments.master, *jar, arguments.security);
  const std::string text =
      arguments.as_options ? ToSparkOptions(settings) : ToSparkDefaults(settings);
  std::fputs(text.c_str(), stdout);
  return kSuccess;
}

}  // namespace tidemark::cli
