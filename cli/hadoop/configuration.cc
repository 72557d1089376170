#include "cli/hadoop/configuration.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <system_error>

#include "cli/client_process.h"
#include "transport/small_file.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSite = "mapred-site.xml";

bool IsFolder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

absl::Status Trouble(const fs::path& path, const std::string& what) {
  return absl::UnavailableError(fmt::format("{}: {}", path.string(), what));
}

absl::Status WriteSite(const fs::path& original, const std::vector<HadoopSetting>& settings,
                       const fs::path& path) {
  std::error_code error;
  std::string xml;
  if (fs::exists(original, error)) {
    absl::StatusOr<std::string> text = transport::ReadSmallFile(original);
    if (!text.ok()) return text.status();
    xml = *std::move(text);
  }
  const absl::StatusOr<std::string> whole =
      WithSettings(xml, Beside(SettingsIn(xml, settings), settings));
  if (!whole.ok()) return Trouble(original, std::string(whole.status().message()));
  std::ofstream file(path, std::ios::binary);
  file << *whole;
  file.close();
  return file ? absl::OkStatus() : Trouble(path, "cannot be written");
}

}  // namespace

absl::StatusOr<std::string> FindConfiguration(
    const std::string& program, const std::function<std::string(const char*)>& variable) {
  if (const std::string folder = variable("HADOOP_CONF_DIR"); !folder.empty()) {
    if (IsFolder(folder)) return folder;
    return absl::NotFoundError(fmt::format("HADOOP_CONF_DIR is not a directory: {}", folder));
  }
  std::vector<fs::path> homes;
  if (const std::string home = variable("HADOOP_HOME"); !home.empty()) homes.emplace_back(home);
  if (const auto found = FindProgram(program, variable("PATH"))) {
    std::error_code error;
    const fs::path real = fs::canonical(*found, error);
    if (!error) homes.push_back(real.parent_path().parent_path());
  }
  for (const fs::path& home : homes) {
    if (const fs::path folder = home / "etc" / "hadoop"; IsFolder(folder)) return folder.string();
  }
  return absl::NotFoundError(
      fmt::format("no Hadoop configuration found for {}; set HADOOP_CONF_DIR", program));
}

absl::Status CopyConfiguration(const std::string& configuration,
                               const std::vector<HadoopSetting>& settings,
                               const std::string& copy) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(configuration, error)) {
    const fs::path name = entry.path().filename();
    if (name == kSite) continue;
    fs::create_symlink(fs::absolute(entry.path()), fs::path(copy) / name, error);
    if (error) return Trouble(fs::path(copy) / name, error.message());
  }
  if (error) return Trouble(configuration, error.message());
  return WriteSite(fs::path(configuration) / kSite, settings, fs::path(copy) / kSite);
}

}  // namespace tidemark::cli
