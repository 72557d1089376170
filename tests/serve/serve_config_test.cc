#include "serve/config/serve_config.h"

#include <fmt/format.h>

#include "absl/strings/str_split.h"
#include "serve/config/settings.h"
#include "tests/scratch_directory.h"
#include "tests/test.h"

namespace tidemark::serve::serve_config_test {
namespace {

using ::testing::EndsWith;

std::string FileOf(const std::string& path) {
  std::ifstream stream(TIDEMARK_SOURCE_DIR "/" + path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string MessageOf(const std::string& text) {
  return std::string(ParseServeConfig(text, "tm.yaml", {}).status().message());
}

TEST(ServeConfig, KeepsDefaultsOfAnEmptyFile) {
  const auto config = ParseServeConfig("", "tm.yaml", {});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->master.listen_address, "127.0.0.1:7411");
  EXPECT_EQ(config->master.jobs_max, MasterOptions().jobs_max);
}

TEST(ServeConfig, ReadsAndShowsSizesInTheSameUnits) {
  const auto decimal = ParseServeConfig("limits: {message_bytes: 2MB}", "tm.yaml", {});
  const auto binary = ParseServeConfig("limits: {message_bytes: 2MiB}", "tm.yaml", {});
  ASSERT_TRUE(decimal.ok() && binary.ok());
  EXPECT_EQ(decimal->master.message_bytes_max, 2'000'000U);
  EXPECT_EQ(binary->master.message_bytes_max, 2U << 20);
}

TEST(ServeConfig, AcceptsEachKindOfValue) {
  const auto config = ParseServeConfig(
      "listen: unix:/run/tidemark.sock\n"
      "log_dir: logs\n"
      "allow_insecure_remote: true\n"
      "tick: {interval: 1.5s, interval_min: 100ms}\n"
      "estimate:\n"
      "  indicators: [nearestfit, hadoop]\n"
      "limits:\n"
      "  message_bytes: 2MiB\n"
      "  jobs: 17  # a comment\n",
      "/etc/tidemark/tm.yaml", {});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->master.listen_address, "unix:/run/tidemark.sock");
  EXPECT_EQ(config->master.event_log_dir, "/etc/tidemark/logs");
  EXPECT_TRUE(config->master.allow_insecure_remote);
  EXPECT_EQ(config->master.tick_interval, absl::Milliseconds(1500));
  EXPECT_EQ(config->master.tick_interval_min, absl::Milliseconds(100));
  EXPECT_THAT(config->master.job.indicators, ElementsAre("nearestfit", "hadoop"));
  EXPECT_EQ(config->master.message_bytes_max, 2U << 20);
  EXPECT_EQ(config->master.jobs_max, 17U);
}

TEST(ServeConfig, PrefersOptionsToTheFile) {
  const auto config =
      ParseServeConfig("listen: 127.0.0.1:1\nlimits:\n  jobs: 5\n", "tm.yaml",
                       {{.origin = "--listen", .key = "listen", .words = {"127.0.0.1:2"}}});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->master.listen_address, "127.0.0.1:2");
  EXPECT_EQ(config->master.jobs_max, 5U);
}

TEST(ServeConfig, RecordsThePlaceOfASetting) {
  const auto config = ParseServeConfig("listen: 127.0.0.1:1\ndata_dir: d\n", "tm.yaml",
                                       {{.origin = "--log-dir", .key = "log_dir", .words = {"l"}}});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->Where("data_dir"), "tm.yaml:2: ");
  EXPECT_EQ(config->Where("log_dir"), "--log-dir: ");
  EXPECT_EQ(config->Where("tokens"), "");
}

TEST(ServeConfig, NamesAFaultyOption) {
  const auto config =
      ParseServeConfig("", "", {{.origin = "--set", .key = "limits.jobs", .words = {"many"}}});
  EXPECT_EQ(config.status().message(),
            "--set: limits.jobs must be a whole number from 1 to 1000000, not `many`");
}

TEST(ServeConfig, AcceptsAHostNamedLikeASocket) {
  const auto config = ParseServeConfig(
      "allow_insecure_remote: true\nmetrics: {listen: 'unixbox:9100'}\n", "tm.yaml", {});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->metrics_address, "unixbox:9100");
}

