// Tests the path of alerts from snapshots to an HTTP server, with failures in between.
#include "serve/alerts/alerts.h"

#include <nlohmann/json.hpp>

#include "absl/time/clock.h"
#include "tests/console/some_jobs.h"
#include "tests/scratch_directory.h"
#include "tests/serve/hook_server.h"
#include "tests/serve/raw_server.h"
#include "tests/test.h"

namespace tidemark::serve::alerts_test {
namespace {

using nlohmann::json;
using test::HookServer;
using test::ScratchDirectory;
using ::testing::AllOf;

Alert SomeAlert(const std::string& id) {
  return {.kind = AlertKind::kFailed, .id = id, .job = console::SomeSnapshot()};
}

AlertSenderOptions SenderTo(const HookServer& server) {
  return {.name = "hook",
          .webhook = {.url = server.url(), .allow_local = true},
          .retry_first = absl::Milliseconds(1),
          .retry_max = absl::Milliseconds(4),
          .message = [](const Alert& alert) { return alert.id; }};
}

std::vector<std::string> BodiesOf(const HookServer& server) {
  std::vector<std::string> bodies;
  for (const auto& request : server.requests()) bodies.push_back(request.body);
  return bodies;
}

TEST(AlertSender, RetriesUntilTheReceiverAcceptsTheMessage) {
  HookServer server({{.status = 503}, {.status = 0}, {.status = 429}, {.status = 200}});
  AlertSender sender(SenderTo(server));
  sender.Send(SomeAlert("a"));
  ASSERT_TRUE(sender.WaitUntilIdle(absl::Seconds(60)));
  EXPECT_THAT(BodiesOf(server), ElementsAre("a", "a", "a", "a"));
  std::set<std::string> ids;
  for (auto& request : server.requests()) ids.insert(request.headers["Tidemark-Alert"]);
  EXPECT_THAT(ids, SizeIs(1)) << "receivers discard duplicates by the id";
  EXPECT_EQ(sender.counts().taken, 1U);
  EXPECT_EQ(sender.counts().retried, 3U);
}

TEST(AlertSender, ReportsADroppedMessageWithoutTheUrl) {
  HookServer server(std::deque<HookServer::Plan>(9, {.status = 500}));
  AlertSenderOptions options = SenderTo(server);
  options.attempts_max = 3;
  std::mutex mutex;
  std::string lines;
  options.on_trouble = [&](const std::string& line) {
    const std::lock_guard lock(mutex);
    lines += line;
  };
  AlertSender sender(options);
  sender.Send(SomeAlert("a"));
  ASSERT_TRUE(sender.WaitUntilIdle(absl::Seconds(60)));
  EXPECT_THAT(server.requests(), SizeIs(3));
  EXPECT_EQ(sender.counts().failed, 1U);
  const std::lock_guard lock(mutex);
  EXPECT_EQ(lines, "hook: dropped alert `failed` of job job-1: HTTP status 500");
}

TEST(AlertSender, DoesNotRetryARejectedMessage) {
  HookServer server(HookServer::Plans{{.status = 400}});
  AlertSender sender(SenderTo(server));
  sender.Send(SomeAlert("a"));
  sender.Send(SomeAlert("b"));
  ASSERT_TRUE(sender.WaitUntilIdle(absl::Seconds(60)));
  EXPECT_THAT(BodiesOf(server), ElementsAre("a", "b"));
}

TEST(AlertSender, KeepsTheNewestMessagesOfAFullQueue) {
  HookServer server(HookServer::Plans{{.is_held = true}});
  AlertSenderOptions options = SenderTo(server);
  options.waiting_max = 2;
  AlertSender sender(options);
  sender.Send(SomeAlert("first"));
  ASSERT_TRUE(server.WaitFor(1));
  for (const char* id : {"a", "b", "c", "d"}) sender.Send(SomeAlert(id));
  server.Release();
  ASSERT_TRUE(sender.WaitUntilIdle(absl::Seconds(60)));
  EXPECT_THAT(BodiesOf(server), ElementsAre("first", "c", "d"));
  EXPECT_EQ(sender.counts().dropped, 2U);
}

TEST(AlertSender, EndsAtOnceDuringARetryPause) {
  HookServer server(HookServer::Plans{{.status = 503, .retry_after = "300"}});
  AlertSenderOptions options = SenderTo(server);
  std::vector<std::string> lines;
  options.on_trouble = [&](const std::string& line) { lines.push_back(line); };
  {
    AlertSender sender(options);
    sender.Send(SomeAlert("a"));
    ASSERT_TRUE(server.WaitFor(1));
  }
  EXPECT_THAT(lines, ElementsAre("hook: dropped alert `failed` of job job-1: HTTP status 503, and "
                                 "the master is shutting down"));
}

TEST(AlertSender, ReportsDroppedMessagesWhenItEnds) {
  test::RawServer server;
  std::vector<std::string> lines;
  {
    AlertSender sender(
        {.name = "hook",
         .webhook = {.url = server.url(), .timeout = absl::Minutes(5), .allow_local = true},
         .message = [](const Alert& alert) { return alert.id; },
         .ending_max = absl::ZeroDuration(),
         .on_trouble = [&](const std::string& line) { lines.push_back(line); }});
    sender.Send(SomeAlert("on its way"));
    server.WaitForConnection();
    sender.Send(SomeAlert("behind it"));
  }
  EXPECT_THAT(lines, ElementsAre("hook: dropped alert `failed` of job job-1: no answer yet, and "
                                 "the master is shutting down",
                                 "hook: dropped alert `failed` of job job-1: the master is "
                                 "shutting down"));
}

TEST(AlertSender, CountsAMessageCutByItsEndAsDropped) {
  test::RawServer server;
  std::vector<std::string> lines;
  AlertSender sender(
      {.name = "hook",
       .webhook = {.url = server.url(), .timeout = absl::Minutes(5), .allow_local = true},
       .attempts_max = 1,
       .message = [](const Alert& alert) { return alert.id; },
       .ending_max = absl::ZeroDuration(),
       .on_trouble = [&](const std::string& line) { lines.push_back(line); }});
  sender.Send(SomeAlert("on its way"));
  server.WaitForConnection();
  sender.End();
  ASSERT_TRUE(sender.WaitUntilIdle(absl::Seconds(60)));
  EXPECT_EQ(sender.counts().dropped, 1U);
  EXPECT_EQ(sender.counts().failed, 0U);
  EXPECT_THAT(lines, ElementsAre("hook: dropped alert `failed` of job job-1: no answer yet, and "
                                 "the master is shutting down"));
}

TEST(AlertSender, ReportsAnUnusableUrlOnce) {
  std::mutex mutex;
  std::vector<std::string> lines;
  AlertSender sender({.name = "hook",
                      .webhook = {.url = "http://127.0.0.1:1/"},
                      .message = [](const Alert& alert) { return alert.id; },
                      .on_trouble =
                          [&](const std::string& line) {
                            const std::lock_guard lock(mutex);
                            lines.push_back(line);
                          }});
  for (const char* id : {"a", "b", "c"}) sender.Send(SomeAlert(id));
  ASSERT_TRUE(sender.WaitUntilIdle(absl::Seconds(60)));
  EXPECT_EQ(sender.counts().failed, 3U);
  EXPECT_EQ(sender.counts().retried, 0U);
  const std::lock_guard lock(mutex);
  EXPECT_THAT(lines,
              ElementsAre("hook: cannot send messages: its address belongs to this host, a local "
                          "link or a metadata service; set alerts.allow_local to allow it"));
}

// The jobs of a master.
class Jobs {
 public:
  void Set(Snapshot job) {
    const std::lock_guard lock(mutex_);
    jobs_[job.job_id] = std::move(job);
  }
  std::vector<Snapshot> List() const {
    const std::lock_guard lock(mutex_);
    ++lists_;
    std::vector<Snapshot> list;
    for (const auto& [id, job] : jobs_) list.push_back(job);
    return list;
  }
  // Returns after the jobs that were set before have been processed.
  void WaitForUpdate() const {
    const int before = lists();
    while (lists() < before + 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  int lists() const {
    const std::lock_guard lock(mutex_);
    return lists_;
  }
  mutable std::mutex mutex_;
  std::map<std::string, Snapshot> jobs_;
  mutable int lists_ = 0;
};

Snapshot Ended(const std::string& id) {
  Snapshot job = console::SomeSnapshot();
  job.job_id = id;
  job.is_final = true;
  job.state = JobState::kFailed;
  return job;
}

absl::StatusOr<std::unique_ptr<Alerts>> StartAlerts(const Jobs& jobs, AlertSettings settings,
                                                    const std::string& data_dir = "") {
  settings.allow_local = true;
  auto alerts = Alerts::Create({.settings = std::move(settings),
                                .jobs = [&jobs] { return jobs.List(); },
                                .interval = absl::Milliseconds(1),
                                .data_dir = data_dir,
                                .zone = absl::UTCTimeZone()});
  if (alerts.ok()) (*alerts)->Begin();
  return alerts;
}

TEST(Alerts, UseTheFormatOfEachReceiver) {
  const ScratchDirectory folder;
  HookServer generic, slack, pagerduty;
  Jobs jobs;
  const auto alerts =
      StartAlerts(jobs, {.hooks = {{"json", generic.url()},
                                   {"slack", "@" + folder.Write("slack", slack.url() + "\n")},
                                   {"pagerduty", pagerduty.url()}},
                         .secret_file = folder.Write("secret", "s3cret\n"),
                         .routing_key_file = folder.Write("key", "r0uting\n")});
  ASSERT_TRUE(alerts.ok()) << alerts.status();
  jobs.WaitForUpdate();
  jobs.Set(Ended("etl-7"));
  ASSERT_TRUE(generic.WaitFor(1) && slack.WaitFor(1) && pagerduty.WaitFor(1));
  auto request = generic.requests()[0];
  EXPECT_EQ(json::parse(request.body)["job_id"], "etl-7");
  EXPECT_THAT(request.headers["Tidemark-Signature"], HasSubstr(",v1="));
  EXPECT_THAT(json::parse(slack.requests()[0].body)["text"].get<std::string>(),
              HasSubstr("two-path: failed"));
  EXPECT_EQ(json::parse(pagerduty.requests()[0].body)["routing_key"], "r0uting");
}

TEST(Alerts, ReportEachCauseOnceDespiteARestart) {
  const ScratchDirectory folder;
  HookServer server(HookServer::Plans{{.status = 0}});  // The response is lost.
  Jobs jobs;
  Snapshot late = console::SomeSnapshot();
  late.late_probability = 0.9;
  const auto be_late = [&] {
    late.sequence += 1;
    // The probability alternates around 80 %.
    late.late_probability = 1.2 - *late.late_probability;
    jobs.Set(late);
    jobs.WaitForUpdate();
    late.sequence += 1;
    jobs.Set(late);
    jobs.WaitForUpdate();
  };
  for (int run = 0; run < 3; ++run) {
    const auto alerts = StartAlerts(jobs, {.hooks = {{"json", server.url()}}}, folder.path());
    ASSERT_TRUE(alerts.ok());
    for (int i = 0; i < 4; ++i) be_late();
    ASSERT_TRUE((*alerts)->WaitUntilIdle(absl::Seconds(60)));
  }
  std::set<std::string> ids;
  for (const std::string& body : BodiesOf(server)) {
    ids.insert(json::parse(body)["id"].get<std::string>());
  }
  EXPECT_THAT(ids, SizeIs(1));
  EXPECT_THAT(server.requests(), SizeIs(2)) << "the first one was repeated";
}

TEST(Alerts, SendNothingBeforeBegin) {
  HookServer server;
  Jobs jobs;
  const auto alerts =
      Alerts::Create({.settings = {.hooks = {{"json", server.url()}}, .allow_local = true},
                      .jobs = [&jobs] { return jobs.List(); }});
  ASSERT_TRUE(alerts.ok()) << alerts.status();
  EXPECT_EQ((*alerts)->counts().at("json").taken, 0U);
}

TEST(Alerts, AHangingReceiverDelaysNoOther) {
  HookServer hangs(HookServer::Plans{{.is_held = true}});
  HookServer works;
  Jobs jobs;
  const auto alerts = StartAlerts(jobs, {.hooks = {{"json", hangs.url()}, {"json", works.url()}}});
  ASSERT_TRUE(alerts.ok());
  jobs.WaitForUpdate();
  for (const char* id : {"a", "b", "c"}) jobs.Set(Ended(id));
  ASSERT_TRUE(works.WaitFor(3));
  EXPECT_LE(hangs.requests().size(), 1U);
  hangs.Release();
}

TEST(Alerts, SendLineageEventsWithRetriesAndOnce) {
  const ScratchDirectory folder;
  HookServer server(HookServer::Plans{{.status = 503}});
  AlertsOptions options;
  options.settings.allow_local = true;
  options.lineage = {.url = server.url("/api/v1/lineage"),
                     .token_file = folder.Write("token", "s3cret\n")};
  options.interval = absl::Milliseconds(5);
  options.data_dir = folder.path();
  Snapshot job = console::SomeSnapshot();
  options.jobs = [&] { return std::vector<Snapshot>{job}; };
  {
    auto alerts = Alerts::Create(options);
    ASSERT_TRUE(alerts.ok()) << alerts.status();
    (*alerts)->Begin();
    ASSERT_TRUE(server.WaitFor(2));
    ASSERT_TRUE((*alerts)->WaitUntilIdle(absl::Seconds(60)));
  }
  {
    auto again = Alerts::Create(options);
    ASSERT_TRUE(again.ok());
    (*again)->Begin();
    absl::SleepFor(absl::Milliseconds(50));
  }
  const auto requests = server.requests();
  ASSERT_THAT(requests, SizeIs(2)) << "one START, tried twice";
  EXPECT_EQ(requests[0].headers.at("Authorization"), "Bearer s3cret");
  EXPECT_EQ(json::parse(requests[1].body)["eventType"], "START");
}

std::vector<std::string> FaultsOf(const AlertSettings& settings,
                                  const LineageSettings& lineage = {}) {
  std::vector<std::string> messages;
  for (const AlertsFault& fault : CheckAlerts(settings, lineage)) {
    messages.push_back(fault.message);
  }
  return messages;
}

TEST(Alerts, RequireReadableFilesAndARoutingKeyForPagerDuty) {
  const ScratchDirectory folder;
  EXPECT_THAT(FaultsOf({}), IsEmpty());
  EXPECT_THAT(
      FaultsOf({.hooks = {{"json", "https://x"}, {"slack", "https://x"}, {"json", "https://x"}}}),
      ElementsAre("alerts.webhooks, 3 (json): duplicates webhook 1; remove one of them"));
  EXPECT_THAT(FaultsOf({.hooks = {{"json", "http://\u2460\u2461.example"}}}),
              ElementsAre(HasSubstr("its address must be ASCII")));
  EXPECT_THAT(FaultsOf({.hooks = {{"pagerduty", "https://x"}}}),
              ElementsAre(HasSubstr("set alerts.routing_key")));
  EXPECT_THAT(FaultsOf({.secret_file = "/none"}),
              ElementsAre("alerts.secret: cannot read /none: No such file or directory"));
  EXPECT_THAT(FaultsOf({.secret_file = folder.Write("empty", " \n")}),
              ElementsAre(HasSubstr("is empty")));
  const std::string lines = folder.Write("lines", "t0ken\r\nHost: other\n");
  EXPECT_THAT(FaultsOf({.hooks = {{"json", "@" + lines}}}, {.token_file = lines}),
              ElementsAre("alerts.webhooks: " + lines + " must contain exactly one line",
                          "lineage.token: " + lines + " must contain exactly one line"));
}

TEST(Alerts, AcceptASecretWithAByteOrderMark) {
  const ScratchDirectory folder;
  const std::string url = folder.Write("url", "\xEF\xBB\xBFhttps://hooks.example/x\r\n");
  EXPECT_THAT(FaultsOf({.hooks = {{"slack", "@" + url}}}), IsEmpty());
  // UTF-16 contains control characters.
  const std::string wide = folder.Write("wide", std::string("\xFF\xFEk\0e\0y\0", 8));
  EXPECT_THAT(FaultsOf({.secret_file = wide}),
              ElementsAre("alerts.secret: " + wide + " must contain exactly one line"));
}

TEST(Alerts, RejectSecretsThatEveryUserMayRead) {
  using std::filesystem::perms;
  const ScratchDirectory folder;
  const std::string file = folder.Write("s", "https://hooks.example/s3cret\n");
  std::filesystem::permissions(file, perms::group_read, std::filesystem::perm_options::add);
  EXPECT_THAT(FaultsOf({.secret_file = file}), IsEmpty());
  std::filesystem::permissions(file, perms::others_read, std::filesystem::perm_options::add);
  const std::string fault =
      ": " + file + ": every user of this host can read it; run chmod o= " + file;
  EXPECT_THAT(
      FaultsOf({.hooks = {{"slack", "@" + file}}, .secret_file = file, .routing_key_file = file},
               {.token_file = file}),
      ElementsAre("alerts.webhooks" + fault, "alerts.secret" + fault, "alerts.routing_key" + fault,
                  "lineage.token" + fault));
}

TEST(Alerts, ReportTheFaultOfEachUrlWithoutTheUrl) {
  const ScratchDirectory folder;
  const std::string file = folder.Write("url", "hooks.slack.com/s3cret");
  EXPECT_THAT(FaultsOf({.hooks = {{"json", "http://169.254.169.254/x"},
                                  {"slack", "https://ops.example:99999/s3cret"},
                                  {"slack", "@" + file}}},
                       {.url = "http://localhost/lineage"}),
              ElementsAre("alerts.webhooks, 1 (json): its address belongs to this host, a local "
                          "link or a metadata service; set alerts.allow_local to allow it",
                          AllOf(HasSubstr("alerts.webhooks, 2 (slack): its address is not valid ("),
                                Not(HasSubstr("s3cret"))),
                          "alerts.webhooks, 3 (slack), from " + file +
                              ": its address must begin with https:// or http://",
                          HasSubstr("lineage.url: its address belongs to this host")));
}

TEST(AlertHook, IsFormattedWithoutSecrets) {
  const auto shown = [](const char* text) {
    const auto hook = ParseAlertHook(text);
    return hook.ok() ? ToString(*hook) : "rejected";
  };
  EXPECT_EQ(shown("slack=https://hooks.slack.com/services/T0/B0/x"),
            "slack=https://hooks.slack.com/...");
  EXPECT_EQ(shown("json=https://user:pass@ops.example/x?token=1"), "json=https://ops.example/...");
  EXPECT_EQ(shown("json=https://ops.example?token=1"), "json=https://ops.example/...");
  EXPECT_EQ(shown("json=https://ops.example#1@2"), "json=https://ops.example/...");
  EXPECT_EQ(shown("json=@hook.address"), "json=@hook.address");
  for (const char* bad : {"", "slack", "teams=https://x", "json=ftp://x", "json=", "json=https://",
                          "json=@", "=https://x"}) {
    EXPECT_EQ(shown(bad), "rejected") << bad;
  }
}

TEST(SentAlerts, SkipAnIncompleteLine) {
  const ScratchDirectory folder;
  const std::string path = folder.Write("told", "0123456789abcdef\n01234");
  {
    SentAlerts sent(path);
    EXPECT_THAT(sent.ids(), ElementsAre("0123456789abcdef"));
    sent.Add("fedcba9876543210");
    EXPECT_TRUE(sent.trouble().ok());
  }
  EXPECT_THAT(SentAlerts(path).ids(), ElementsAre("0123456789abcdef", "fedcba9876543210"));
}

TEST(SentAlerts, DropTheOldest) {
  const ScratchDirectory folder;
  std::string text;
  char line[32];
  for (std::size_t i = 0; i <= 2 * SentAlerts::kKept; ++i) {
    std::snprintf(line, sizeof line, "%016zx\n", i);
    text += line;
  }
  const std::string path = folder.Write("told", text);
  EXPECT_THAT(SentAlerts(path).ids(), SizeIs(SentAlerts::kKept));
  EXPECT_LT(std::filesystem::file_size(path), text.size());
}

TEST(SentAlerts, AreNotStoredWithoutAFile) {
  SentAlerts nowhere("");
  nowhere.Add("0123456789abcdef");
  EXPECT_TRUE(nowhere.trouble().ok());
  EXPECT_FALSE(SentAlerts("/none/told").trouble().ok());
  EXPECT_THAT(nowhere.ids(), IsEmpty());
}

}  // namespace
}  // namespace tidemark::serve::alerts_test
