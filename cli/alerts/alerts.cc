#include "cli/alerts/alerts.h"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "absl/strings/ascii.h"
#include "cli/alerts/alert_causes.h"
#include "cli/alerts/alert_messages.h"
#include "cli/alerts/lineage_events.h"
#include "cli/alerts/told_alerts.h"
#include "transport/small_file.h"

namespace tidemark::cli {
namespace {

absl::StatusOr<std::string> ReadSecret(const char* setting, const std::string& file) {
  if (file.empty()) return std::string();
  const absl::StatusOr<std::string> text = transport::ReadSmallFile(file);
  if (!text.ok()) return text.status();
  std::string secret(absl::StripAsciiWhitespace(*text));
  if (secret.empty()) {
    return absl::InvalidArgumentError(fmt::format("{}: {} is empty", setting, file));
  }
  return secret;
}

absl::StatusOr<std::string> UrlOf(const AlertHook& hook) {
  if (!hook.url.starts_with('@')) return hook.url;
  absl::StatusOr<std::string> url = ReadSecret("alerts.webhooks", hook.url.substr(1));
  if (url.ok() && !url->starts_with("https://") && !url->starts_with("http://")) {
    return absl::InvalidArgumentError(
        fmt::format("alerts.webhooks: {} must hold an address that begins with https:// or http://",
                    hook.url.substr(1)));
  }
  return url;
}

struct Secrets {
  std::string signing;
  std::string routing_key;
  std::vector<std::string> urls;  // of the hooks
  std::string lineage_token;
};

absl::StatusOr<Secrets> ReadSecrets(const AlertSettings& settings, const LineageSettings& lineage) {
  Secrets secrets;
  absl::StatusOr<std::string> token = ReadSecret("lineage.token", lineage.token_file);
  if (!token.ok()) return token.status();
  secrets.lineage_token = *std::move(token);
  absl::StatusOr<std::string> signing = ReadSecret("alerts.secret", settings.secret_file);
  if (!signing.ok()) return signing.status();
  absl::StatusOr<std::string> key = ReadSecret("alerts.routing_key", settings.routing_key_file);
  if (!key.ok()) return key.status();
  for (const AlertHook& hook : settings.hooks) {
    absl::StatusOr<std::string> url = UrlOf(hook);
    if (!url.ok()) return url.status();
    if (hook.shape == "pagerduty" && key->empty()) {
      return absl::InvalidArgumentError(
          "alerts.webhooks: PagerDuty wants a routing key; put it into a file and set "
          "alerts.routing_key to its name");
    }
    secrets.urls.push_back(*std::move(url));
  }
  secrets.signing = *std::move(signing);
  secrets.routing_key = *std::move(key);
  return secrets;
}

AlertWording WordingOf(const AlertSettings& settings, const absl::TimeZone& zone) {
  AlertWording wording = {.zone = zone};
  for (const AlertTextRule& rule : settings.texts) wording.texts.emplace(rule.kind, rule.text);
  return wording;
}

AlertRules RulesOf(const AlertSettings& settings) {
  AlertRules rules = {.jobs = settings.jobs,
                      .late_from = settings.late_percent / 100.0,
                      .silent_for = settings.silent_after};
  for (const std::string& name : settings.kinds) {
    if (const auto kind = AlertKindNamed(name)) rules.kinds.insert(*kind);
  }
  return rules;
}

std::function<std::string(const Alert&)> MessageOf(const std::string& shape,
                                                   const std::string& routing_key,
                                                   const AlertWording& wording) {
  if (shape == "slack") {
    return [wording](const Alert& alert) { return SlackMessage(alert, wording); };
  }
  if (shape == "pagerduty") {
    return [wording, routing_key](const Alert& alert) {
      return PagerDutyMessage(alert, routing_key, wording);
    };
  }
  return [wording](const Alert& alert) { return GenericMessage(alert, wording); };
}

class LookingAlerts final : public Alerts {
 public:
  LookingAlerts(AlertsOptions options, const Secrets& secrets)
      : options_(std::move(options)),
        told_(options_.data_dir.empty() ? "" : options_.data_dir + "/alerts.told"),
        causes_(RulesOf(options_.settings), told_.ids()),
        lineage_({.name_space = options_.lineage.name_space,
                  .interval = options_.lineage.interval,
                  .parent = options_.lineage.parent},
                 told_.ids()) {
    const AlertSettings& settings = options_.settings;
    if (!options_.lineage.url.empty()) {
      lineage_sender_ = std::make_unique<AlertSender>(
          AlertSenderOptions{.name = "lineage",
                             .webhook = {.url = options_.lineage.url,
                                         .token = secrets.lineage_token,
                                         .timeout = settings.timeout,
                                         .allow_local = settings.allow_local},
                             .attempts_max = static_cast<int>(settings.attempts),
                             .on_trouble = [this](const std::string& line) { Warn(line); }});
    }
    for (std::size_t i = 0; i < settings.hooks.size(); ++i) {
      const std::string& shape = settings.hooks[i].shape;
      senders_.push_back(std::make_unique<AlertSender>(AlertSenderOptions{
          .name = fmt::format("alerts.webhooks, {} ({})", i + 1, shape),
          .webhook = {.url = secrets.urls[i],
                      .secret = secrets.signing,
                      .timeout = settings.timeout,
                      .allow_local = settings.allow_local},
          .attempts_max = static_cast<int>(settings.attempts),
          .message = MessageOf(shape, secrets.routing_key, WordingOf(settings, options_.zone)),
          .on_trouble = [this](const std::string& line) { Warn(line); }}));
    }
  }

