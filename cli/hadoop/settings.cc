#include "cli/hadoop/settings.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "cli/hadoop/yarn_outcome.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/process.h"
#include "hadoop/configuration.h"
#include "text/utf8.h"
#include "transport/small_file.h"

namespace tidemark::cli {
namespace {

constexpr const char* kWorkflowVariable = "TIDEMARK_WORKFLOW";
constexpr const char* kTemporaryJars = "tmpjars";
// Hive replaces tmpjars if a query adds a jar, and tmpfiles if it adds a file. Tasks have the jars
// of both in their class paths. The two links of the jar need different names.
constexpr const char* kTemporaryFiles = "tmpfiles";
constexpr const char* kLinkOfFile = "#tidemark-file.jar";
constexpr const char* kCollector = "mapreduce.job.map.output.collector.class";
constexpr const char* kShuffle = "mapreduce.job.reduce.shuffle.consumer.plugin.class";
constexpr const char* kPreemption = "yarn.app.mapreduce.am.preemption.policy";
constexpr const char* kTidemarkCollector = "org.tidemark.hadoop.TidemarkCollector";
constexpr const char* kTidemarkShuffle = "org.tidemark.hadoop.TidemarkShuffle";
constexpr const char* kTidemarkPolicy = "org.tidemark.hadoop.TidemarkPolicy";
constexpr const char* kHadoopsCollector = "org.apache.hadoop.mapred.MapTask$MapOutputBuffer";

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::size_t SkipDigits(std::string_view text, std::size_t at) {
  while (at < text.size() && IsDigit(text[at])) ++at;
  return at;
}

std::string EscapedForXml(std::string_view text) {
  return absl::StrReplaceAll(absl::string_view(text.data(), text.size()),
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}});
}

std::string Property(const HadoopSetting& setting) {
  return fmt::format("  <property>\n    <name>{}</name>\n    <value>{}</value>\n  </property>\n",
                     EscapedForXml(setting.key), EscapedForXml(setting.value));
}

// --- the folder of settings ---

namespace fs = std::filesystem;

bool IsFolder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

absl::Status FileError(const fs::path& path, const std::string& what) {
  return absl::UnavailableError(fmt::format("{}: {}", path.string(), what));
}

absl::Status WriteSite(const ReplacedSite& site, const fs::path& path) {
  std::error_code error;
  std::string xml;
  if (fs::exists(site.original, error)) {
    absl::StatusOr<std::string> text = transport::ReadSmallFile(site.original);
    if (!text.ok()) return text.status();
    xml = *std::move(text);
  }
  const absl::StatusOr<std::string> whole =
      WithSettings(xml, site.beside(SettingsIn(xml, site.settings), site.settings));
  if (!whole.ok()) return FileError(site.original, std::string(whole.status().message()));
  std::ofstream file(path, std::ios::binary);
  file << *whole;
  file.close();
  return file ? absl::OkStatus() : FileError(path, "cannot be written");
}

}  // namespace

std::vector<HadoopSetting> ConnectorSettings(std::string_view master, std::string_view jar) {
  return {
      {"tidemark.master", std::string(master)},
      {kTemporaryJars, fmt::format("file://{}", jar)},
      {kTemporaryFiles, fmt::format("file://{}{}", jar, kLinkOfFile)},
      {kCollector, fmt::format("{},{}", kTidemarkCollector, kHadoopsCollector)},
      {kShuffle, kTidemarkShuffle},
      {kPreemption, kTidemarkPolicy},
  };
}

std::vector<std::string> ConnectorClasses() {
  return {kTidemarkCollector, kTidemarkShuffle, kTidemarkPolicy};
}

std::string ToHadoopXml(const std::vector<HadoopSetting>& settings) {
  std::string xml = "<configuration>\n";
  for (const HadoopSetting& setting : settings) xml += Property(setting);
  return xml + "</configuration>\n";
}

std::string ToHadoopOptions(const std::vector<HadoopSetting>& settings) {
  std::string options;
  for (const HadoopSetting& setting : settings) {
    if (!options.empty()) options += " \\\n";
    options += "-D " + QuotedForShell(fmt::format("{}={}", setting.key, setting.value));
  }
  return options + "\n";
}

std::vector<HadoopSetting> SettingsIn(std::string_view xml,
                                      const std::vector<HadoopSetting>& settings) {
  const hadoop::Configuration configuration = hadoop::ParseConfiguration(xml);
  std::vector<HadoopSetting> found;
  for (const HadoopSetting& setting : settings) {
    const auto property = configuration.find(setting.key);
    if (property != configuration.end()) found.push_back({setting.key, property->second});
  }
  return found;
}

std::vector<HadoopSetting> Beside(const std::vector<HadoopSetting>& sites,
                                  std::vector<HadoopSetting> connectors) {
  std::vector<HadoopSetting> delegates;
  for (const HadoopSetting& site : sites) {
    for (HadoopSetting& ours : connectors) {
      if (ours.key != site.key || site.value.empty() || site.value == ours.value) continue;
      if (site.key == kTemporaryJars || site.key == kTemporaryFiles) ours.value += "," + site.value;
      if (site.key == kCollector) {
        // Hadoop uses the first class in this list that works.
        delegates.push_back(
            {"tidemark.collector.delegate", site.value.substr(0, site.value.find(','))});
        ours.value = fmt::format("{},{}", kTidemarkCollector, site.value);
      }
      if (site.key == kShuffle) delegates.push_back({"tidemark.shuffle.delegate", site.value});
      if (site.key == kPreemption) {
        delegates.push_back({"tidemark.preemption.delegate", site.value});
      }
    }
  }
  connectors.insert(connectors.end(), delegates.begin(), delegates.end());
  return connectors;
}