TEST(ServeConfig, ReportsThePlaceOfEachUnreadableFile) {
  const test::ScratchDirectory folder;
  const std::string file = folder.Write("tm.yaml",
                                        "tls: {certificate: c, key: ., client_ca: a}\n"
                                        "tokens: t\n"
                                        "alerts:\n"
                                        "  webhooks: ['slack=@hook', 'json=https://x/y']\n"
                                        "  secret: s\n"
                                        "  routing_key: r\n"
                                        "  on: [falied]\n"
                                        "lineage: {token: l}\n");
  const auto config =
      LoadServeConfig(file, {{.origin = "--set", .key = "tokens", .words = {"/nowhere/tokens"}}});
  const auto cannot_read = [&](int line, const char* key, const char* name, const char* why) {
    return fmt::format("{}:{}: {}: cannot read {}/{}: {}", file, line, key, folder.path(), name,
                       why);
  };
  const char* const kAbsent = "No such file or directory";
  EXPECT_THAT(
      std::vector<std::string>(absl::StrSplit(std::string(config.status().message()), '\n')),
      ElementsAre(HasSubstr(":7: alerts.on must be"),
                  cannot_read(1, "tls.certificate", "c", kAbsent),
                  cannot_read(1, "tls.key", ".", "Is a directory"),
                  cannot_read(1, "tls.client_ca", "a", kAbsent),
                  "--set: tokens: cannot read /nowhere/tokens: No such file or directory",
                  cannot_read(4, "alerts.webhooks", "hook", kAbsent),
                  cannot_read(5, "alerts.secret", "s", kAbsent),
                  cannot_read(6, "alerts.routing_key", "r", kAbsent),
                  cannot_read(8, "lineage.token", "l", kAbsent)));
}

TEST(ServeConfig, ReportsThePlaceOfAForbiddenUrl) {
  const test::ScratchDirectory folder;
  const std::string file = folder / "tm.yaml";
  const auto message_of = [&](const std::string& text) {
    return std::string(LoadServeConfig(folder.Write("tm.yaml", text), {}).status().message());
  };
  const std::string hooks =
      "alerts:\n"
      "  webhooks: ['json=https://ops.example', 'json=http://localhost/x']\n";
  const std::string lineage = "lineage: {url: 'http://127.0.0.1/'}\n";
  const std::string reason =
      "its address belongs to this host, a local link or a metadata service; set "
      "alerts.allow_local to allow it";
  EXPECT_EQ(
      message_of(hooks + lineage),
      fmt::format("{0}:2: alerts.webhooks, 2 (json): {1}\n{0}:3: lineage.url: {1}", file, reason));
  EXPECT_EQ(message_of(hooks + "  allow_local: true\n" + lineage), "");
  EXPECT_EQ(message_of(hooks + "  allow_local: perhaps\n" + lineage),
            file + ":3: alerts.allow_local must be true or false, not `perhaps`");
}

struct Case {
  const char* name;
  std::string text;
  std::string message;
};

class ServeConfigFault : public ::testing::TestWithParam<Case> {};

