// Reads the configuration files of Hadoop, such as the job_ID_conf.xml that the history server
// keeps beside a history file.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace tidemark::hadoop {

// Values by key.
using Configuration = std::map<std::string, std::string, std::less<>>;

// Returns the properties of a configuration file. Searches for properties outside comments and does
// not parse XML. The last of equal keys counts.
Configuration ParseConfiguration(std::string_view xml);

// Returns the properties of a file. Returns none if it is missing, cannot be read, or exceeds 16
// MiB.
Configuration ReadConfiguration(const std::string& path);

// Returns the value without spaces around it, or `otherwise` if the key is missing or the value is
// empty.
std::string ValueOf(const Configuration& configuration, std::string_view key,
                    std::string_view otherwise = "");

}  // namespace tidemark::hadoop