  ~LookingAlerts() override {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  void Begin() override {
    thread_ = std::thread([this] { Run(); });
  }

  std::map<std::string, AlertCounts> counts() const override {
    std::map<std::string, AlertCounts> counts;
    for (std::size_t i = 0; i < senders_.size(); ++i) {
      counts[options_.settings.hooks[i].shape] += senders_[i]->counts();
    }
    if (lineage_sender_ != nullptr) counts["lineage"] = lineage_sender_->counts();
    return counts;
  }

  bool WaitUntilIdle(absl::Duration timeout) const override {
    for (const auto& sender : senders_) {
      if (!sender->WaitUntilIdle(timeout)) return false;
    }
    return lineage_sender_ == nullptr || lineage_sender_->WaitUntilIdle(timeout);
  }

 private:
  void Warn(const std::string& line) const {
    if (options_.log) options_.log({.severity = LogSeverity::kWarning, .message = line});
  }

  void LookAt(const std::vector<Snapshot>& jobs) {
    // What nobody was told must not count as told.
    for (const Alert& alert : senders_.empty() ? std::vector<Alert>() : causes_.Look(jobs)) {
      told_.Add(alert.id);
      for (const auto& sender : senders_) sender->Send(alert);
    }
    if (lineage_sender_ == nullptr) return;
    for (LineageEvent& event : lineage_.Look(jobs)) {
      if (event.is_once) told_.Add(event.id);
      lineage_sender_->Send({.what = "event " + event.type,
                             .id = std::move(event.id),
                             .job_id = std::move(event.job_id),
                             .body = std::move(event.body)});
    }
  }

  void Run() {
    for (;;) {
      LookAt(options_.jobs());
      if (!told_.trouble().ok() && !std::exchange(is_trouble_told_, true)) {
        Warn(fmt::format("alerts of now may be sent again after a restart: {}",
                         std::string(told_.trouble().message())));
      }
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, absl::ToChronoMilliseconds(options_.interval),
                        [this] { return is_ending_; });
      if (is_ending_) return;
    }
  }

  const AlertsOptions options_;
  ToldAlerts told_;  // these three: of the thread
  AlertCauses causes_;
  LineageEvents lineage_;
  bool is_trouble_told_ = false;
  std::vector<std::unique_ptr<AlertSender>> senders_;
  std::unique_ptr<AlertSender> lineage_sender_;  // null: nobody is told
  std::mutex mutex_;                             // guards is_ending_
  std::condition_variable changed_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace

absl::Status CheckAlertFiles(const AlertSettings& settings, const LineageSettings& lineage) {
  return ReadSecrets(settings, lineage).status();
}

absl::StatusOr<std::unique_ptr<Alerts>> Alerts::Create(AlertsOptions options) {
  const absl::StatusOr<Secrets> secrets = ReadSecrets(options.settings, options.lineage);
  if (!secrets.ok()) return secrets.status();
  return std::make_unique<LookingAlerts>(std::move(options), *secrets);
}

}  // namespace tidemark::cli
