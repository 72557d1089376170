#include "serve/config/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <optional>
#include <system_error>

#include "absl/strings/ascii.h"
#include "text/did_you_mean.h"
#include "transport/listen_address.h"

namespace tidemark::serve {
namespace {

constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 50;
constexpr absl::Duration kWeek = absl::Hours(24 * 7);

// Returns the field of a configuration that a setting sets, such as AT(master.jobs_max).
#define AT(field) \
  [](auto& config) -> auto& { return config.field; }

absl::StatusOr<std::string> AnyText(std::string_view text) {
  if (text.empty()) return absl::InvalidArgumentError("empty");
  return std::string(text);
}
std::string SameText(const std::string& text) { return text; }

// The message does not quote the value, which may contain a secret.
template <typename Field>
Setting HttpAddressSetting(std::string key, Field field) {
  Setting setting =
      TextSetting(std::move(key), "an address that begins with https:// or http://", field);
  setting.set = [set = std::move(setting.set)](const auto& words, const std::string& folder,
                                               ServeConfig& config) {
    const bool is_address = words[0].starts_with("http://") || words[0].starts_with("https://");
    if (is_address) return set(words, folder, config);
    return absl::InvalidArgumentError("the given text");
  };
  return setting;
}

// Returns true if the URL names a host, and no user or password.
bool NamesAHost(std::string_view url) {
  const std::size_t scheme = url.find("//");
  if (scheme == std::string_view::npos) return false;
  const std::string_view rest = url.substr(scheme + 2);
  std::string host(rest.substr(0, rest.find('/')));
  if (host.find(':', host.rfind(']') + 1) == std::string::npos) host += ":80";
  const bool is_plain = std::ranges::all_of(host, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
           std::string_view(".-_:[]").find(c) != std::string_view::npos;
  });
  return is_plain && !host.starts_with("unix:") && !host.starts_with("unix-abstract:") &&
         transport::MasterAddressFault(host).empty();
}

// Messages contain the URL, which a blank, a quote or < would terminate.
Setting PageUrlSetting() {
  Setting setting = HttpAddressSetting("web.public_url", AT(page_url));
  setting.allowed += " and a host, without user names, spaces, quotes, <, >, ? and #";
  setting.set = [set = std::move(setting.set)](const auto& words, const std::string& folder,
                                               ServeConfig& config) {
    const bool is_plain = std::ranges::all_of(words[0], [](char c) {
      return absl::ascii_isgraph(static_cast<unsigned char>(c)) &&
             std::string_view("<>\"'?#").find(c) == std::string_view::npos;
    });
    if (!is_plain) return Unallowed(words[0]);
    if (!NamesAHost(words[0])) return absl::InvalidArgumentError("the given text");
    return set(words, folder, config);
  };
  return setting;
}

Setting LineageParentSetting() {
  return {.key = "lineage.parent",
          .allowed = kLineageParentForm,
          .set =
              [](const auto& words, const std::string&, ServeConfig& config) {
                absl::StatusOr<LineageParent> parent = ParseLineageParent(words[0]);
                if (parent.ok()) config.lineage.parent = *std::move(parent);
                return parent.status();
              },
          .show =
              [](const ServeConfig& config) {
                return config.lineage.parent ? ToString(*config.lineage.parent) : std::string();
              }};
}

// The message does not quote the URL, which may be secret.
Setting HooksSetting() {
  Setting setting = ListSetting<AlertHook>(
      "alerts.webhooks",
      "a list of FORMAT=ADDRESS, where FORMAT is json, slack or pagerduty, and ADDRESS is a URL "
      "(https:// or http://), or @FILE for a file that contains the URL",
      &ParseAlertHook, &ToString, AT(alerts.hooks));
  setting.set = [read = std::move(setting.set)](const auto& words, const std::string& folder,
                                                ServeConfig& config) {
    if (const absl::Status status = read(words, folder, config); !status.ok()) {
      const auto is_wrong = [](const std::string& word) { return !ParseAlertHook(word).ok(); };
      const auto wrong = std::find_if(words.begin(), words.end(), is_wrong);
      const std::string shape = wrong->substr(0, wrong->find('='));
      const bool is_word =
          shape.size() < wrong->size() && std::ranges::all_of(shape, absl::ascii_isalpha);
      return is_word ? Unallowed(shape + "=...")
                     : absl::InvalidArgumentError("a list with an item that has no FORMAT");
    }
    for (AlertHook& hook : config.alerts.hooks) {
      if (hook.url.starts_with('@')) hook.url = "@" + FileIn(folder, hook.url.substr(1));
    }
    return absl::OkStatus();
  };
  return setting;
}

// The message contains the fault within a text, but not the whole text.
Setting TextsSetting() {
  std::string fields;
  for (const std::string_view name : kAlertFieldNames) {
    fields += fmt::format("{}{{{}}}", fields.empty() ? "" : ", ", name);
  }
  Setting setting = ListSetting<AlertTextRule>(
      "alerts.texts",
      fmt::format("a list of KIND=TEXT, at most one for each kind, where KIND is {} and TEXT may "
                  "contain {}",
                  fmt::join(kAlertKindNames, ", "), fields),
      &ParseAlertTextRule, &ToString, AT(alerts.texts));
  setting.set = [](const auto& words, const std::string&, ServeConfig& config) {
    std::vector<AlertTextRule> rules;
    for (const std::string& word : words) {
      absl::StatusOr<AlertTextRule> rule = ParseAlertTextRule(word);
      if (!rule.ok()) return rule.status();
      const bool is_second = std::ranges::any_of(
          rules, [&](const AlertTextRule& other) { return other.kind == rule->kind; });
      if (is_second)
        return absl::InvalidArgumentError(fmt::format("`{}` twice", NameOf(rule->kind)));
      rules.push_back(*std::move(rule));
    }
    config.alerts.texts = std::move(rules);
    return absl::OkStatus();
  };
  return setting;
}

// Maximum number of bytes of a word that messages quote.
constexpr std::size_t kQuotedBytesMax = 60;

}  // namespace

