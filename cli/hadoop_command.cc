#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/hadoop/configuration.h"
#include "cli/hadoop/settings.h"
#include "cli/progress.h"
#include "transport/small_file.h"

namespace tidemark::cli {

int Do(const HadoopConfArguments& arguments) {
  const absl::StatusOr<std::string> jar = FindJar(arguments.jar);
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
