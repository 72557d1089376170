// The settings of `tidemark serve`: a file, then the command line, which overrides it.
//
// docs/serve.md documents every setting; packaging/tidemark.yaml shows each with its default.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "serve/alerts/alert_settings.h"
#include "tidemark/master.h"

namespace tidemark::cli {

inline constexpr const char* kDefaultMaster = "127.0.0.1:7411";

struct ServeConfig {
  ServeConfig() { master.listen_address = kDefaultMaster; }

  MasterOptions master;
  // The address of /metrics, host:port. Empty if it is not served.
  std::string metrics_address;
  // The address at which the page is served, host:port. Empty if it is not.
  std::string web_address;
  // The address of the page for its readers, such as that of a proxy. Empty if it is unknown.
  std::string page_url;
  // Where applications of Spark write event logs, to be followed; empty: nowhere.
  std::string spark_logs;
  bool log_as_json = false;
  LogSeverity log_least = LogSeverity::kInfo;
  // What running calls may still take after SIGTERM.
  absl::Duration shutdown_grace = absl::Seconds(5);
  // How long a master that is asked to end says NOT_SERVING before it stops to take new calls.
  absl::Duration shutdown_drain = absl::ZeroDuration();
  AlertSettings alerts;
  LineageSettings lineage;
  // Where each setting was set that was: "tidemark.yaml:12" or "--set"; by key.
  std::map<std::string, std::string> origins;
  // Where a setting was set, for the beginning of a message: "tidemark.yaml:12: "; empty: it was
  // not.
  std::string Where(const std::string& key) const;
};

// One setting given by name, outside of the file.
struct SettingOverride {
  std::string origin;  // for messages: "--listen"
  std::string key;
  std::vector<std::string> words;
};

// Every setting that `text`, the contents of `file`, and then `overrides` name; the rest keep their
// defaults. File names in the text count from the folder of `file`. InvalidArgument: for each fault
// a line with where, which key and what is allowed; of a text that is no YAML the first alone.
absl::StatusOr<ServeConfig> ParseServeConfig(const std::string& text, const std::string& file,
                                             const std::vector<SettingOverride>& overrides);

// The same of a file on disk, that the files it names can be read, and CheckAlerts(); an empty
// name: overrides alone. NotFound: it cannot be read itself.
absl::StatusOr<ServeConfig> LoadServeConfig(const std::string& file,
                                            const std::vector<SettingOverride>& overrides);

}  // namespace tidemark::cli