const std::vector<Setting>& AllSettings() {
  static const auto* const kSettings = new std::vector<Setting>{
      // The service.
      AddressSetting("listen", "host:port, or unix:PATH", true, AT(master.listen_address)),
      SwitchSetting("allow_insecure_remote", AT(master.allow_insecure_remote)),
      FileSetting("data_dir", "a directory", AT(master.data_dir)),
      FileSetting("log_dir", "a directory", AT(master.event_log_dir)),
      FileSetting("spark_logs", "a directory", AT(spark_logs)),
      FileSetting("history_logs", "a directory", AT(history_logs)),
      // Access.
      ReadFileSetting("tls.certificate", "a PEM file", AT(master.tls.certificate_file)),
      ReadFileSetting("tls.key", "a PEM file", AT(master.tls.key_file)),
      ReadFileSetting("tls.client_ca", "a PEM file", AT(master.tls.client_ca_file)),
      ReadFileSetting("tokens", "a file of tokens", AT(master.tokens_file)),
      // Logs and metrics.
      AddressSetting("metrics.listen", "host:port", false, AT(metrics_address)),
      AddressSetting("web.listen", "host:port", false, AT(web_address)),
      PageUrlSetting(),
      ChoiceSetting<bool>("log.format", {{"text", false}, {"json", true}}, AT(log_as_json)),
      ChoiceSetting<LogSeverity>("log.level",
                                 {{"info", LogSeverity::kInfo},
                                  {"warning", LogSeverity::kWarning},
                                  {"error", LogSeverity::kError}},
                                 AT(log_least)),
      DurationSetting("journal.commit_interval", absl::ZeroDuration(), absl::Seconds(10),
                      AT(master.journal_commit_interval)),
      SwitchSetting("journal.sync", AT(master.journal_sync)),
      DurationSetting("history.age", absl::Hours(1), absl::Hours(24 * 3650),
                      AT(master.history_age_max)),
      BytesSetting("history.bytes", std::uint64_t{1} << 20, kBytesMax,
                   AT(master.history_bytes_max)),
      // Intervals of snapshots and of agents.
      DurationSetting("tick.interval", absl::Milliseconds(10), absl::Hours(1),
                      AT(master.tick_interval)),
      DurationSetting("tick.interval_min", absl::Milliseconds(10), absl::Hours(1),
                      AT(master.tick_interval_min)),
      DurationSetting("agents.flush_interval", absl::Milliseconds(50), absl::Minutes(1),
                      AT(master.agent_flush_interval)),
      ChoicesSetting("estimate.indicators", KnownIndicators(), AT(master.job.indicators)),
      CountSetting("estimate.lambda", 1, 1'000'000, AT(master.job.lambda)),
      DurationSetting("estimate.abandon_after", absl::Seconds(1), kWeek,
                      AT(master.job.abandon_after)),
      ListSetting<DeadlineRule>(
          "deadlines",
          "a list of NAME=WHEN, where NAME may contain * and WHEN is 07:30, 2026-11-26 07:30, a "
          "timestamp such as 2026-11-26T07:30:00Z, or a duration such as 2h30m or 1d12h",
          &ParseDeadlineRule, &tidemark::ToString, AT(master.deadlines)),
      // Alerts and lineage.
      HooksSetting(),
      ChoicesSetting("alerts.on", {kAlertKindNames.begin(), kAlertKindNames.end()},
                     AT(alerts.kinds)),
      ListSetting<std::string>("alerts.jobs", "a list of job names, which may contain *", &AnyText,
                               &SameText, AT(alerts.jobs)),
      TextsSetting(),
      CountSetting("alerts.late_percent", 1, 100, AT(alerts.late_percent)),
      DurationSetting("alerts.silent_after", absl::Seconds(1), kWeek, AT(alerts.silent_after)),
      FileSetting("alerts.secret", "a file", AT(alerts.secret_file)),
      FileSetting("alerts.routing_key", "a file", AT(alerts.routing_key_file)),
      DurationSetting("alerts.timeout", absl::Milliseconds(100), absl::Minutes(5),
                      AT(alerts.timeout)),
      CountSetting("alerts.attempts", 1, 100, AT(alerts.attempts)),
      SwitchSetting("alerts.allow_local", AT(alerts.allow_local)),
      HttpAddressSetting("lineage.url", AT(lineage.url)),
      TextSetting("lineage.namespace", "a word", AT(lineage.name_space)),
      DurationSetting("lineage.interval", absl::Seconds(1), absl::Hours(24), AT(lineage.interval)),
      FileSetting("lineage.token", "a file", AT(lineage.token_file)),
      LineageParentSetting(),
      // Limits on the cost of one reporter.
      BytesSetting("limits.message_bytes", 1024, std::uint64_t{1} << 30,
                   AT(master.message_bytes_max)),
      CountSetting("limits.jobs", 1, 1'000'000, AT(master.jobs_max)),
      CountSetting("limits.workflows", 1, 1'000'000, AT(master.workflows_max)),
      CountSetting("limits.jobs_per_workflow", 1, 100'000, AT(master.workflow_jobs_max)),
      CountSetting("limits.watchers", 1, 1'000'000, AT(master.watchers_max)),
      CountSetting("limits.streams_per_peer", 1, 1'000'000, AT(master.streams_per_peer_max)),
      BytesSetting("limits.bytes_per_job", std::uint64_t{1} << 20, kBytesMax,
                   AT(master.job_bytes_max)),
      BytesSetting("limits.state_bytes_per_job", std::uint64_t{1} << 20, kBytesMax,
                   AT(master.job.limits.state_bytes_max)),
      BytesSetting("limits.state_bytes", 0, kBytesMax, AT(master.state_bytes_max)),
      CountSetting("limits.share_percent", 1, 100, AT(master.share_percent)),
      CountSetting("limits.calls_per_second", 0, 1'000'000, AT(master.calls_per_second)),
      CountSetting("limits.map_tasks", 1, 10'000'000, AT(master.job.limits.map_tasks_max)),
      CountSetting("limits.reduce_tasks", 1, 1'000'000, AT(master.job.limits.reduce_tasks_max)),
      CountSetting("limits.attempts_per_task", 1, 1000,
                   AT(master.job.limits.attempts_per_task_max)),
      CountSetting("limits.sources_per_job", 1, 10'000'000, AT(master.job.limits.sources_max)),
      CountSetting("limits.stages_per_job", 1, 10'000'000, AT(master.job.limits.stages_max)),
      DurationSetting("shutdown.drain", absl::ZeroDuration(), absl::Hours(1), AT(shutdown_drain)),
      DurationSetting("shutdown.grace", absl::ZeroDuration(), absl::Hours(1), AT(shutdown_grace)),
  };
  return *kSettings;
}

#undef AT

const Setting* FindSetting(const std::string& key) {
  const auto& settings = AllSettings();
  const auto found = std::find_if(settings.begin(), settings.end(),
                                  [&](const Setting& setting) { return setting.key == key; });
  return found == settings.end() ? nullptr : &*found;
}

bool ReadCount(const std::string& word, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size();
}

bool ReadBytes(const std::string& word, std::uint64_t& value) {
  const std::optional<std::uint64_t> bytes = text::SizeIn(word);
  value = bytes.value_or(value);
  return bytes.has_value();
}

bool ReadSwitch(const std::string& word, bool& value) {
  value = word == "true";
  return value || word == "false";
}

bool ReadDuration(const std::string& word, absl::Duration& value) {
  return absl::ParseDuration(word, &value);
}

absl::Status CheckAddress(const std::string& word, bool may_be_unix) {
  const bool is_socket = may_be_unix && transport::UnixPathOf(word);
  if (is_socket || transport::ParseHostPort(word)) return absl::OkStatus();
  std::uint64_t port = 0;
  if (!ReadCount(word, port)) return Unallowed(word);
  return absl::InvalidArgumentError(
      fmt::format("`{}`; did you mean 127.0.0.1:{}?", word.substr(0, kQuotedBytesMax), port));
}

std::string FileIn(const std::string& folder, const std::string& name) {
  if (folder.empty() || name.empty() || name[0] == '/') return name;
  return fmt::format("{}/{}", folder, name);
}

absl::Status Unallowed(const std::string& word, const std::vector<std::string>& choices) {
  const bool is_long = word.size() > kQuotedBytesMax;
  return absl::InvalidArgumentError(
      is_long ? fmt::format("`{}...`", word.substr(0, kQuotedBytesMax))
              : fmt::format("`{}`{}", word, text::DidYouMean(word, choices)));
}

}  // namespace tidemark::serve