absl::StatusOr<std::string> WithSettings(std::string_view xml,
                                         const std::vector<HadoopSetting>& settings) {
  if (xml.empty()) return ToHadoopXml(settings);
  const std::size_t end = xml.rfind("</configuration>");
  if (end == xml.npos) return absl::InvalidArgumentError("</configuration> is missing");
  std::string more;
  for (const HadoopSetting& setting : settings) more += Property(setting);
  return fmt::format("{}{}{}", xml.substr(0, end), more, xml.substr(end));
}

std::vector<std::string> WithJar(std::vector<std::string> command, std::string_view jar) {
  constexpr std::string_view kAssignment = "tmpjars=";
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string_view word = command[i];
    const bool is_list = i > 0 && (command[i - 1] == "-libjars" || command[i - 1] == "--libjars");
    const bool is_setting = word.starts_with("-Dtmpjars=") ||
                            (i > 0 && command[i - 1] == "-D" && word.starts_with(kAssignment));
    if (is_list || is_setting) command[i] += fmt::format(",file://{}", jar);
  }
  return command;
}

std::vector<std::string> IdsIn(std::string_view line, std::string_view prefix, int numbers) {
  constexpr std::string_view kLocal = "local";
  std::vector<std::string> ids;
  for (std::size_t at = line.find(prefix); at != line.npos; at = line.find(prefix, at + 1)) {
    if (at > 0 && std::isalnum(static_cast<unsigned char>(line[at - 1])) != 0) continue;
    std::size_t number = at + prefix.size();
    if (line.substr(number, kLocal.size()) == kLocal) number += kLocal.size();
    std::size_t end = SkipDigits(line, number);
    int found = end > number ? 1 : 0;
    while (found > 0 && found < numbers && line.substr(end, 1) == "_") {
      number = end + 1;
      end = SkipDigits(line, number);
      if (end == number) break;
      ++found;
    }
    if (found == numbers) ids.emplace_back(line.substr(at, end - at));
  }
  return ids;
}

std::vector<std::string> JobIdsIn(std::string_view line) { return IdsIn(line, "job_", 2); }

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

std::string CommandName(const std::vector<std::string>& command) {
  constexpr std::size_t kBytesMax = 128;
  std::string name = fs::path(command[0]).filename().string();
  for (std::size_t i = 1; i < command.size(); ++i) {
    std::error_code error;
    if (!fs::is_regular_file(command[i], error)) continue;
    name += " " + fs::path(command[i]).filename().string();
    break;
  }
  return text::Cut(name, kBytesMax);
}

absl::StatusOr<std::string> SiteConf(const std::string& site, bool as_options,
                                     std::vector<HadoopSetting> connectors,
                                     decltype(ReplacedSite::beside) beside) {
  if (!site.empty()) {
    const absl::StatusOr<std::string> xml = transport::ReadSmallFile(site);
    if (!xml.ok()) {
      return absl::InvalidArgumentError(
          fmt::format("--site {}", std::string(xml.status().message())));
    }
    connectors = beside(SettingsIn(*xml, connectors), connectors);
  }
  return as_options ? ToHadoopOptions(connectors) : ToHadoopXml(connectors);
}

absl::Status CopyConfiguration(const std::string& configuration, const ReplacedSite& site,
                               const std::string& copy) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(configuration, error)) {
    const fs::path name = entry.path().filename();
    if (name == site.name) continue;
    fs::create_symlink(fs::absolute(entry.path()), fs::path(copy) / name, error);
    if (error) return FileError(fs::path(copy) / name, error.message());
  }
  if (error) return FileError(configuration, error.message());
  return WriteSite(site, fs::path(copy) / site.name);
}

absl::StatusOr<ReportingCommand> LaunchWithSite(const EngineRunArguments& arguments,
                                                const std::string& configuration, ReplacedSite site,
                                                const std::string& directory) {
  if (const auto& deadline = arguments.progress.deadline) {
    site.settings.push_back({"tidemark.deadline", InstantText(*deadline, absl::Now())});
  }
  ReportingCommand launched;
  launched.command = arguments.command;
  launched.workflow = EnvironmentVariable(kWorkflowVariable);
  if (launched.workflow.empty()) {
    const std::string name = CommandName(arguments.command);
    launched.workflow = fmt::format("{}-{:x}-{:x}", absl::StrReplaceAll(name, {{" ", "-"}}),
                                    absl::ToUnixMillis(absl::Now()), getpid());
    launched.is_whole_workflow = true;
    site.settings.push_back({"tidemark.workflow.name", name});
    site.settings.push_back({"tidemark.workflow.quiet.seconds", "3600"});
  }
  site.settings.push_back({"tidemark.workflow.id", launched.workflow});
  const absl::Status copied = CopyConfiguration(configuration, site, directory);
  if (!copied.ok()) return copied;
  launched.variables = {{kWorkflowVariable, launched.workflow},
                        {"HADOOP_CONF_DIR", directory},
                        {"YARN_CONF_DIR", directory}};
  return launched;
}

std::vector<std::string> YarnFoldersOf(const std::vector<std::string>& command) {
  return YarnFolders(FindConfiguration(command[0], EnvironmentVariable).value_or(""));
}

void AddSiteOptions(CLI::App& app, EngineConfArguments& arguments, const std::string& about_site,
                    const std::string& footer) {
  app.add_option("--site", arguments.site, about_site)->type_name("FILE");
  app.add_flag("--options", arguments.as_options, "Print -D options for a shell instead of XML");
  AddFooter(app, footer);
}

}  // namespace tidemark::cli
