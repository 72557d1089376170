// The settings that add the connector to a Hadoop job, and copies of Hadoop's configuration that
// contain them. docs/hadoop.md explains each key.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/engines.h"

namespace tidemark::cli {

struct HadoopSetting {
  std::string key;
  std::string value;
  friend bool operator==(const HadoopSetting&, const HadoopSetting&) = default;
};

// Returns the settings of the connector. `jar` is an absolute path. A job needs all settings. For
// example, a job that names the classes without the jar fails.
std::vector<HadoopSetting> ConnectorSettings(std::string_view master, std::string_view jar);

// Returns the classes of the connector that the settings name, as Java writes them.
std::vector<std::string> ConnectorClasses();

// Returns a Hadoop configuration file, for `-conf FILE` or as a part of mapred-site.xml.
std::string ToHadoopXml(const std::vector<HadoopSetting>& settings);

// Returns shell options -D key=value, one per line. Each line but the last ends with a backslash.
std::string ToHadoopOptions(const std::vector<HadoopSetting>& settings);

// Returns the values that a configuration file sets for the keys of `settings`. Searches for
// properties outside comments and does not parse XML.
std::vector<HadoopSetting> SettingsIn(std::string_view xml,
                                      const std::vector<HadoopSetting>& settings);

// Combines the settings of a site and the connector. The job gets the jars of both, and the
// connector delegates to the site's plug-ins (tidemark.*.delegate).
std::vector<HadoopSetting> Beside(const std::vector<HadoopSetting>& sites,
                                  std::vector<HadoopSetting> connectors);

// Appends settings to a configuration file, where they take precedence. If `xml` is empty, returns
// a whole file. Fails with InvalidArgument if `xml` is not a configuration file.
absl::StatusOr<std::string> WithSettings(std::string_view xml,
                                         const std::vector<HadoopSetting>& settings);

// Adds the jar to the words of a command that replace the setting tmpjars, such as -libjars.
std::vector<std::string> WithJar(std::vector<std::string> command, std::string_view jar);

// Returns the ids in a line that consist of `prefix` and numbers separated by underscores. "local"
// may precede the first number.
std::vector<std::string> IdsIn(std::string_view line, std::string_view prefix, int numbers);
// Returns the ids of jobs in a line, such as "job_1700000000000_0001" or "job_local12_0001".
std::vector<std::string> JobIdsIn(std::string_view line);

// Returns the folder with the settings of a command such as "hadoop" or "/opt/hadoop/bin/yarn":
// HADOOP_CONF_DIR, or else a folder below HADOOP_HOME, or else a folder next to the program, as in
// Hadoop's own scripts. `variable` returns an environment variable, or "" if it is unset. Fails
// with NotFound if there is no such folder; the message contains a remedy.
absl::StatusOr<std::string> FindConfiguration(
    const std::string& program, const std::function<std::string(const char*)>& variable);

// Returns a name of the command that is the same in every run: the program and its first argument
// that is a file, such as "pig report.pig", at most 128 bytes.
std::string CommandName(const std::vector<std::string>& command);

// A configuration file in the copy of a configuration.
struct ReplacedSite {
  std::string name;      // such as "mapred-site.xml"
  std::string original;  // path of the file that it extends; the file may be missing
  std::vector<HadoopSetting> settings;
  // Combines the settings of a site and the connector, such as Beside().
  std::vector<HadoopSetting> (*beside)(const std::vector<HadoopSetting>& sites,
                                       std::vector<HadoopSetting> connectors);
};

// Returns the connector's settings, and the settings in the file `site` if it is not empty, as XML
// or shell options. Fails with InvalidArgument if the file cannot be read.
absl::StatusOr<std::string> SiteConf(const std::string& site, bool as_options,
                                     std::vector<HadoopSetting> connectors,
                                     decltype(ReplacedSite::beside) beside);

// Fills the empty folder `copy` with links to the files of `configuration`, and with a file that
// adds the settings to a site.
absl::Status CopyConfiguration(const std::string& configuration, const ReplacedSite& site,
                               const std::string& copy);

// The following functions are parts of the rows of engines that read Hadoop's settings.

// Returns the command in an environment whose HADOOP_CONF_DIR is `directory`: a copy of
// `configuration` that adds the site, the deadline and the workflow. TIDEMARK_WORKFLOW names
// the workflow, so that several commands can form one workflow. If it is not set, the workflow is
// new.
absl::StatusOr<ReportingCommand> LaunchWithSite(const EngineRunArguments& arguments,
                                                const std::string& configuration, ReplacedSite site,
                                                const std::string& directory);

// Returns the folders that may contain the yarn-site.xml of the command.
std::vector<std::string> YarnFoldersOf(const std::vector<std::string>& command);

// Adds --site, --options and the footer to `NAME conf`.
void AddSiteOptions(CLI::App& app, EngineConfArguments& arguments, const std::string& about_site,
                    const std::string& footer);

}  // namespace tidemark::cli
