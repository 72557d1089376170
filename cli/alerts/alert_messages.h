// What an alert looks like to whom it is sent. Pure; JSON in ASCII.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "cli/alerts/alert_causes.h"

namespace tidemark::cli {

// In one line, such as "nightly: due 07:30, 83 % likely late; ~ 3 h left (2-4 h)". `zone` is that
// of the readers.
std::string AlertText(const Alert& alert, const absl::TimeZone& zone);

// As documented in docs/alerts.md.
std::string GenericMessage(const Alert& alert, const absl::TimeZone& zone);
// Of an incoming webhook of Slack, or of what understands the same.
std::string SlackMessage(const Alert& alert, const absl::TimeZone& zone);
// Of PagerDuty's Events API v2. All alerts of one run of a job are one incident, which the end of a
// job that has ended well resolves.
std::string PagerDutyMessage(const Alert& alert, const std::string& routing_key,
                             const absl::TimeZone& zone);

}  // namespace tidemark::cli