TEST_P(ServeConfigFault, IsReportedWithFileLineKeyAndAllowedValues) {
  EXPECT_THAT(MessageOf(GetParam().text), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Faults, ServeConfigFault,
    ::testing::Values(
        Case{"UnknownKey", "a: 1",
             "tm.yaml:1: unknown setting a; docs/reference/settings.md lists all"},
        Case{"Typo", "\nlimits:\n  jbos: 3\n",
             "tm.yaml:3: unknown setting limits.jbos; did you mean limits.jobs?"},
        Case{"EmptySection", "alerts: ''\n",
             "tm.yaml:1: alerts is a section, not a setting; set a key in it, such as "
             "alerts.webhooks, or remove it"},
        Case{"ListAsASection", "log_dir: /x\nlimits: [1]\n",
             "tm.yaml:2: limits is a section, not a setting; set a key in it, such as "
             "limits.message_bytes, or remove it"},
        Case{"EmptyKey", "'': x\n", "tm.yaml:1: unknown setting "},
        Case{"Range", "limits:\n  jobs: 0\n",
             "tm.yaml:2: limits.jobs must be a whole number from 1 to 1000000, not `0`"},
        Case{"Negative", "limits: {jobs: -1}", "to 1000000, not `-1`"},
        Case{"Overflow", "limits: {message_bytes: 99999999999999TiB}",
             "to 1GiB, such as 4MiB, not `99999999999999TiB`"},
        Case{"Duration", "tick:\n  interval: fast\n",
             "tm.yaml:2: tick.interval must be a duration from 10ms to 1h, such as 1.5s, not "
             "`fast`"},
        Case{"InfiniteDuration", "tick: {interval: inf}", "such as 1.5s, not `inf`"},
        Case{"Indicator", "estimate: {indicators: [oracle]}", "not `oracle`"},
        Case{"IndicatorTwice", "estimate: {indicators: [hadoop, hadoop]}", "not `hadoop` twice"},
        Case{"Deadline", "deadlines:\n- nightly=7 pm\n",
             "tm.yaml:1: deadlines must be a list of NAME=WHEN, where NAME may contain * and WHEN "
             "is 07:30, 2026-11-26 07:30, a timestamp such as 2026-11-26T07:30:00Z, or a duration "
             "such as 2h30m or 1d12h, not `nightly=7 pm`"},
        Case{"Alert", "alerts: {on: [late, falied]}", "not `falied`; did you mean failed?"},
        Case{"TextOfAnAlert", "alerts:\n  texts: ['late={job}: {deadlin}']\n",
             "tm.yaml:2: alerts.texts must be a list of KIND=TEXT, at most one for each kind, "
             "where KIND is "
             "late, straggler, ended, failed, silent and TEXT may contain {job}, {id}, {user}, "
             "{queue}, {kind}, {cause}, {state}, {done}, {left}, {basis}, {end}, {deadline}, "
             "{probability}, {elapsed}, {message}, {page}, not `{deadlin}`; did you mean "
             "{deadline}?"},
        Case{"TextOfAnUnknownKind", "alerts: {texts: ['lat={job}']}",
             "not `lat`; did you mean late?"},
        Case{"TextWithoutAKind", "alerts: {texts: ['{job}']}", "not `{job}`, which has no ="},
        Case{"TextOfAKindTwice", "alerts: {texts: ['late=a', 'late=b']}", "not `late` twice"},
        Case{"TextWithABrace", "alerts: {texts: ['late=a } b']}",
             "not a single `}` at byte 3; write }} for a brace"},
        Case{"TextThatIsEmpty", "alerts: {texts: ['late=']}", "not an empty text"},
        Case{"TextThatIsLong", "alerts: {texts: ['late=" + std::string(501, 'x') + "']}",
             "not a text of 501 bytes; at most 500 are allowed"},
        Case{"Parent", "lineage:\n  parent: airflow/nightly\n",
             "tm.yaml:2: lineage.parent must be NAMESPACE/NAME/RUNID, where RUNID is a UUID, not "
             "`airflow/nightly`"},
        Case{"ParentWithoutARun", "lineage: {parent: a/b/c}",
             "not `a/b/c`, which does not end with a UUID"},
        Case{"PortAlone", "listen: 7411",
             "host:port, or unix:PATH, not `7411`; did you mean 127.0.0.1:7411?"},
        Case{"NoPort", "listen: localhost", "not `localhost`"},
        Case{"PortTooHigh", "listen: 'localhost:70000'", "not `localhost:70000`"},
        Case{"BareIpV6", "listen: '::1:7411'", "not `::1:7411`"},
        Case{"UrlForAddress", "web: {listen: 'http://localhost:80'}", "not `http://localhost:80`"},
        Case{"SocketForMetrics", "metrics: {listen: 'unix:/run/x'}",
             "must be host:port, not `unix:/run/x`"},
        Case{"SocketWithoutAPath", "listen: 'unix:'", "not `unix:`"},
        Case{"AddressWithoutAHost", "web: {listen: ':7412'}", "must be host:port, not `:7412`"},
        Case{"Level", "log: {level: warnign}", "not `warnign`; did you mean warning?"},
        Case{"EmptyPattern", "alerts: {jobs: ['']}",
             "a list of job names, which may contain *, not ``"},
        Case{"SecretOfAWebhook", "alerts: {webhooks: ['slak=https://x/s3cret']}",
             "or @FILE for a file that contains the URL, not `slak=...`"},
        Case{"WebhookWithoutAFormat", "alerts: {webhooks: ['https://hooks.slack.com/s3cret']}",
             "or @FILE for a file that contains the URL, not a list with an item that has no "
             "FORMAT"},
        Case{"NoIndicator", "estimate: {indicators: []}", "must be a list of one or more of"},
        Case{"ListForWord", "listen: [a, b]", "tm.yaml:1: listen must be host:port"},
        Case{"WordForList", "estimate: {indicators: hadoop}", "must be a list of one or more of"},
        Case{"Switch", "allow_insecure_remote: perhaps", "must be true or false, not `perhaps`"},
        Case{"Twice", "listen: a\nlisten: b\n", "tm.yaml:2: listen is already set on line 1"},
        Case{"NoValue", "listen:\n", "tm.yaml:1: listen: has no value"},
        Case{"Nested", "limits: {jobs: {a: 1}}", "sections cannot be nested deeper"},
        Case{"NotYaml", "a: 1\nb: [", "tm.yaml:"},
        Case{"List", "- a\n", "tm.yaml:1: expected settings as `key: value`"},
        Case{"Documents", "listen: a\n---\nlisten: b\n", "only one document"},
        Case{"Together", "tick: {interval: 1s, interval_min: 2s}",
             "tm.yaml:1: tick.interval_min must be at most tick.interval, 1s, not 2s"},
        Case{"TicksBelowTheDefault", "\ntick: {interval: 20ms}",
             "tm.yaml:2: tick.interval_min must be at most tick.interval, 20ms, not 200ms"},
        Case{"ListenForAll", "\nlisten: '0.0.0.0:7411'\n",
             "tm.yaml:2: listen address 0.0.0.0:7411: other hosts must not connect without TLS and "
             "either tokens or client certificates; set that up, use 127.0.0.1 or pass "
             "--allow-insecure-remote"},
        Case{"ListenForAllWithoutTls", "tokens: t\nlisten: '0.0.0.0:7411'\n",
             "tm.yaml:2: listen address 0.0.0.0:7411: other hosts must not connect without TLS;"},
        Case{"CertificateAlone", "tls:\n  certificate: c\n",
             "tm.yaml:2: tls.certificate needs tls.key; set both or neither"},
        Case{"KeyAlone", "tls:\n  key: k\n",
             "tm.yaml:2: tls.key needs tls.certificate; set both or neither"},
        Case{"ClientCaAlone", "tls:\n  client_ca: ca\n",
             "tm.yaml:2: tls.client_ca needs tls.certificate and tls.key"},
        Case{"MetricsForAll", "metrics:\n  listen: 'unixbox:9411'\n",
             "tm.yaml:2: metrics.listen unixbox:9411: every host that can reach it can read the "
             "metrics"},
        Case{"PageForAll", "tokens: t\nweb: {listen: '0.0.0.0:7412'}\n",
             "tm.yaml:2: web.listen 0.0.0.0:7412: other hosts can reach it; set tls.certificate"},
        Case{"PageBesideASocket", "listen: 'unix:/run/x'\nweb: {listen: 'localhost:1'}",
             "tm.yaml:2: web.listen localhost:1: the page would let every user of this host read"},
        Case{"PageForCertificates", "tls: {client_ca: ca}\nweb: {listen: 'localhost:1'}",
             "tm.yaml:2: web.listen localhost:1: browsers cannot present"},
        Case{"UrlWithoutAPage", "\nweb: {public_url: 'https://tidemark.example/'}",
             "tm.yaml:2: web.public_url: no page is served; set web.listen as well"},
        Case{"UrlOfThePageIsAWord", "web: {listen: 'localhost:1', public_url: tidemark}",
             "tm.yaml:1: web.public_url must be an address that begins with https:// or http://"},
        Case{"UrlOfThePageHasABlank", "web: {listen: 'localhost:1', public_url: 'https://a/<b c>'}",
             "tm.yaml:1: web.public_url must be an address that begins with https:// or http://"},
        Case{"UrlOfThePageHasNoHost", "web: {listen: 'localhost:1', public_url: 'https:///x'}",
             "tm.yaml:1: web.public_url must be an address that begins with https:// or http://"},
        Case{"UrlOfThePageHasAWrongPort",
             "web: {listen: 'localhost:1', public_url: 'http://h:99999/'}",
             "tm.yaml:1: web.public_url must be an address that begins with https:// or http://"},
        Case{"UrlOfThePageIsASocket",
             "web: {listen: 'localhost:1', public_url: 'http://unix-abstract:x/'}",
             "tm.yaml:1: web.public_url must be an address that begins with https:// or http://"},
        Case{"UrlOfThePageHasAWrongHost",
             "web: {listen: 'localhost:1', public_url: 'http://h\\x/'}",
             "tm.yaml:1: web.public_url must be an address that begins with https:// or http://"},
        Case{"UrlOfThePageHasAPassword",
             "web: {listen: 'localhost:1', public_url: 'http://u:p@h/'}",
             "tm.yaml:1: web.public_url must be an address that begins with https:// or http://"}),
    [](const auto& test) { return test.param.name; });

TEST(ServeConfig, ReportsNoConsequencesOfAFault) {
  EXPECT_EQ(
      MessageOf("tick: {interval: soon, interval_min: 2s}\n"),
      "tm.yaml:1: tick.interval must be a duration from 10ms to 1h, such as 1.5s, not `soon`");
  EXPECT_EQ(MessageOf("allow_insecure_remote: yes\n"
                      "metrics: {listen: '0.0.0.0:1'}\n"
                      "web: {listen: '0.0.0.0:2'}\n"
                      "listen: '0.0.0.0:3'\n"),
            "tm.yaml:1: allow_insecure_remote must be true or false, not `yes`");
}

// Settings that accept any text. Files are checked only when the settings are loaded.
const std::set<std::string> kTakeAnyText = {
    "data_dir",    "log_dir",       "spark_logs",       "history_logs",  "tls.certificate",
    "tls.key",     "tls.client_ca", "tokens",           "alerts.secret", "alerts.routing_key",
    "alerts.jobs", "lineage.token", "lineage.namespace"};

// Returns a file with every setting, one per line, whose values come from `value_of`. Stores the
// line of each setting in `lines`.
template <typename ValueOf>
std::string FileOfAll(ValueOf value_of, std::map<std::string, int>& lines) {
  std::map<std::string, std::string> sections;
  std::map<std::string, std::vector<std::string>> keys;
  for (const Setting& setting : AllSettings()) {
    const std::size_t dot = setting.key.find('.');
    const std::string section = dot == std::string::npos ? "" : setting.key.substr(0, dot);
    const std::string name = dot == std::string::npos ? setting.key : setting.key.substr(dot + 1);
    sections[section] +=
        fmt::format("{}{}: {}\n", section.empty() ? "" : "  ", name, value_of(setting));
    keys[section].push_back(setting.key);
  }
  std::string text;
  int line = 0;
  for (const auto& [section, entries] : sections) {
    if (!section.empty()) {
      text += section + ":\n";
      ++line;
    }
    text += entries;
    for (const std::string& key : keys[section]) lines[key] = ++line;
  }
  return text;
}

TEST(ServeConfig, ReportsPlaceAndAllowedValuesOfEachFaultySetting) {
  std::map<std::string, int> lines;
  const std::string faults = MessageOf(FileOfAll(
      [](const Setting& setting) { return setting.is_list ? "word" : "[a, list]"; }, lines));
  for (const Setting& setting : AllSettings()) {
    EXPECT_THAT(faults, HasSubstr(fmt::format("tm.yaml:{}: {} must be {}", lines[setting.key],
                                              setting.key, setting.allowed)));
  }
  EXPECT_EQ(std::ranges::count(faults, '\n') + 1, std::ssize(AllSettings()));
}

TEST(ServeConfig, ReportsEachFaultyValueOnce) {
  std::map<std::string, int> lines;
  const std::string faults = MessageOf(
      FileOfAll([](const Setting& setting) { return setting.is_list ? "['%?']" : "'%?'"; }, lines));
  const std::vector<std::string> messages = absl::StrSplit(faults, '\n');
  for (const Setting& setting : AllSettings()) {
    const std::string begin = fmt::format("tm.yaml:{}: {} must be {}, not ", lines[setting.key],
                                          setting.key, setting.allowed);
    EXPECT_EQ(std::ranges::count_if(
                  messages, [&](const std::string& message) { return message.starts_with(begin); }),
              kTakeAnyText.contains(setting.key) ? 0 : 1)
        << begin << "\n"
        << faults;
  }
  EXPECT_EQ(messages.size(), AllSettings().size() - kTakeAnyText.size());
}

// A template may insert an unset variable. The resulting `tokens: ''` must not remove the
// protection.
TEST(ServeConfig, RejectsAnEmptyText) {
  std::map<std::string, int> lines;
  const std::string faults = MessageOf(
      FileOfAll([](const Setting& setting) { return setting.is_list ? "['']" : "''"; }, lines));
  for (const Setting& setting : AllSettings()) {
    EXPECT_THAT(faults, HasSubstr(fmt::format("tm.yaml:{}: {} must be {}, not ", lines[setting.key],
                                              setting.key, setting.allowed)));
  }
}

TEST(ServeConfig, SuggestsTheNearestSetting) {
  for (const Setting& setting : AllSettings()) {
    const std::size_t dot = setting.key.find('.');
    // Swaps the last two letters.
    std::string typo = setting.key;
    std::swap(typo[typo.size() - 1], typo[typo.size() - 2]);
    if (typo == setting.key) continue;
    const std::string text =
        dot == std::string::npos
            ? fmt::format("\n{}: 1\n", typo)
            : fmt::format("{}:\n  {}: 1\n", typo.substr(0, dot), typo.substr(dot + 1));
    EXPECT_EQ(MessageOf(text),
              fmt::format("tm.yaml:2: unknown setting {}; did you mean {}?", typo, setting.key));
  }
}

TEST(ServeConfig, ReportsAllFaultsTogether) {
  EXPECT_EQ(MessageOf("listn: a\n"
                      "limits:\n"
                      "  jobs: many\n"
                      "  jobs: 3\n"
                      "alerts:\n"
                      "  on: [falied]\n"
                      "  timeout:\n"
                      "log: {level: {a: 1}}\n"),
            "tm.yaml:1: unknown setting listn; did you mean listen?\n"
            "tm.yaml:3: limits.jobs must be a whole number from 1 to 1000000, not `many`\n"
            "tm.yaml:4: limits.jobs is already set on line 3\n"
            "tm.yaml:6: alerts.on must be a list of one or more of late, straggler, ended, failed, "
            "silent, not `falied`; did you mean failed?\n"
            "tm.yaml:7: alerts.timeout: has no value; set one or remove the key\n"
            "tm.yaml:8: log.level: sections cannot be nested deeper");
}

TEST(ServeConfig, ReportsAnOpenAddressTogetherWithOtherFaults) {
  EXPECT_EQ(MessageOf("listen: '0.0.0.0:7411'\n"
                      "limits: {jobs: many}\n"),
            "tm.yaml:2: limits.jobs must be a whole number from 1 to 1000000, not `many`\n"
            "tm.yaml:1: listen address 0.0.0.0:7411: other hosts must not connect without TLS and "
            "either tokens or client certificates; set that up, use 127.0.0.1 or pass "
            "--allow-insecure-remote");
}

TEST(ServeConfig, RejectsTwoServersAtOnePort) {
  EXPECT_EQ(MessageOf("web: {listen: '127.0.0.1:7411'}\n"),
            "tm.yaml:1: web.listen 127.0.0.1:7411 collides with listen 127.0.0.1:7411; use "
            "different ports");
  EXPECT_EQ(MessageOf("web: {listen: '127.0.0.1:9'}\nmetrics: {listen: 'localhost:9'}\n"),
            "tm.yaml:2: metrics.listen localhost:9 collides with web.listen 127.0.0.1:9; use "
            "different ports");
  EXPECT_THAT(MessageOf("allow_insecure_remote: true\nlisten: '0.0.0.0:9'\n"
                        "web: {listen: '127.0.0.1:9'}\n"),
              HasSubstr("collides with listen 0.0.0.0:9"));
  EXPECT_THAT(MessageOf("allow_insecure_remote: true\nweb: {listen: '[::]:9'}\n"
                        "metrics: {listen: '127.0.0.1:9'}\n"),
              HasSubstr("collides with web.listen [::]:9"));
}

TEST(ServeConfig, AllowsServersAtDifferentAddresses) {
  EXPECT_EQ(MessageOf("web: {listen: '127.0.0.1:7412'}\nmetrics: {listen: '127.0.0.1:7413'}\n"),
            "");
  EXPECT_EQ(MessageOf("listen: '127.0.0.1:0'\nweb: {listen: '127.0.0.1:0'}\n"), "");
  EXPECT_EQ(MessageOf("web: {listen: '127.0.0.2:7411'}\nmetrics: {listen: '[::1]:7411'}\n"), "");
  EXPECT_EQ(MessageOf("listen: unix:/run/m\nweb: {listen: '127.0.0.1:7411'}\n"
                      "tokens: /dev/null\n"),
            MessageOf("listen: unix:/run/m\nweb: {listen: '127.0.0.1:7415'}\n"
                      "tokens: /dev/null\n"));
}

TEST(ServeConfig, AllowsRemoteAccessWithTlsAndTokens) {
  const std::string text = "listen: '0.0.0.0:7411'\ntls: {certificate: c, key: k}\ntokens: t\n";
  EXPECT_EQ(MessageOf(text), "");
}

TEST(ServeConfig, ReportsAtMostAHundredFaults) {
  const auto message_of = [](int faults) {
    std::string text;
    for (int i = 0; i < faults; ++i) text += fmt::format("key{}: 1\n", i);
    return MessageOf(text);
  };
  EXPECT_THAT(message_of(1000), EndsWith("\nand 900 more faults"));
  EXPECT_THAT(message_of(101), EndsWith("\nand 1 more fault"));
}

TEST(ServeConfig, KeepsEachFaultOnOneLine) {
  EXPECT_EQ(MessageOf("\"two\\nlines\": 1\n"
                      "limits: {jobs: \"1\\n2\\e[31m\"}\n"),
            "tm.yaml:1: unknown setting two lines; docs/reference/settings.md lists all\n"
            "tm.yaml:2: limits.jobs must be a whole number from 1 to 1000000, not `1 2 [31m`");
}

// These aliases would expand to 10^9 words.
TEST(ServeConfig, RejectsAliases) {
  std::string text = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c < 'k'; ++c) {
    text += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 10; ++i) text += std::string(i == 0 ? "*" : ", *") + char(c - 1);
    text += "]\n";
  }
  constexpr char kRejected[] = "tm.yaml:2: aliases are not allowed; write the values out";
  EXPECT_EQ(MessageOf(text), kRejected);
  EXPECT_EQ(MessageOf("limits: &some {jobs: 1}\ntick: *some\n"), kRejected);
}

