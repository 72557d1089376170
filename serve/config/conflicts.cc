#include "serve/config/conflicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "serve/alerts/alerts.h"
#include "serve/config/settings.h"
#include "transport/host_port.h"
#include "transport/listen_address.h"
#include "transport/local_address.h"
#include "transport/small_file.h"

namespace tidemark::cli {
namespace {

std::string TickFault(const ServeConfig& config) {
  const MasterOptions& master = config.master;
  if (master.tick_interval_min <= master.tick_interval) return "";
  const bool is_min_set = config.origins.contains("tick.interval_min");
  return fmt::format("{}tick.interval_min must be at most tick.interval, {}, not {}",
                     config.Where(is_min_set ? "tick.interval_min" : "tick.interval"),
                     absl::FormatDuration(master.tick_interval),
                     absl::FormatDuration(master.tick_interval_min));
}

std::string ListenFault(const ServeConfig& config) {
  const MasterOptions& master = config.master;
  const absl::Status status = transport::CheckListenAddress(
      master.listen_address, master.allow_insecure_remote,
      {.encrypted = !master.tls.certificate_file.empty(),
       .authenticated = !master.tls.client_ca_file.empty() || !master.tokens_file.empty()});
  if (status.ok()) return "";
  return config.Where("listen") + std::string(status.message());
}

std::string KeyFault(const ServeConfig& config) {
  const ServerTls& tls = config.master.tls;
  if (tls.certificate_file.empty() == tls.key_file.empty()) return "";
  const bool has_key = tls.certificate_file.empty();
  const char* const set = has_key ? "tls.key" : "tls.certificate";
  const char* const missing = has_key ? "tls.certificate" : "tls.key";
  return fmt::format("{}{} needs {}; set both or neither", config.Where(set), set, missing);
}

std::string ClientCaFault(const ServeConfig& config) {
  const ServerTls& tls = config.master.tls;
  const bool is_alone =
      !tls.client_ca_file.empty() && tls.certificate_file.empty() && tls.key_file.empty();
  if (!is_alone) return "";
  return fmt::format(
      "{}tls.client_ca needs tls.certificate and tls.key; set them too, or leave it out",
      config.Where("tls.client_ca"));
}

// The metrics show the ids of jobs to every reader.
std::string MetricsFault(const ServeConfig& config) {
  const bool is_safe = config.metrics_address.empty() || config.master.allow_insecure_remote ||
                       transport::IsLocalAddress(config.metrics_address);
  if (is_safe) return "";
  return fmt::format(
      "{}metrics.listen {}: every host that reaches it can read the metrics; use a loopback "
      "address or pass --allow-insecure-remote",
      config.Where("metrics.listen"), config.metrics_address);
}

// Why the page would be open to more than the master itself is, and what to change.
std::string ReachOfPage(const ServeConfig& config) {
  const MasterOptions& master = config.master;
  if (config.web_address.empty() || master.allow_insecure_remote) return "";
  if (!master.tls.client_ca_file.empty()) {
    return "the page cannot ask browsers for the certificates that tls.client_ca demands; leave "
           "out one of them";
  }
  const bool has_tokens = !master.tokens_file.empty();
  if (transport::UnixPathOf(master.listen_address) && !has_tokens) {
    return "every user of this host could read what is now for those who may open the unix "
           "socket; set tokens";
  }
  const bool is_protected = has_tokens && !master.tls.certificate_file.empty();
  if (is_protected || transport::IsLocalAddress(config.web_address)) return "";
  return "other hosts reach it; set tls.certificate and tokens, use a loopback address, or pass "
         "--allow-insecure-remote";
}

std::string PageFault(const ServeConfig& config) {
  const std::string reason = ReachOfPage(config);
  if (reason.empty()) return "";
  return fmt::format("{}web.listen {}: {}", config.Where("web.listen"), config.web_address, reason);
}

bool IsIpv6(const std::string& host) { return host.starts_with('['); }

// Returns true if servers at both addresses would need the same port of the same host. A host name
// other than localhost is compared as text.
bool Collide(const std::string& one, const std::string& other) {
  const auto a = transport::ParseHostPort(one);
  const auto b = transport::ParseHostPort(other);
  if (!a || !b || a->port != b->port || a->port == 0) return false;
  const auto covers = [](const std::string& host, const std::string& of) {
    if (host == of || host == "[::]") return true;
    if (host == "0.0.0.0") return !IsIpv6(of);
    return host == "localhost" && (of == "127.0.0.1" || of == "[::1]");
  };
  return covers(a->host, b->host) || covers(b->host, a->host);
}

std::string PortFault(const ServeConfig& config) {
  const std::pair<const char*, const std::string&> servers[] = {
      {"listen", config.master.listen_address},
      {"web.listen", config.web_address},
      {"metrics.listen", config.metrics_address}};
  for (std::size_t i = 1; i < std::size(servers); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const auto& [key, address] = servers[i];
      const auto& [first_key, first] = servers[j];
      if (!Collide(first, address)) continue;
      return fmt::format("{}{} {} collides with {} {}; give each another port", config.Where(key),
                         key, address, first_key, first);
    }
  }
  return "";
}

std::string PageUrlFault(const ServeConfig& config) {
  if (config.page_url.empty() || !config.web_address.empty()) return "";
  return fmt::format("{}web.public_url: there is no page; set web.listen, too",
                     config.Where("web.public_url"));
}

bool HasAny(const std::set<std::string>& wrong, const std::vector<std::string>& keys) {
  return std::ranges::any_of(keys, [&](const std::string& key) { return wrong.contains(key); });
}

struct Check {
  std::string (*fault_of)(const ServeConfig& config);
  std::vector<std::string> keys;  // of the settings that it compares
};

}  // namespace

