// What `alerts:` in the settings of `tidemark serve` says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace tidemark::cli {

// A receiver of alerts, and the shape of messages that it understands.
struct AlertHook {
  std::string shape;  // json, slack or pagerduty
  // http:// or https://; or @FILE, a file that holds it, since an address may be a secret.
  std::string url;
};
// "slack=https://hooks.slack.com/services/..." InvalidArgument: it is none.
absl::StatusOr<AlertHook> ParseAlertHook(std::string_view text);
// The same as text, without what may be secret in an address.
std::string ToString(const AlertHook& hook);

struct AlertSettings {
  std::vector<AlertHook> hooks;  // none: there are no alerts
  std::vector<std::string> kinds = {"late", "failed", "silent"};
  std::vector<std::string> jobs = {"*"};
  unsigned late_percent = 80;
  absl::Duration silent_after = absl::Minutes(5);
  std::string secret_file;       // by which messages are signed; empty: they are not
  std::string routing_key_file;  // for PagerDuty
  absl::Duration timeout = absl::Seconds(10);
  unsigned attempts = 6;
  bool allow_local = false;
};

// What `lineage:` says. Delivery is as AlertSettings has it.
struct LineageSettings {
  std::string url;  // http:// or https://; empty: nobody is told
  std::string name_space = "tidemark";
  absl::Duration interval = absl::Minutes(1);
  std::string token_file;  // sent as a bearer token; empty: none
};

}  // namespace tidemark::cli