TEST(ServeConfig, IsDocumentedWithDefaults) {
  const std::string guide = FileOf("docs/reference/settings.md");
  ServeConfig defaults;
  for (const Setting& setting : AllSettings()) {
    const std::string value = setting.show(defaults);
    const std::string row = "| `" + setting.key + "` | " + (value.empty() ? "none" : value) + " |";
    EXPECT_THAT(guide, HasSubstr(row));
  }
}

// The example lists every setting. Settings without a default are commented out.
TEST(ServeConfig, MatchesTheDefaultsOfTheExample) {
  const std::string example = FileOf("packaging/tidemark.yaml");
  auto config = ParseServeConfig(example, "", {});
  ASSERT_TRUE(config.ok()) << config.status();
  ServeConfig defaults;
  for (const Setting& setting : AllSettings()) {
    EXPECT_EQ(setting.show(*config), setting.show(defaults)) << setting.key;
    const std::string name = setting.key.substr(setting.key.find('.') + 1);
    EXPECT_THAT(example, HasSubstr(name + ": ")) << setting.key;
  }
}

TEST(ServeConfig, AcceptsTheFilesOfContainers) {
  for (const char* file :
       {"packaging/container/tidemark.yaml", "packaging/kubernetes/tidemark.yaml"}) {
    const auto config = ParseServeConfig(FileOf(file), file, {});
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_EQ(config->master.listen_address, "0.0.0.0:7411");
  }
}

