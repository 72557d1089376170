#include "serve/config/serve_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

#include "console/text.h"
#include "serve/alerts/alerts.h"
#include "serve/config/settings.h"
#include "text/did_you_mean.h"
#include "transport/listen_address.h"
#include "transport/small_file.h"

namespace tidemark::serve {

namespace {

struct YamlEntry {
  std::string key;  // "section.name" or "name"
  std::vector<std::string> words;
  bool is_list = false;
  int line = 0;  // 1-based
  // Why `words` is empty. Empty if the entry is valid.
  std::string fault;
};

// Longer texts are rejected.
constexpr std::size_t kYamlBytesMax = std::size_t{1} << 20;

int LineOf(const YAML::Node& node) { return node.Mark().line + 1; }

// Finds the parts of a text that settings files may not contain.
class Outline final : public YAML::EventHandler {
 public:
  // Returns the 1-based line number, or 0 if the text has no such part.
  int second_document() const { return documents_ > 1 ? document_line_ : 0; }
  int alias() const { return alias_line_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    ++documents_;
    document_line_ = mark.line + 1;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    if (alias_line_ == 0) alias_line_ = mark.line + 1;
  }
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

 private:
  int documents_ = 0;
  int document_line_ = 0;
  int alias_line_ = 0;
};

// Returns the outline of the first two documents. Does not call YAML::LoadAll(), which never
// returns for texts such as `!,`, since each of their documents is followed by an empty one.
Outline OutlineOf(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Outline outline;
  if (parser.HandleNextDocument(outline)) parser.HandleNextDocument(outline);
  return outline;
}

class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  absl::StatusOr<std::vector<YamlEntry>> Read(const std::string& text) {
    const Outline outline = OutlineOf(text);
    if (const int line = outline.second_document(); line > 0) {
      return Fault(line, "only one document is allowed");
    }
    // Many aliases of one section would multiply its settings.
    if (const int line = outline.alias(); line > 0) {
      return Fault(line, "aliases are not allowed; write the values out");
    }
    const YAML::Node settings = YAML::Load(text);
    if (settings.IsNull()) return std::move(entries_);
    if (!settings.IsMap()) return Fault(LineOf(settings), "expected settings as `key: value`");
    ReadMap(settings, "");
    return std::move(entries_);
  }

 private:
  absl::Status Fault(int line, const std::string& what) const {
    return absl::InvalidArgumentError(fmt::format("{}:{}: {}", file_, line, what));
  }

  void AddFault(const std::string& key, int line, std::string fault) {
    entries_.push_back({.key = key, .line = line, .fault = std::move(fault)});
  }

  void ReadMap(const YAML::Node& map, const std::string& section) {
    for (const auto& pair : map) {
      if (!pair.first.IsScalar()) {
        AddFault("", LineOf(pair.first), "a key must be a plain word");
        continue;
      }
      const std::string key = section + pair.first.Scalar();
      const int line = LineOf(pair.first);
      const auto [known, is_new] = lines_.emplace(key, line);
      if (!is_new) {
        AddFault(key, line, fmt::format("{} is already set on line {}", key, known->second));
      } else {
        ReadValue(pair.second, key, line, section.empty());
      }
    }
  }

  void ReadValue(const YAML::Node& value, const std::string& key, int line, bool may_be_section) {
    if (value.IsMap() && may_be_section) return ReadMap(value, key + ".");
    if (value.IsScalar()) {
      entries_.push_back({.key = key, .words = {value.Scalar()}, .line = line});
      return;
    }
    if (!value.IsSequence()) {
      return AddFault(key, line,
                      fmt::format("{}: {}", key,
                                  value.IsMap() ? "sections cannot be nested deeper"
                                                : "has no value; set one or remove the key"));
    }
    YamlEntry entry{.key = key, .is_list = true, .line = line};
    for (const YAML::Node& item : value) {
      if (!item.IsScalar()) {
        return AddFault(key, LineOf(item),
                        fmt::format("{}: each list item must be a plain word", key));
      }
      entry.words.push_back(item.Scalar());
    }
    entries_.push_back(std::move(entry));
  }

  const std::string file_;
  std::map<std::string, int> lines_;
  std::vector<YamlEntry> entries_;
};

// Parses a YAML file of settings into a list. Sections are one level deep; the value of a setting
// is a word or a list of words.
//
//   listen: 127.0.0.1:7411            listen        = 127.0.0.1:7411
//   limits:                      ->   limits.jobs   = 1000
//     jobs: 1000
//
// Entries that nest deeper, repeat a key or have no value contain their fault. Fails with
// InvalidArgument, which names the line in `file`, if the text is not YAML or not a map of
// settings. Memory is bounded by the size of the text, since aliases are rejected.
absl::StatusOr<std::vector<YamlEntry>> ReadFlatYaml(const std::string& text,
                                                    const std::string& file) {
  if (text.size() > kYamlBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("{}: {} bytes; a configuration file may have at most {}", file, text.size(),
                    kYamlBytesMax));
  }
  try {
    return Reader(file).Read(text);
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(
        fmt::format("{}:{}: not valid YAML: {}", file, error.mark.line + 1, error.msg));
  }
}

