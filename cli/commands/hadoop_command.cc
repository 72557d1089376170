#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/clock.h"
#include "cli/commands.h"
#include "cli/connector_jar.h"
#include "cli/environment.h"
#include "cli/exit_code.h"
#include "cli/hadoop/configuration.h"
#include "cli/hadoop/settings.h"
#include "cli/hadoop/yarn_endings.h"
#include "cli/progress.h"
#include "cli/watched_command.h"
#include "transport/small_file.h"

namespace tidemark::cli {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// What the client's environment must have: a copy of Hadoop's settings with ours among them, and
// the connector on the class path, for jobs that run within the client.
absl::StatusOr<std::map<std::string, std::string>> ClientVariables(
    const std::string& program, const std::vector<HadoopSetting>& settings, const std::string& jar,
    const std::string& directory) {
  const absl::StatusOr<std::string> configuration = FindConfiguration(program, Variable);
  if (!configuration.ok()) return configuration.status();
  const absl::Status copied = CopyConfiguration(*configuration, settings, directory);
  if (!copied.ok()) return copied;
  const std::string class_path = Variable("HADOOP_CLASSPATH");
  return std::map<std::string, std::string>{
      {"HADOOP_CONF_DIR", directory},
      {"YARN_CONF_DIR", directory},
      {"HADOOP_CLASSPATH", class_path.empty() ? jar : jar + ":" + class_path}};
}

}  // namespace

int Do(const HadoopRunArguments& arguments) {
  const absl::StatusOr<std::string> jar = FindJar(arguments.jar, "hadoop", ConnectorClasses());
  if (!jar.ok()) {
    Complain(std::string(jar.status().message()));
    return kUsage;
  }
  const auto launch = [&](const std::string& master,
                          const std::string& directory) -> absl::StatusOr<CommandLaunch> {
    std::vector<HadoopSetting> settings = ConnectorSettings(master, *jar);
    if (const auto& deadline = arguments.progress.deadline) {
      settings.push_back({"tidemark.deadline", InstantText(*deadline, absl::Now())});
    }
    auto variables = ClientVariables(arguments.command[0], settings, *jar, directory);
    if (!variables.ok()) return variables.status();
    return CommandLaunch{WithJar(arguments.command, *jar), *std::move(variables)};
  };
  YarnEndings endings(YarnFolders(FindConfiguration(arguments.command[0], Variable).value_or("")));
  return RunWatched(
      arguments, {.launch = launch,
                  .ids_in = JobIdsIn,
                  .on_line = [&](std::string_view line) { endings.NoteLine(line); },
                  .ending_of = [&](const std::string& job,
                                   int exit_code) { return endings.EndingOf(job, exit_code); },
                  .silent_job = "the logs of its application master and tasks",
                  .no_job = "no job has reported; see docs/hadoop.md for what may be in the way"});
}

int Do(const HadoopConfArguments& arguments) {
  const absl::StatusOr<std::string> jar = FindJar(arguments.jar, "hadoop", ConnectorClasses());
  if (!jar.ok()) {
    Complain(std::string(jar.status().message()));
    return kUsage;
  }
  std::vector<HadoopSetting> settings = ConnectorSettings(arguments.master, *jar);
  if (!arguments.site.empty()) {
    const absl::StatusOr<std::string> site = transport::ReadSmallFile(arguments.site);
    if (!site.ok()) {
      Complain(fmt::format("--site {}", std::string(site.status().message())));
      return kUsage;
    }
    settings = Beside(SettingsIn(*site, settings), settings);
  }
  const std::string text = arguments.as_options ? ToHadoopOptions(settings) : ToHadoopXml(settings);
  std::fputs(text.c_str(), stdout);
  return kSuccess;
}

}  // namespace tidemark::cli
