// The settings that add Tidemark's connector to a Spark application. docs/spark.md explains
// each key. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tidemark/client_security.h"

namespace tidemark::cli {

// Key and value, such as {"spark.plugins", "org.tidemark.spark.TidemarkPlugin"}.
using SparkSetting = std::pair<std::string, std::string>;

// Class of the connector for spark.plugins.
inline constexpr char kSparkPlugin[] = "org.tidemark.spark.TidemarkPlugin";
// A class that only the complete jar of the connector contains.
inline constexpr char kSparkPart[] = "org.tidemark.spark.jvm.guard.Guard";

// Returns the settings of the connector. An application needs all settings. For example, an
// application that names the class without the jar fails. `jar` is an absolute path. `security`
// contains the credentials with which the application's processes connect to the master.
std::vector<SparkSetting> SparkConnectorSettings(std::string_view master, std::string_view jar,
                                                 const ClientSecurity& security);

// Returns the settings as lines of a spark-defaults.conf.
std::string ToSparkDefaults(const std::vector<SparkSetting>& settings);

// Returns the settings as shell options --conf key=value, one per line. Each line except the last
// ends with a backslash.
std::string ToSparkOptions(const std::vector<SparkSetting>& settings);

// Parses the text of a spark-defaults.conf.
std::map<std::string, std::string> SparkDefaults(std::string_view text);

// Returns the file that the command sets with --properties-file, or "" if it sets none.
std::string PropertiesFileOf(const std::vector<std::string>& command);

// Adds the settings to the options of spark-submit, pyspark, spark-shell or spark-sql. Keeps the
// arguments of the application, and the jars and plug-ins of the options and of `defaults`.
std::vector<std::string> WithSparkSettings(const std::vector<std::string>& command,
                                           const std::map<std::string, std::string>& defaults,
                                           const std::vector<SparkSetting>& settings);

// Returns numbers among the arguments of the application (NAME=80, --NAME=80 or --NAME 80) as
// settings spark.tidemark.param.NAME, at most 64. Skips parameters that are already set, and names
// that Spark would redact.
std::vector<SparkSetting> ParametersAmong(const std::vector<std::string>& command,
                                          const std::map<std::string, std::string>& defaults);

// Returns the ids of applications in a line of the command's output, which the connector
// and YARN's client write.
std::vector<std::string> ApplicationIdsIn(std::string_view line);

}  // namespace tidemark::cli
