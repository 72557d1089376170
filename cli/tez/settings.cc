#include "cli/tez/settings.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace tidemark::cli {
namespace {

constexpr const char* kTezJars = "tez.aux.uris";
constexpr const char* kTezHistory = "tez.history.logging.service.class";
constexpr const char* kTidemarkHistory = "org.tidemark.tez.TidemarkHistory";
constexpr const char* kTezGuard = "org.tidemark.tez.jvm.guard.Guard";
constexpr const char* kTezJarFile = "/tidemark-tez.jar";

}  // namespace

std::vector<HadoopSetting> TezConnectorSettings(std::string_view master, std::string_view jar) {
  return {{"tidemark.master", std::string(master)},
          {kTezJars, fmt::format("file://{}", jar)},
          {kTezHistory, kTidemarkHistory}};
}

std::vector<std::string> TezConnectorClasses() { return {kTidemarkHistory, kTezGuard}; }

std::vector<HadoopSetting> BesideTez(const std::vector<HadoopSetting>& sites,
                                     std::vector<HadoopSetting> connectors) {
  std::vector<HadoopSetting> delegates;
  for (const HadoopSetting& site : sites) {
    for (HadoopSetting& ours : connectors) {
      if (ours.key != site.key || site.value.empty() || site.value == ours.value) continue;
      if (site.key == kTezJars) {
        const bool has_connector = site.value.find(kTezJarFile) != site.value.npos;
        ours.value = has_connector ? site.value : ours.value + "," + site.value;
      }
      if (site.key == kTezHistory) delegates.push_back({"tidemark.history.delegate", site.value});
    }
  }
  connectors.insert(connectors.end(), delegates.begin(), delegates.end());
  return connectors;
}

std::string FindTezSite(const std::string& configuration,
                        const std::function<std::string(const char*)>& variable) {
  namespace fs = std::filesystem;
  std::vector<std::string> folders = {configuration};
  const std::string class_path = variable("HADOOP_CLASSPATH");
  for (const absl::string_view entry : absl::StrSplit(class_path, ':', absl::SkipEmpty())) {
    folders.emplace_back(entry);
  }
  folders.push_back(variable("TEZ_CONF_DIR"));
  for (const std::string& folder : folders) {
    const fs::path site = fs::path(folder) / kTezSite;
    std::error_code error;
    if (!folder.empty() && fs::is_regular_file(site, error)) return site;
  }
  return fs::path(configuration) / kTezSite;
}

std::vector<std::string> DagIdsIn(std::string_view line) { return IdsIn(line, "dag_", 3); }

}  // namespace tidemark::cli
