// Looks at the jobs of a master and sends alerts of them, and events of OpenLineage, to webhooks.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "serve/alerts/alert_sender.h"
#include "serve/alerts/alert_settings.h"
#include "tidemark/job.h"
#include "tidemark/log.h"

namespace tidemark::cli {

struct AlertsOptions {
  AlertSettings settings;
  LineageSettings lineage;
  // The newest snapshots of all jobs, whole. Called on a thread of the alerts.
  std::function<std::vector<Snapshot>()> jobs;
  absl::Duration interval = absl::Seconds(1);  // between two looks
  // Holds the causes of sent alerts, so that a restarted master does not send them again. Empty if
  // they are not kept.
  std::string data_dir;
  absl::TimeZone zone;   // of the readers
  std::string page_url;  // as AlertWording::page_url
  LogSink log;
};

class Alerts {
 public:
  // InvalidArgument: the first of CheckAlerts().
  static absl::StatusOr<std::unique_ptr<Alerts>> Create(AlertsOptions options);
  // Ends, within some six seconds. What could not be sent until then is told to options.log.
  virtual ~Alerts() = default;

  // Begins to look. Once.
  virtual void Begin() = 0;

  // Of the webhooks of each shape together, "json", "slack" or "pagerduty", and of "lineage"; only
  // of those there are.
  virtual std::map<std::string, AlertCounts> counts() const = 0;
  virtual bool WaitUntilIdle(absl::Duration timeout) const = 0;
};

// A setting that cannot be used.
struct AlertsFault {
  std::string key;
  // Begins with the key, says why, and nothing that may be secret.
  std::string message;
};

// What is wrong with the files that settings of alerts name, with what they hold, and with
// addresses, as far as that can be told without asking anybody. A file holds one line; empty ones
// around it do not count.
std::vector<AlertsFault> CheckAlerts(const AlertSettings& settings,
                                     const LineageSettings& lineage = {});

}  // namespace tidemark::cli
