// The settings that put Tidemark's connector into an application of Spark: pure functions from what
// the user said to words. docs/spark.md explains each key.
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

// The class that spark.plugins names.
inline constexpr char kSparkPlugin[] = "org.tidemark.spark.TidemarkPlugin";
// One that it needs, and that Maven puts only into the jar that works.
inline constexpr char kSparkPart[] = "org.tidemark.spark.jvm.guard.Guard";

// `jar` is an absolute path. All of them belong together: an application that names the class
// without the jar fails. `security`: with what its processes connect to that master.
std::vector<SparkSetting> SparkConnectorSettings(std::string_view master, std::string_view jar,
                                                 const ClientSecurity& security);

// Lines of a spark-defaults.conf.
std::string ToSparkDefaults(const std::vector<SparkSetting>& settings);

// Options --conf key=value for a shell, one per line, each line but the last ending in a backslash.
std::string ToSparkOptions(const std::vector<SparkSetting>& settings);

// What the text of a spark-defaults.conf sets.
std::map<std::string, std::string> SparkDefaults(std::string_view text);

// The file that the options of a command name instead (--properties-file); empty: none.
std::string PropertiesFileOf(const std::vector<std::string>& command);

// spark-submit, pyspark, spark-shell or spark-sql with the settings among its options; words of the
// application behind its file stay as they are. Jars and plug-ins that the options or `defaults`
// name stay in use: Spark's own would be replaced by ours.
std::vector<std::string> WithSparkSettings(const std::vector<std::string>& command,
                                           const std::map<std::string, std::string>& defaults,
                                           const std::vector<SparkSetting>& settings);

// What the arguments of the application of a spark-submit tell it, as settings
// spark.tidemark.param.NAME: numbers, as NAME=80, --NAME=80 or --NAME 80, the first 64. Left out:
// what is set already, and names that Spark would hide.
std::vector<SparkSetting> ParametersAmong(const std::vector<std::string>& command,
                                          const std::map<std::string, std::string>& defaults);

// The ids of applications that a line of the command names: what the connector writes for us, and
// those of YARN.
std::vector<std::string> ApplicationIdsIn(std::string_view line);

}  // namespace tidemark::cli
