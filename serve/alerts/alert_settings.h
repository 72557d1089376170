// The `alerts` and `lineage` settings of `tidemark serve`, and their parsers. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace tidemark::serve {

// The event that an alert reports, in the order of kAlertKindNames.
enum class AlertKind : std::uint8_t {
  // The deadline has passed, or two updates in a row found the job likely to miss it. An estimate
  // that is only a guess does not count.
  kLate,
  // The running task with the latest forecast end has changed, in two snapshots in a row.
  kStraggler,
  // The job has ended, with any outcome.
  kEnded,
  // The job has ended without success.
  kFailed,
  // The job has not reported for AlertRules::silent_for.
  kSilent,
};
inline constexpr std::array<std::string_view, 5> kAlertKindNames = {"late", "straggler", "ended",
                                                                    "failed", "silent"};

constexpr std::string_view NameOf(AlertKind kind) {
  return kAlertKindNames[static_cast<std::size_t>(kind)];
}

// Returns nullopt if no kind has that name.
constexpr std::optional<AlertKind> AlertKindNamed(std::string_view name) {
  const auto* const known = std::ranges::find(kAlertKindNames, name);
  if (known == kAlertKindNames.end()) return std::nullopt;
  return static_cast<AlertKind>(known - kAlertKindNames.begin());
}

// A field of a template, written in braces, in the order of kAlertFieldNames.
enum class AlertField : std::uint8_t {
  kJob,
  kId,
  kUser,
  kQueue,
  kKind,
  kCause,
  kState,
  kDone,
  kLeft,
  kBasis,
  kEnd,
  kDeadline,
  kProbability,
  kElapsed,
  kMessage,
  kPage,
};
inline constexpr std::array<std::string_view, 16> kAlertFieldNames = {
    "job",  "id",    "user", "queue",    "kind",        "cause",   "state",   "done",
    "left", "basis", "end",  "deadline", "probability", "elapsed", "message", "page"};

// An alert's text with fields in braces, such as "{job} is late: {cause}".
class AlertTemplate {
 public:
  static constexpr std::size_t kBytesMax = 500;

  // Parses a template; {{ and }} produce a brace. Returns InvalidArgument for an unknown field, a
  // single brace, or a text that is empty or too long. The message contains the fault and a
  // suggestion.
  static absl::StatusOr<AlertTemplate> Parse(std::string_view text);

  // Replaces each field by the result of `value_of`. Fields within values are not replaced.
  template <typename ValueOf>
  std::string Fill(ValueOf value_of) const {
    std::string filled;
    for (const Piece& piece : pieces_) {
      filled += piece.is_field ? value_of(piece.field) : piece.text;
    }
    return filled;
  }
  // The text that was parsed.
  const std::string& text() const { return text_; }

 private:
  struct Piece {
    bool is_field = false;
    AlertField field = AlertField::kJob;
    std::string text;
  };
  explicit AlertTemplate(std::string_view text) : text_(text) {}

  std::string text_;
  std::vector<Piece> pieces_;
};

// A receiver of alerts, and the format of its messages.
struct AlertHook {
  std::string shape;  // json, slack or pagerduty
  // http:// or https://; or @FILE, a file that contains the URL, since a URL may be secret.
  std::string url;
};
// Parses "slack=https://hooks.slack.com/services/...". Fails with InvalidArgument.
absl::StatusOr<AlertHook> ParseAlertHook(std::string_view text);
// Returns the hook as text, without the parts of its URL that may be secret.
std::string ToString(const AlertHook& hook);

// The text that replaces the built-in text of alerts of one kind.
struct AlertTextRule {
  AlertKind kind = AlertKind::kLate;
  AlertTemplate text;
};
// Parses "late={job} will be late: {cause}". Fails with InvalidArgument, whose message is only the
// fault.
absl::StatusOr<AlertTextRule> ParseAlertTextRule(std::string_view text);
std::string ToString(const AlertTextRule& rule);

struct AlertSettings {
  std::vector<AlertHook> hooks;  // if empty, no alerts are sent
  // Names in kAlertKindNames.
  std::vector<std::string> kinds = {"late", "failed", "silent"};
  std::vector<std::string> jobs = {"*"};
  std::vector<AlertTextRule> texts;  // at most one of each kind
  unsigned late_percent = 80;
  absl::Duration silent_after = absl::Minutes(5);
  std::string secret_file;       // the key that signs messages; empty if they are not signed
  std::string routing_key_file;  // file with the key for PagerDuty
  absl::Duration timeout = absl::Seconds(10);
  unsigned attempts = 6;
  bool allow_local = false;
};

// The OpenLineage run that started the reported jobs, such as a task of a scheduler.
struct LineageParent {
  std::string name_space;
  std::string name;
  std::string run_id;  // a UUID
  friend bool operator==(const LineageParent&, const LineageParent&) = default;
};
inline constexpr char kLineageParentForm[] = "NAMESPACE/NAME/RUNID, where RUNID is a UUID";
// Parses a text of the form kLineageParentForm, as OpenLineage's clients store it in
// OPENLINEAGE_PARENT_ID. A namespace may contain slashes. Fails with InvalidArgument, whose message
// is only the fault.
absl::StatusOr<LineageParent> ParseLineageParent(std::string_view text);
std::string ToString(const LineageParent& parent);

// The `lineage` settings. AlertSettings contains the settings of delivery.
struct LineageSettings {
  std::string url;  // http:// or https://; empty if no events are sent
  std::string name_space = "tidemark";
  absl::Duration interval = absl::Minutes(1);
  std::string token_file;  // the bearer token; empty if none is sent
  std::optional<LineageParent> parent;
};

inline constexpr char kParentVariable[] = "OPENLINEAGE_PARENT_ID";
// Sets lineage.parent to `value`, the value of kParentVariable. Does nothing if `value` is null or
// empty, if a parent is already set, or if no events are sent. Returns InvalidArgument if `value`
// names no run.
absl::Status SetParentFromEnvironment(const char* value, LineageSettings& lineage);

}  // namespace tidemark::serve