std::vector<std::string> Conflicts(const ServeConfig& config, const std::set<std::string>& wrong) {
  const Check checks[] = {
      {TickFault, {"tick.interval", "tick.interval_min"}},
      {ListenFault,
       {"listen", "allow_insecure_remote", "tls.certificate", "tls.client_ca", "tokens"}},
      {KeyFault, {"tls.certificate", "tls.key"}},
      {ClientCaFault, {"tls.client_ca", "tls.certificate", "tls.key"}},
      {MetricsFault, {"metrics.listen", "allow_insecure_remote"}},
      {PortFault, {"listen", "web.listen", "metrics.listen"}},
      {PageFault,
       {"web.listen", "allow_insecure_remote", "listen", "tls.certificate", "tls.client_ca",
        "tokens"}},
      {PageUrlFault, {"web.listen", "web.public_url"}}};
  std::vector<std::string> faults;
  for (const Check& check : checks) {
    if (!HasAny(wrong, check.keys)) faults.push_back(check.fault_of(config));
  }
  std::erase(faults, "");
  return faults;
}

std::vector<std::string> UnreadableFiles(const ServeConfig& config) {
  std::vector<std::string> faults;
  for (const Setting& setting : AllSettings()) {
    const std::string file = setting.file ? setting.file(config) : "";
    if (file.empty()) continue;
    const absl::Status status = transport::CheckRegularFile(file);
    if (status.ok()) continue;
    faults.push_back(fmt::format("{}{}: cannot read {}", config.Where(setting.key), setting.key,
                                 std::string(status.message())));
  }
  return faults;
}

std::vector<std::string> AlertFaults(const ServeConfig& config,
                                     const std::set<std::string>& wrong) {
  if (HasAny(wrong, {"alerts.webhooks", "alerts.secret", "alerts.routing_key", "alerts.allow_local",
                     "lineage.url", "lineage.token"})) {
    return {};
  }
  std::vector<std::string> faults;
  for (const AlertsFault& fault : CheckAlerts(config.alerts, config.lineage)) {
    faults.push_back(config.Where(fault.key) + fault.message);
  }
  return faults;
}

}  // namespace tidemark::cli
