// What `alerts:` in the settings of `tidemark serve` says.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "serve/alerts/alert_kind.h"
#include "serve/alerts/alert_template.h"

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

// What alerts of one kind say instead of our words.
struct AlertTextRule {
  AlertKind kind = AlertKind::kLate;
  AlertTemplate text;
};
// "late={job} will be late: {cause}". InvalidArgument, with nothing but what is wrong: it is none.
absl::StatusOr<AlertTextRule> ParseAlertTextRule(std::string_view text);
std::string ToString(const AlertTextRule& rule);

struct AlertSettings {
  std::vector<AlertHook> hooks;  // none: there are no alerts
  // Of kAlertKindNames.
  std::vector<std::string> kinds = {"late", "failed", "silent"};
  std::vector<std::string> jobs = {"*"};
  std::vector<AlertTextRule> texts;  // at most one of a kind
  unsigned late_percent = 80;
  absl::Duration silent_after = absl::Minutes(5);
  std::string secret_file;       // by which messages are signed; empty: they are not
  std::string routing_key_file;  // for PagerDuty
  absl::Duration timeout = absl::Seconds(10);
  unsigned attempts = 6;
  bool allow_local = false;
};

// The run of OpenLineage that started those we tell of, such as that of a scheduler's task.
struct LineageParent {
  std::string name_space;
  std::string name;
  std::string run_id;  // a UUID
  friend bool operator==(const LineageParent&, const LineageParent&) = default;
};
inline constexpr char kLineageParentForm[] = "NAMESPACE/NAME/RUNID, where RUNID is a UUID";
// Of that form, as OpenLineage's clients have it in OPENLINEAGE_PARENT_ID; a namespace may hold
// more slashes. InvalidArgument, with nothing but what is wrong: it is none.
absl::StatusOr<LineageParent> ParseLineageParent(std::string_view text);
std::string ToString(const LineageParent& parent);

// What `lineage:` says. Delivery is as AlertSettings has it.
struct LineageSettings {
  std::string url;  // http:// or https://; empty: nobody is told
  std::string name_space = "tidemark";
  absl::Duration interval = absl::Minutes(1);
  std::string token_file;  // sent as a bearer token; empty: none
  std::optional<LineageParent> parent;
};

inline constexpr char kParentVariable[] = "OPENLINEAGE_PARENT_ID";
// Sets the parent to what that variable of the environment, `value`, says, unless nobody is told,
// or it is set already; null and empty say nothing. InvalidArgument: it names no run.
absl::Status TakeParentOfEnvironment(const char* value, LineageSettings& lineage);

}  // namespace tidemark::cli
