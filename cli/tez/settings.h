// The settings that add the connector to Tez's application masters. docs/tez.md explains each key.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/hadoop/settings.h"

namespace tidemark::cli {

inline constexpr const char* kTezSite = "tez-site.xml";

// Returns the settings of the connector. `jar` is an absolute path. An application needs all
// settings. For example, an application that names the class without the jar fails.
std::vector<HadoopSetting> TezConnectorSettings(std::string_view master, std::string_view jar);

// Returns classes that the connector's jar contains.
std::vector<std::string> TezConnectorClasses();

// Combines the settings of a site and the connector. The application gets the jars of both, and the
// connector delegates to the site's history service. If the site's jars contain tidemark-tez.jar,
// that jar replaces the connector's.
std::vector<HadoopSetting> BesideTez(const std::vector<HadoopSetting>& sites,
                                     std::vector<HadoopSetting> connectors);

// Returns the path of the first tez-site.xml in HADOOP_CONF_DIR (`configuration`), in the folders
// of HADOOP_CLASSPATH and in TEZ_CONF_DIR. Returns its path in `configuration` if the file does not
// exist. `variable` returns an environment variable, or "" if it is unset.
std::string FindTezSite(const std::string& configuration,
                        const std::function<std::string(const char*)>& variable);

// Returns the ids of DAGs in a line, such as "dag_1700000000000_0001_1".
std::vector<std::string> DagIdsIn(std::string_view line);

}  // namespace tidemark::cli
