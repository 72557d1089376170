// The configuration of `tidemark serve`: a file, and options that override it.
//
// docs/serve.md documents every setting; packaging/tidemark.yaml shows each with its default.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "serve/alerts/alert_causes.h"
#include "tidemark/master.h"

namespace tidemark::serve {

inline constexpr const char* kDefaultMaster = "127.0.0.1:7411";

struct ServeConfig {
  ServeConfig() { master.listen_address = kDefaultMaster; }

  MasterOptions master;
  // The address of /metrics, host:port. Empty if metrics are not served.
  std::string metrics_address;
  // The address of the page, host:port. Empty if the page is not served.
  std::string web_address;
  // The URL at which readers reach the page, such as the URL of a proxy. Empty if unknown.
  std::string page_url;
  // The folder of Spark event logs that the master follows. Empty if it is missing.
  std::string spark_logs;
  // The folder of a Hadoop history server, which has past runs. Empty if it is missing.
  std::string history_logs;
  bool log_as_json = false;
  LogSeverity log_least = LogSeverity::kInfo;
  // How long calls in flight may take to end after SIGTERM.
  absl::Duration shutdown_grace = absl::Seconds(5);
  // Time between reporting NOT_SERVING and rejecting new calls during shutdown.
  absl::Duration shutdown_drain = absl::ZeroDuration();
  AlertSettings alerts;
  LineageSettings lineage;
  // By key, where each setting was set: "tidemark.yaml:12" or "--set". Settings with their defaults
  // are absent.
  std::map<std::string, std::string> origins;
  // Returns where a setting was set, as the beginning of a message, such as "tidemark.yaml:12: ".
  // Returns "" if the setting has its default.
  std::string Where(const std::string& key) const;
};

// A setting given outside the file.
struct SettingOverride {
  std::string origin;  // beginning of messages, such as "--listen"
  std::string key;
  std::vector<std::string> words;
};

// Parses `text`, the contents of `file`, and then `overrides`. Other settings keep their defaults.
// Relative file names start at the folder of `file`. Fails with InvalidArgument, which has one line
// per fault with the location, the key and the allowed values. If the text is not YAML, only the
// first fault is reported.
absl::StatusOr<ServeConfig> ParseServeConfig(const std::string& text, const std::string& file,
                                             const std::vector<SettingOverride>& overrides);

// Parses a file on disk. Also checks that the files it names can be read, and calls CheckAlerts().
// An empty name means an empty file. Fails with NotFound if the file cannot be read.
absl::StatusOr<ServeConfig> LoadServeConfig(const std::string& file,
                                            const std::vector<SettingOverride>& overrides);

}  // namespace tidemark::serve