// If `is_shown` is false, the message has no suggestion because it is not shown. A suggestion takes
// about 40 us, and a megabyte of text can contain 60,000 settings.
absl::Status UnknownSetting(const std::string& where, const std::string& key, bool is_shown) {
  if (!is_shown) {
    return absl::InvalidArgumentError(
        fmt::format("{}: unknown setting {}", where, key.substr(0, 100)));
  }
  std::vector<std::string> keys;
  for (const Setting& known : AllSettings()) {
    keys.push_back(known.key);
    if (!known.key.starts_with(key + ".")) continue;
    return absl::InvalidArgumentError(
        fmt::format("{}: {} is a section, not a setting; set a key in it, such as {}, or remove it",
                    where, key, known.key));
  }
  const std::string meant = text::DidYouMean(key, keys);
  return absl::InvalidArgumentError(
      fmt::format("{}: unknown setting {}{}", where, key.substr(0, 100),
                  meant.empty() ? "; docs/reference/settings.md lists all" : meant));
}

// Stores one setting. Error messages begin with `where`, which is a line of a file or an option.
// `is_shown` is true if the message will be shown.
absl::Status Set(const std::string& where, const std::string& folder, const YamlEntry& entry,
                 bool is_shown, ServeConfig& config) {
  if (!entry.fault.empty()) {
    return absl::InvalidArgumentError(fmt::format("{}: {}", where, entry.fault));
  }
  const Setting* setting = FindSetting(entry.key);
  if (setting == nullptr) return UnknownSetting(where, entry.key, is_shown);
  if (entry.is_list != setting->is_list || entry.words.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("{}: {} must be {}", where, entry.key, setting->allowed));
  }
  const absl::Status status = setting->set(entry.words, folder, config);
  if (status.ok()) {
    config.origins[entry.key] = where;
    return status;
  }
  return absl::InvalidArgumentError(fmt::format("{}: {} must be {}, not {}", where, entry.key,
                                                setting->allowed, std::string(status.message())));
}

std::string FolderOf(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  if (slash == std::string::npos) return "";
  return slash == 0 ? "/" : file.substr(0, slash);
}

// Collects all faults, one line per setting, so that users can correct them all at once.
class Faults {
 public:
  void Add(const absl::Status& status) {
    if (!status.ok()) Add(std::vector<std::string>{std::string(status.message())});
  }
  void AddOf(const std::string& key, const absl::Status& status) {
    if (!status.ok()) wrong_.insert(key);
    Add(status);
  }
  void Add(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      ++count_;
      // The text of a file may contain control characters.
      if (count_ <= kShownMax) lines_.push_back(console::Printable(line, /*unicode=*/true));
    }
  }
  bool has_room() const { return count_ < kShownMax; }
  // Returns the settings that keep their default because their value was rejected.
  const std::set<std::string>& wrong() const { return wrong_; }
  absl::Status All() const {
    if (count_ == 0) return absl::OkStatus();
    std::string text = fmt::format("{}", fmt::join(lines_, "\n"));
    if (count_ > kShownMax) {
      const std::size_t more = count_ - kShownMax;
      text += fmt::format("\nand {} more {}", more, more == 1 ? "fault" : "faults");
    }
    return absl::InvalidArgumentError(text);
  }

 private:
  // Larger than the number of settings.
  static constexpr std::size_t kShownMax = 100;
  std::size_t count_ = 0;
  std::vector<std::string> lines_;
  std::set<std::string> wrong_;
};

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
      "{}tls.client_ca needs tls.certificate and tls.key; set them too, or remove it",
      config.Where("tls.client_ca"));
}

// Returns the fault of the metrics address. Metrics show the ids of jobs to every reader.
std::string MetricsFault(const ServeConfig& config) {
  const bool is_safe = config.metrics_address.empty() || config.master.allow_insecure_remote ||
                       transport::IsLocalAddress(config.metrics_address);
  if (is_safe) return "";
  return fmt::format(
      "{}metrics.listen {}: every host that can reach it can read the metrics; use a loopback "
      "address or pass --allow-insecure-remote",
      config.Where("metrics.listen"), config.metrics_address);
}

