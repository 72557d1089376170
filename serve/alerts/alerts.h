// Sends alerts and OpenLineage events to webhooks, from a thread that polls the jobs of a master.
// alert_causes.h determines which jobs need an alert.
#pragma once

#include <cstddef>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "serve/alerts/alert_causes.h"
#include "serve/alerts/alert_sender.h"
#include "tidemark/job.h"
#include "tidemark/log.h"

namespace tidemark::serve {

struct AlertsOptions {
  AlertSettings settings;
  LineageSettings lineage;
  // Returns the newest whole snapshots of all jobs. Called on a thread of Alerts.
  std::function<std::vector<Snapshot>()> jobs;
  absl::Duration interval = absl::Seconds(1);  // time between two listings
  // Folder of the file that records sent alerts. A restarted master reads it to avoid sending them
  // again. If empty, sent alerts are not recorded.
  std::string data_dir;
  absl::TimeZone zone;   // time zone of the readers
  std::string page_url;  // see AlertWording::page_url
  LogSink log;
};

class Alerts {
 public:
  // Fails with InvalidArgument, which contains the first fault of CheckAlerts().
  static absl::StatusOr<std::unique_ptr<Alerts>> Create(AlertsOptions options);
  // Blocks for at most about six seconds. Logs each message that could not be sent by then.
  virtual ~Alerts() = default;

  // Starts the thread that lists jobs and sends messages. Must be called once.
  virtual void Begin() = 0;

  // Returns the counts of all webhooks of each format ("json", "slack", "pagerduty"), and of
  // "lineage". Omits formats without a webhook.
  virtual std::map<std::string, AlertCounts> counts() const = 0;
  virtual bool WaitUntilIdle(absl::Duration timeout) const = 0;
};

// An unusable setting.
struct AlertsFault {
  std::string key;
  // Begins with the key and states the reason, without anything that may be secret.
  std::string message;
};

// Returns the faults of URLs, of the files that the settings name, and of their contents. Sends
// nothing and resolves no name. A file must contain one line; blank lines around it are allowed.
std::vector<AlertsFault> CheckAlerts(const AlertSettings& settings,
                                     const LineageSettings& lineage = {});

// The ids of sent alerts, stored in a file with one id per line. A restarted master reads the file
// to avoid sending alerts again. Not thread-safe.
class SentAlerts {
 public:
  // If a file contains more than twice as many ids when it is opened, the oldest are removed.
  static constexpr std::size_t kKept = 10'000;

  // If `path` is empty, nothing is stored. A file that cannot be read or written counts as empty,
  // and trouble() returns the reason.
  explicit SentAlerts(std::string path);
  // The ids that the file contained when it was opened.
  const std::set<std::string>& ids() const { return ids_; }
  // Must be called before the alert is sent, since losing an alert is better than repeating it
  // forever.
  void Add(const std::string& id);
  const absl::Status& trouble() const { return trouble_; }

 private:
  const std::string path_;
  std::set<std::string> ids_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, &std::fclose};
  absl::Status trouble_;
};

}  // namespace tidemark::serve
