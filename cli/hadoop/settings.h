// The settings that put Tidemark's connector into a job of Hadoop: pure functions from what the
// user said to text. docs/hadoop.md explains each key.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tidemark::cli {

struct HadoopSetting {
  std::string key;
  std::string value;
  friend bool operator==(const HadoopSetting&, const HadoopSetting&) = default;
};

// `jar` is an absolute path. All of them belong together: a job that names the classes without the
// jar fails.
std::vector<HadoopSetting> ConnectorSettings(std::string_view master, std::string_view jar);

// Those of our classes that they name, as Java writes them.
std::vector<std::string> ConnectorClasses();

// A configuration file of Hadoop, for `-conf FILE` or as a part of mapred-site.xml.
std::string ToHadoopXml(const std::vector<HadoopSetting>& settings);

// Generic options -D key=value for a shell, one per line, each line but the last ending in a
// backslash.
std::string ToHadoopOptions(const std::vector<HadoopSetting>& settings);

// Those of the settings that a configuration file has already, with its values. Looks for
// properties as Hadoop's files have them and does not parse XML; comments are left out.
std::vector<HadoopSetting> SettingsIn(std::string_view xml,
                                      const std::vector<HadoopSetting>& settings);

// The connector's settings beside those of a site: its jars travel with the connector's, and its
// plug-ins do their work behind the connector's (tidemark.*.delegate).
std::vector<HadoopSetting> Beside(const std::vector<HadoopSetting>& sites,
                                  std::vector<HadoopSetting> connectors);

// A configuration file with more settings at its end, where they count most; an empty one becomes a
// whole file. InvalidArgument: it is no configuration file.
absl::StatusOr<std::string> WithSettings(std::string_view xml,
                                         const std::vector<HadoopSetting>& settings);

// The words of a client's command that would leave the connector's jar behind, because -libjars
// replaces the setting tmpjars, name the jar as well.
std::vector<std::string> WithJar(std::vector<std::string> command, std::string_view jar);

// The ids of jobs that a line of a client names: "job_1700000000000_0001", "job_local12_0001".
std::vector<std::string> JobIdsIn(std::string_view line);

}  // namespace tidemark::cli