// Returns why more users could reach the page than the master, and a remedy. Returns "" if they
// could not.
std::string ReachOfPage(const ServeConfig& config) {
  const MasterOptions& master = config.master;
  if (config.web_address.empty() || master.allow_insecure_remote) return "";
  if (!master.tls.client_ca_file.empty()) {
    return "browsers cannot present the certificates that tls.client_ca requires; remove "
           "web.listen or tls.client_ca";
  }
  const bool has_tokens = !master.tokens_file.empty();
  if (transport::UnixPathOf(master.listen_address) && !has_tokens) {
    return "the page would let every user of this host read jobs that only users of the unix "
           "socket can read; set tokens";
  }
  const bool is_protected = has_tokens && !master.tls.certificate_file.empty();
  if (is_protected || transport::IsLocalAddress(config.web_address)) return "";
  return "other hosts can reach it; set tls.certificate and tokens, use a loopback address, or "
         "pass --allow-insecure-remote";
}

std::string PageFault(const ServeConfig& config) {
  const std::string reason = ReachOfPage(config);
  if (reason.empty()) return "";
  return fmt::format("{}web.listen {}: {}", config.Where("web.listen"), config.web_address, reason);
}

bool IsIpv6(const std::string& host) { return host.starts_with('['); }

// Returns true if servers at both addresses would need the same port of the same host. Host names
// other than localhost are compared as strings.
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
      return fmt::format("{}{} {} collides with {} {}; use different ports", config.Where(key), key,
                         address, first_key, first);
    }
  }
  return "";
}

std::string PageUrlFault(const ServeConfig& config) {
  if (config.page_url.empty() || !config.web_address.empty()) return "";
  return fmt::format("{}web.public_url: no page is served; set web.listen as well",
                     config.Where("web.public_url"));
}

bool HasAny(const std::set<std::string>& wrong, const std::vector<std::string>& keys) {
  return std::ranges::any_of(keys, [&](const std::string& key) { return wrong.contains(key); });
}

struct Check {
  std::string (*fault_of)(const ServeConfig& config);
  std::vector<std::string> keys;  // settings that it compares
};

// Returns the conflicts between settings that are each allowed on their own. Each conflict is a
// line that begins with the location of a setting. Skips checks of settings in `wrong`. Pure.
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

// Returns a line for each file that a master needs at its start but cannot read.
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

// Returns the faults of CheckAlerts(), or none if a setting that it reads is in `wrong`.
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

// Returns the allowed settings of `text` and `overrides`. Adds a fault for each other setting.
ServeConfig Parse(const std::string& text, const std::string& file,
                  const std::vector<SettingOverride>& overrides, Faults& faults) {
  ServeConfig config;
  const absl::StatusOr<std::vector<YamlEntry>> entries = ReadFlatYaml(text, file);
  faults.Add(entries.status());
  if (!entries.ok()) return config;
  const auto set = [&](const std::string& where, const std::string& folder,
                       const YamlEntry& entry) {
    faults.AddOf(entry.key, Set(where, folder, entry, faults.has_room(), config));
  };
  for (const YamlEntry& entry : *entries) {
    set(fmt::format("{}:{}", file, entry.line), FolderOf(file), entry);
  }
  for (const SettingOverride& given : overrides) {
    const Setting* setting = FindSetting(given.key);
    const bool is_list = setting != nullptr && setting->is_list;
    set(given.origin, "", {.key = given.key, .words = given.words, .is_list = is_list});
  }
  faults.Add(Conflicts(config, faults.wrong()));
  return config;
}

}  // namespace

std::string ServeConfig::Where(const std::string& key) const {
  const auto origin = origins.find(key);
  return origin == origins.end() ? "" : origin->second + ": ";
}

absl::StatusOr<ServeConfig> ParseServeConfig(const std::string& text, const std::string& file,
                                             const std::vector<SettingOverride>& overrides) {
  Faults faults;
  ServeConfig config = Parse(text, file, overrides, faults);
  if (absl::Status status = faults.All(); !status.ok()) return status;
  return config;
}

absl::StatusOr<ServeConfig> LoadServeConfig(const std::string& file,
                                            const std::vector<SettingOverride>& overrides) {
  absl::StatusOr<std::string> text = std::string();
  if (!file.empty()) text = transport::ReadSmallFile(file);
  if (!text.ok()) return text.status();
  Faults faults;
  ServeConfig config = Parse(*text, file, overrides, faults);
  faults.Add(UnreadableFiles(config));
  faults.Add(AlertFaults(config, faults.wrong()));
  if (absl::Status status = faults.All(); !status.ok()) return status;
  return config;
}

}  // namespace tidemark::serve
