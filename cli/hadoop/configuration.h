// The folder of settings that Hadoop's commands read (HADOOP_CONF_DIR), and a copy of it that has
// the connector's settings as well.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/hadoop/settings.h"

namespace tidemark::cli {

// Where the settings of a command such as "hadoop" or "/opt/hadoop/bin/yarn" are: HADOOP_CONF_DIR,
// else below HADOOP_HOME, else beside the program, as Hadoop's own scripts have it. `variable`
// gives the value of an environment variable, empty if unset. NotFound: nowhere; the message says
// what to do.
absl::StatusOr<std::string> FindConfiguration(
    const std::string& program, const std::function<std::string(const char*)>& variable);

// Fills the empty folder `copy` with links to all that is in `configuration`, and with a
// mapred-site.xml of its own that has the settings, too.
absl::Status CopyConfiguration(const std::string& configuration,
                               const std::vector<HadoopSetting>& settings, const std::string& copy);

}  // namespace tidemark::cli
