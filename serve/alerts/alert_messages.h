// Formats the bodies of alert messages for each kind of receiver. Pure; JSON in ASCII.
#pragma once

#include <map>
#include <string>

#include "absl/time/time.h"
#include "serve/alerts/alert_causes.h"

namespace tidemark::serve {

// Settings for the readers of messages.
struct AlertWording {
  absl::TimeZone zone;
  std::map<AlertKind, AlertTemplate> texts = {};  // replace the built-in texts
  // The URL at which readers reach the page. If it is empty, messages have no link.
  std::string page_url = {};
};

// Returns one line such as "nightly: due 07:30, 83 % likely late; ~ 3 h left (2–4 h)", in at most
// about 1000 bytes.
std::string AlertText(const Alert& alert, const AlertWording& wording);

// Returns the message that docs/alerts.md documents.
std::string GenericMessage(const Alert& alert, const AlertWording& wording);
// Returns a message for an incoming webhook of Slack, or for a service with the same format.
std::string SlackMessage(const Alert& alert, const AlertWording& wording);
// Returns a message for PagerDuty's Events API v2. All alerts of one run are one incident. It is
// resolved when the job succeeds.
std::string PagerDutyMessage(const Alert& alert, const std::string& routing_key,
                             const AlertWording& wording);

}  // namespace tidemark::serve