TEST(ServeConfig, ReadsDeadlinesAndAlerts) {
  const auto config = ParseServeConfig(
      "deadlines: ['nightly-*=07:30', a=2h]\n"
      "alerts: {webhooks: ['slack=@hook', 'json=https://x/y'], jobs: [a, b*], late_percent: 50}\n",
      "/etc/tidemark/tm.yaml", {});
  ASSERT_TRUE(config.ok()) << config.status();
  ASSERT_EQ(config->master.deadlines.size(), 2U);
  EXPECT_EQ(config->master.deadlines[0].jobs, "nightly-*");
  ASSERT_EQ(config->alerts.hooks.size(), 2U);
  EXPECT_EQ(config->alerts.hooks[0].url, "@/etc/tidemark/hook")
      << "relative to the folder of the file";
  EXPECT_EQ(config->alerts.hooks[1].url, "https://x/y");
  EXPECT_EQ(config->alerts.jobs, (std::vector<std::string>{"a", "b*"}));
  EXPECT_EQ(config->alerts.late_percent, 50U);
}

TEST(ServeConfig, HasDistinctKeys) {
  std::set<std::string> keys;
  for (const Setting& setting : AllSettings()) EXPECT_TRUE(keys.insert(setting.key).second);
}

}  // namespace
}  // namespace tidemark::serve::serve_config_test
