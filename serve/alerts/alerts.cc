#include "serve/alerts/alerts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/ascii.h"
#include "serve/alerts/alert_causes.h"
#include "serve/alerts/alert_messages.h"
#include "transport/small_file.h"
#include "transport/turn_queue.h"

namespace tidemark::serve {
namespace {

using FaultList = std::vector<AlertsFault>;

// Returns the contents of a file. Returns "" if the setting names no file, or after adding a fault.
std::string ReadSecret(const std::string& key, const std::string& file, FaultList& faults) {
  if (file.empty()) return "";
  const absl::StatusOr<std::string> text = transport::ReadSmallFile(file);
  if (!text.ok()) {
    faults.push_back(
        {key, fmt::format("{}: cannot read {}", key, std::string(text.status().message()))});
    return "";
  }
  if (const absl::Status kept = transport::CheckSecretFile(file); !kept.ok()) {
    faults.push_back({key, fmt::format("{}: {}", key, std::string(kept.message()))});
    return "";
  }
  std::string secret(absl::StripAsciiWhitespace(*text));
  if (secret.empty()) faults.push_back({key, fmt::format("{}: {} is empty", key, file)});
  // A line break would start another header.
  if (std::ranges::any_of(secret, absl::ascii_iscntrl)) {
    faults.push_back({key, fmt::format("{}: {} must contain exactly one line", key, file)});
    return "";
  }
  return secret;
}

// Returns the name of a receiver in warnings; `index` starts at 0. It does not contain the URL,
// which may be secret.
std::string HookName(const AlertHook& hook, std::size_t index) {
  return fmt::format("alerts.webhooks, {} ({})", index + 1, hook.shape);
}

std::string ReadUrl(const AlertSettings& settings, std::size_t index, FaultList& faults) {
  const AlertHook& hook = settings.hooks[index];
  const std::string key = "alerts.webhooks";
  const bool is_file = hook.url.starts_with('@');
  std::string url = is_file ? ReadSecret(key, hook.url.substr(1), faults) : hook.url;
  if (url.empty()) return url;
  const absl::Status status = CheckWebhookAddress(url, settings.allow_local);
  if (!status.ok()) {
    const std::string source = is_file ? fmt::format(", from {}", hook.url.substr(1)) : "";
    faults.push_back({key, fmt::format("{}{}: {}", HookName(hook, index), source,
                                       std::string(status.message()))});
  }
  return url;
}

struct Secrets {
  std::string signing;
  std::string routing_key;
  std::vector<std::string> urls;  // URLs of the hooks
  std::string lineage_token;
};

Secrets ReadSecrets(const AlertSettings& settings, const LineageSettings& lineage,
                    FaultList& faults) {
  Secrets secrets;
  for (std::size_t i = 0; i < settings.hooks.size(); ++i) {
    std::string url = ReadUrl(settings, i, faults);
    for (std::size_t before = 0; before < i; ++before) {
      if (url.empty() || url != secrets.urls[before] ||
          settings.hooks[i].shape != settings.hooks[before].shape) {
        continue;
      }
      faults.push_back(
          {"alerts.webhooks", fmt::format("{}: duplicates webhook {}; remove one of them",
                                          HookName(settings.hooks[i], i), before + 1)});
      break;
    }
    secrets.urls.push_back(std::move(url));
  }
  secrets.signing = ReadSecret("alerts.secret", settings.secret_file, faults);
  secrets.routing_key = ReadSecret("alerts.routing_key", settings.routing_key_file, faults);
  const bool has_pagerduty = std::ranges::any_of(
      settings.hooks, [](const AlertHook& hook) { return hook.shape == "pagerduty"; });
  if (has_pagerduty && settings.routing_key_file.empty()) {
    faults.push_back({"alerts.webhooks",
                      "alerts.webhooks: PagerDuty needs a routing key; put it into a file and set "
                      "alerts.routing_key to the name of that file"});
  }
  secrets.lineage_token = ReadSecret("lineage.token", lineage.token_file, faults);
  if (lineage.url.empty()) return secrets;
  const absl::Status status = CheckWebhookAddress(lineage.url, settings.allow_local);
  if (!status.ok()) {
    faults.push_back(
        {"lineage.url", fmt::format("lineage.url: {}", std::string(status.message()))});
  }
  return secrets;
}

AlertWording WordingOf(const AlertsOptions& options) {
  AlertWording wording = {.zone = options.zone, .page_url = options.page_url};
  for (const AlertTextRule& rule : options.settings.texts)
    wording.texts.emplace(rule.kind, rule.text);
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

class PollingAlerts final : public Alerts {
 public:
  PollingAlerts(AlertsOptions options, const Secrets& secrets)
      : options_(std::move(options)),
        sent_(options_.data_dir.empty() ? "" : options_.data_dir + "/alerts.told"),
        causes_(RulesOf(options_.settings), sent_.ids()),
        lineage_({.name_space = options_.lineage.name_space,
                  .interval = options_.lineage.interval,
                  .parent = options_.lineage.parent},
                 sent_.ids()) {
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
      senders_.push_back(std::make_unique<AlertSender>(
          AlertSenderOptions{.name = HookName(settings.hooks[i], i),
                             .webhook = {.url = secrets.urls[i],
                                         .secret = secrets.signing,
                                         .timeout = settings.timeout,
                                         .allow_local = settings.allow_local},
                             .attempts_max = static_cast<int>(settings.attempts),
                             .message = MessageOf(shape, secrets.routing_key, WordingOf(options_)),
                             .on_trouble = [this](const std::string& line) { Warn(line); }}));
    }
  }

  ~PollingAlerts() override {
    thread_ = {};
    for (const auto& sender : senders_) sender->End();
    if (lineage_sender_ != nullptr) lineage_sender_->End();
  }

  void Begin() override {
    thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
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

  void SendNew(const std::vector<Snapshot>& jobs) {
    // If there are no receivers, no alert may count as sent.
    for (const Alert& alert : senders_.empty() ? std::vector<Alert>() : causes_.Update(jobs)) {
      sent_.Add(alert.id);
      for (const std::string& id : alert.same_cause) sent_.Add(id);
      for (const auto& sender : senders_) sender->Send(alert);
    }
    if (lineage_sender_ == nullptr) return;
    for (LineageEvent& event : lineage_.Update(jobs)) {
      if (event.is_once) sent_.Add(event.id);
      lineage_sender_->Send({.what = "event " + event.type,
                             .id = std::move(event.id),
                             .job_id = std::move(event.job_id),
                             .body = std::move(event.body)});
    }
  }

  void Run(const std::stop_token& stop) {
    do {
      SendNew(options_.jobs());
      if (!sent_.trouble().ok() && !std::exchange(is_trouble_reported_, true)) {
        Warn(fmt::format("alerts may be sent again after a restart: {}",
                         std::string(sent_.trouble().message())));
      }
    } while (!transport::AwaitStop(stop, options_.interval));
  }

  const AlertsOptions options_;
  SentAlerts sent_;  // used only by the thread, like the next three members
  AlertCauses causes_;
  LineageEvents lineage_;
  bool is_trouble_reported_ = false;
  std::vector<std::unique_ptr<AlertSender>> senders_;
  std::unique_ptr<AlertSender> lineage_sender_;  // null if there is no receiver
  std::jthread thread_;
};

bool IsId(const std::string& line) {
  return line.size() == 16 && line.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

std::vector<AlertsFault> CheckAlerts(const AlertSettings& settings,
                                     const LineageSettings& lineage) {
  FaultList faults;
  ReadSecrets(settings, lineage, faults);
  return faults;
}

absl::StatusOr<std::unique_ptr<Alerts>> Alerts::Create(AlertsOptions options) {
  FaultList faults;
  const Secrets secrets = ReadSecrets(options.settings, options.lineage, faults);
  if (!faults.empty()) return absl::InvalidArgumentError(faults[0].message);
  return std::make_unique<PollingAlerts>(std::move(options), secrets);
}

SentAlerts::SentAlerts(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  std::vector<std::string> lines;
  {
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) {
      if (IsId(line)) lines.push_back(std::move(line));  // Incomplete lines are skipped.
    }
  }
  const std::size_t from = lines.size() > 2 * kKept ? lines.size() - kKept : 0;
  ids_.insert(lines.begin() + static_cast<std::ptrdiff_t>(from), lines.end());
  if (from > 0) {
    const std::string fresh = path_ + ".new";
    std::ofstream file(fresh, std::ios::trunc);
    for (std::size_t i = from; i < lines.size(); ++i) file << lines[i] << '\n';
    file.close();
    std::error_code error;
    if (file) std::filesystem::rename(fresh, path_, error);
  }
  file_.reset(std::fopen(path_.c_str(), "ae"));
  if (file_ == nullptr) {
    trouble_ = absl::UnavailableError(fmt::format("{}: {}", path_, std::strerror(errno)));
    return;
  }
  std::fputc('\n', file_.get());  // Terminates an incomplete line.
}

void SentAlerts::Add(const std::string& id) {
  if (file_ == nullptr) return;
  if (std::fprintf(file_.get(), "%s\n", id.c_str()) < 0 || std::fflush(file_.get()) != 0) {
    trouble_ = absl::UnavailableError(fmt::format("{}: {}", path_, std::strerror(errno)));
  }
}

}  // namespace tidemark::serve
