// What an alert looks like to whom it is sent. Pure; JSON in ASCII.
#pragma once

#include <map>
#include <string>

#include "absl/time/time.h"
#include "serve/alerts/alert_causes.h"
#include "serve/alerts/alert_template.h"

namespace tidemark::cli {

// Settings for the readers of messages.
struct AlertWording {
  absl::TimeZone zone;
  std::map<AlertKind, AlertTemplate> texts = {};  // instead of ours
  std::string page_url = {};  // of the page as its readers reach it; empty: messages have no link
};

// In our words in one line, such as "nightly: due 07:30, 83 % likely late; ~ 3 h left (2-4 h)".
// At most some 1000 bytes.
std::string AlertText(const Alert& alert, const AlertWording& wording);

// As documented in docs/alerts.md.
std::string GenericMessage(const Alert& alert, const AlertWording& wording);
// Of an incoming webhook of Slack, or of what understands the same.
std::string SlackMessage(const Alert& alert, const AlertWording& wording);
// Of PagerDuty's Events API v2. All alerts of one run of a job are one incident, which the end of a
// job that has ended well resolves.
std::string PagerDutyMessage(const Alert& alert, const std::string& routing_key,
                             const AlertWording& wording);

}  // namespace tidemark::cli
