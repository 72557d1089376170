#include "serve/alerts/alert_messages.h"

#include <nlohmann/json.hpp>

#include "tests/console/some_jobs.h"
#include "tests/serve/documented_json.h"
#include "tests/test.h"

namespace tidemark::serve::alert_messages_test {
namespace {

using nlohmann::json;
using ::testing::EndsWith;
using ::testing::StartsWith;

const AlertWording kUtc = {.zone = absl::UTCTimeZone()};

Alert Late() {
  Alert alert = {.kind = AlertKind::kLate,
                 .id = "0123456789abcdef",
                 .run_id = "fedcba9876543210",
                 .job = console::SomeSnapshot()};
  alert.job.deadline = alert.job.at + absl::Minutes(3);
  alert.job.late_probability = 0.83;
  return alert;
}

Alert Failed() {
  Alert alert = Late();
  alert.kind = AlertKind::kFailed;
  alert.job.is_final = true;
  alert.job.state = JobState::kFailed;
  alert.job.message = "task 3 <failed> four times";
  alert.job.late_probability.reset();
  return alert;
}

TEST(AlertMessages, DescribeTheEventInOneLine) {
  EXPECT_EQ(
      AlertText(Late(), kUtc),
      "two-path: due 22:17:32, 83 % likely late; ≈ 3 min 20 s left (2 min 50 s – 4 min 10 s)");
  EXPECT_EQ(AlertText(Failed(), kUtc),
            "two-path: failed after 1 min 12 s, due 22:17:32: task 3 <failed> four times");
  Alert missed = Late();
  missed.job.is_final = true;
  missed.job.state = JobState::kSucceeded;
  missed.job.ended_at = missed.job.at;
  missed.job.deadline = missed.job.at - absl::Seconds(20);
  missed.job.late_probability = 1;
  EXPECT_EQ(AlertText(missed, kUtc),
            "two-path: succeeded after 1 min 12 s, 20 s late (due 22:14:12)");
  EXPECT_EQ(json::parse(PagerDutyMessage(missed, "key", kUtc))["event_action"], "trigger");
  Alert straggler = Late();
  straggler.kind = AlertKind::kStraggler;
  EXPECT_THAT(AlertText(straggler, kUtc), StartsWith("two-path: Reduce task 2 will end last"));
  Alert silent = Late();
  silent.kind = AlertKind::kSilent;
  silent.job.silent_since = silent.job.at - absl::Minutes(6);
  EXPECT_EQ(AlertText(silent, kUtc),
            "two-path: no reports for 6 min; due 22:17:32, 83 % likely late");
}

TEST(AlertMessages, NameTheBasisUnlessItIsThisRun) {
  Alert late = Late();
  late.job.estimate.basis = Basis::kEarlierRuns;
  EXPECT_THAT(AlertText(late, kUtc), EndsWith("4 min 10 s), based on past runs"));
  late.job.estimate.basis = Basis::kGuess;
  EXPECT_THAT(AlertText(late, kUtc), EndsWith("left (2 min 50 s – 4 min 10 s, a guess)"));
  EXPECT_EQ(json::parse(SlackMessage(late, kUtc))["text"], AlertText(late, kUtc));
  EXPECT_EQ(json::parse(PagerDutyMessage(late, "key", kUtc))["payload"]["summary"],
            AlertText(late, kUtc));
}

TEST(AlertMessages, NameTheJobsThatAWorkflowWaitsFor) {
  Alert late = Late();
  late.waits_for = {"load"};
  EXPECT_THAT(AlertText(late, kUtc), EndsWith("4 min 10 s); waiting for load"));
  Alert silent = Late();
  silent.kind = AlertKind::kSilent;
  silent.job.silent_since = silent.job.at - absl::Minutes(6);
  silent.waits_for = {"load", "join"};
  EXPECT_EQ(
      AlertText(silent, kUtc),
      "two-path: no reports for 6 min; waiting for load and join; due 22:17:32, 83 % likely late");
  silent.waits_for = {"a", "b", "c", "d", "e"};
  EXPECT_THAT(AlertText(silent, kUtc), HasSubstr("; waiting for a, b, c and 2 more; due"));
  EXPECT_EQ(json::parse(GenericMessage(silent, kUtc))["waits_for"], json(silent.waits_for));
  const json incident = json::parse(PagerDutyMessage(late, "key", kUtc));
  EXPECT_EQ(incident["payload"]["custom_details"]["waits_for"], json(late.waits_for));
  EXPECT_FALSE(json::parse(GenericMessage(Late(), kUtc)).contains("waits_for"));
}

AlertWording WordingWith(AlertKind kind, const std::string& text) {
  AlertWording wording = kUtc;
  wording.texts.emplace(kind, *AlertTemplate::Parse(text));
  return wording;
}

TEST(AlertMessages, UseTheConfiguredText) {
  const AlertWording late = WordingWith(
      AlertKind::kLate,
      "{job} ({id}) of {user} in {queue}: {probability} late for {deadline}, ends {end}, {state}");
  Alert alert = Late();
  alert.job.info->user = "ada";
  alert.job.info->queue = "";
  EXPECT_EQ(AlertText(alert, late),
            "two-path (job-1) of ada in unknown: 83 % late for 22:17:32, ends 22:17:52, running");
  EXPECT_EQ(AlertText(Failed(), late), AlertText(Failed(), kUtc)) << "another kind";
  EXPECT_EQ(json::parse(SlackMessage(alert, late))["text"], AlertText(alert, late));
}

TEST(AlertMessages, LinkToThePageIfItsUrlIsKnown) {
  AlertWording wording = kUtc;
  wording.page_url = "https://tidemark.example/p";
  Alert alert = Late();
  alert.job.job_id = "a|b/<c>";
  const std::string link = "https://tidemark.example/p/#/jobs/a%7Cb%2F%3Cc%3E";
  EXPECT_EQ(json::parse(GenericMessage(alert, wording))["page_url"], link);
  EXPECT_THAT(std::string(json::parse(SlackMessage(alert, wording))["text"]),
              EndsWith(" <" + link + "|job page>"));
  EXPECT_EQ(json::parse(PagerDutyMessage(alert, "key", wording))["links"][0]["href"], link);
  wording.texts.emplace(AlertKind::kLate, *AlertTemplate::Parse("see {page}"));
  EXPECT_EQ(AlertText(alert, wording), "see " + link);

  wording.page_url = "";
  EXPECT_EQ(AlertText(alert, wording), "see unknown");
  EXPECT_FALSE(json::parse(GenericMessage(alert, kUtc)).contains("page_url"));
  EXPECT_FALSE(json::parse(PagerDutyMessage(alert, "key", kUtc)).contains("links"));
  EXPECT_THAT(std::string(json::parse(SlackMessage(alert, kUtc))["text"]), Not(HasSubstr("|page")));
}

TEST(AlertMessages, ContainTheBasis) {
  const AlertWording wording = WordingWith(AlertKind::kLate, "{left}, by {basis}");
  EXPECT_THAT(AlertText(Late(), wording), EndsWith("4 min 10 s), by this run"));
  Alert before = Late();
  before.job.estimate.basis = Basis::kEarlierRuns;
  EXPECT_THAT(AlertText(before, wording), EndsWith("4 min 10 s), by past runs"));
}

TEST(AlertMessages, ContainTheEndWhereTheConsoleShowsIt) {
  const auto end = [](const Range& left) {
    Alert alert = Late();
    alert.job.estimate.remaining = left;
    return AlertText(alert, WordingWith(AlertKind::kLate, "{end}"));
  };
  EXPECT_EQ(end({absl::Minutes(50), absl::Minutes(48), absl::Minutes(54)}), "23:04");
  EXPECT_EQ(end({absl::Minutes(50), absl::Minutes(2), absl::Hours(17)}), "unknown");
  Alert ended = Failed();
  ended.job.ended_at = ended.job.at;
  EXPECT_EQ(AlertText(ended, WordingWith(AlertKind::kFailed, "{end}")), "22:14:32");
}

TEST(AlertMessages, ContainTheCauseOfTheBuiltInText) {
  for (const Alert& alert : {Late(), Failed()}) {
    EXPECT_EQ(AlertText(alert, WordingWith(alert.kind, "{job}: {cause}")), AlertText(alert, kUtc));
  }
}

TEST(AlertMessages, ShowUnknownFieldsAsUnknown) {
  std::string all;
  for (const std::string_view name : kAlertFieldNames) all += "{" + std::string(name) + "}|";
  const Alert nothing = {.kind = AlertKind::kEnded, .job = {.job_id = "a"}};
  const std::string text = AlertText(nothing, WordingWith(AlertKind::kEnded, all));
  EXPECT_THAT(text, HasSubstr("unknown|"));
  EXPECT_THAT(text, Not(HasSubstr("||"))) << text;
  EXPECT_THAT(text, Not(HasSubstr("|-|"))) << text;
  EXPECT_THAT(text, Not(HasSubstr("inf")));
}

TEST(AlertMessages, DoNotReplaceFieldsInNames) {
  Alert alert = Failed();
  alert.job.info->name = "{message}";
  alert.job.message = std::string(100'000, 'x');
  const AlertWording wording = WordingWith(AlertKind::kFailed, "{job} {{job}} {message}{message}");
  EXPECT_THAT(AlertText(alert, wording), StartsWith("{message} {job} xxx"));
  EXPECT_LT(AlertText(alert, wording).size(), 1010U);
}

TEST(AlertMessages, GenericContainsTheFacts) {
  const json message = json::parse(GenericMessage(Late(), kUtc));
  EXPECT_EQ(message["id"], "0123456789abcdef");
  EXPECT_EQ(message["kind"], "late");
  EXPECT_EQ(message["job_id"], "job-1");
  EXPECT_EQ(message["state"], "running");
  EXPECT_EQ(message["fraction_done"], 0.41);
  EXPECT_EQ(message["basis"], "this_run");
  EXPECT_EQ(message["remaining_seconds"], 198);
  EXPECT_EQ(message["remaining_upper_seconds"], 249);
  EXPECT_EQ(message["deadline_at"], "2023-11-14T22:17:32.000Z");
  EXPECT_EQ(message["late_probability"], 0.83);
}

TEST(AlertMessages, ContainTheEndAndDurationOfTheResult) {
  Alert ended = Failed();
  ended.job.ended_at = ended.job.at - absl::Milliseconds(200);
  ended.job.started_at = *ended.job.ended_at - absl::Milliseconds(9740);
  EXPECT_THAT(AlertText(ended, kUtc), StartsWith("two-path: failed after 9.7 s,"));
  EXPECT_EQ(json::parse(GenericMessage(ended, kUtc))["ended_at"], "2023-11-14T22:14:31.800Z");
  EXPECT_FALSE(json::parse(GenericMessage(Late(), kUtc)).contains("ended_at"));
}

TEST(AlertMessages, GenericContainsTheBoundsOfAFraction) {
  Alert late = Late();
  late.job.estimate.fraction_done_lower = 0.04;
  late.job.estimate.fraction_done_upper = 0.99;
  late.job.estimate.basis = Basis::kGuess;
  json message = json::parse(GenericMessage(late, kUtc));
  EXPECT_EQ(message["fraction_done_lower"], 0.04);
  EXPECT_EQ(message["fraction_done_upper"], 0.99);
  EXPECT_EQ(message["basis"], "guess");
  late.job.estimate.basis = Basis::kThisRun;
  EXPECT_EQ(json::parse(GenericMessage(late, kUtc))["basis"], "this_run");
  late.job.estimate.remaining->upper = absl::Hours(9);
  EXPECT_EQ(json::parse(GenericMessage(late, kUtc))["basis"], "guess") << "as the text says";
  late.job.estimate.remaining->upper.reset();
  message = json::parse(GenericMessage(late, kUtc));
  EXPECT_FALSE(message.contains("fraction_done_lower")) << "without an interval it has no bounds";
  EXPECT_FALSE(message.contains("fraction_done_upper"));
}

TEST(AlertMessages, GenericContainsTheBoundsOfAFailedJob) {
  Alert failed = Failed();
  failed.job.estimate.state = EstimateState::kFinal;
  failed.job.estimate.remaining.reset();
  failed.job.estimate.fraction_done_lower = 0.2;
  failed.job.estimate.fraction_done_upper = 0.99;
  const json message = json::parse(GenericMessage(failed, kUtc));
  EXPECT_EQ(message["fraction_done_lower"], 0.2);
  EXPECT_EQ(message["fraction_done_upper"], 0.99);
}

TEST(AlertMessages, GenericMatchesItsDocumentation) {
  const json documented = test::DocumentedJson("## Messages");
  ASSERT_TRUE(documented.is_object());
  const json message = json::parse(GenericMessage(Late(), kUtc));
  ASSERT_EQ(documented.size(), message.size()) << documented << message;
  for (const auto& [name, value] : documented.items()) {
    EXPECT_STREQ(message[name].is_number() ? "number" : message[name].type_name(),
                 value.is_number() ? "number" : value.type_name())
        << name;
  }
}

TEST(AlertMessages, OmitUnknownValues) {
  const json message = json::parse(GenericMessage({.job = {.job_id = "a"}}, kUtc));
  EXPECT_FALSE(message.contains("name"));
  for (const char* name : {"fraction_done_lower", "fraction_done_upper", "basis",
                           "remaining_seconds", "deadline_at", "late_probability", "message"}) {
    EXPECT_FALSE(message.contains(name)) << name;
  }
}

TEST(AlertMessages, SlackMentionsNoUser) {
  Alert alert = Failed();
  alert.job.info->name = "<!everyone> & <https://evil|this>";
  const std::string text = json::parse(SlackMessage(alert, kUtc))["text"];
  EXPECT_THAT(text, StartsWith("&lt;!everyone&gt; &amp; &lt;https://evil|this&gt;: failed"));
  EXPECT_THAT(text, Not(HasSubstr("<")));
}

TEST(AlertMessages, PagerDutyHasOneIncidentPerRun) {
  const json late = json::parse(PagerDutyMessage(Late(), "key", kUtc));
  const json failed = json::parse(PagerDutyMessage(Failed(), "key", kUtc));
  EXPECT_EQ(late["routing_key"], "key");
  EXPECT_EQ(late["event_action"], "trigger");
  EXPECT_EQ(late["payload"]["severity"], "warning");
  EXPECT_EQ(failed["payload"]["severity"], "critical");
  EXPECT_EQ(late["dedup_key"], failed["dedup_key"]);
  for (const char* required : {"summary", "source", "severity"}) {
    EXPECT_FALSE(late["payload"][required].get<std::string>().empty()) << required;
  }
}

TEST(AlertMessages, PagerDutyContainsTheEstimate) {
  const json details =
      json::parse(PagerDutyMessage(Late(), "key", kUtc))["payload"]["custom_details"];
  EXPECT_EQ(details["fraction_done"], 0.41);
  EXPECT_EQ(details["fraction_done_lower"], 0.35);
  EXPECT_EQ(details["basis"], "this_run");
  EXPECT_EQ(details["remaining_upper_seconds"], 249);
  EXPECT_EQ(details["late_probability"], 0.83);
}

TEST(AlertMessages, PagerDutyResolvesTheIncidentOfASucceededJob) {
  Alert ended = Late();
  ended.kind = AlertKind::kEnded;
  ended.job.is_final = true;
  ended.job.state = JobState::kSucceeded;
  const json message = json::parse(PagerDutyMessage(ended, "key", kUtc));
  EXPECT_EQ(message["event_action"], "resolve");
  EXPECT_EQ(message["dedup_key"], "tidemark-fedcba9876543210");
}

TEST(AlertMessages, AcceptAnyTextAndStayShort) {
  Alert alert = Failed();
  alert.job.job_id = std::string("a\x1b[2J\xff\"", 7);
  alert.job.info->name.clear();
  alert.job.message = std::string(100'000, 'x') + "\xe2\x80\xae";
  for (const std::string& message : {GenericMessage(alert, kUtc), SlackMessage(alert, kUtc),
                                     PagerDutyMessage(alert, "k", kUtc)}) {
    EXPECT_LT(message.size(), 5000U);
    EXPECT_TRUE(json::accept(message)) << message;
    EXPECT_THAT(message, Not(HasSubstr("\x1b")));
  }
}

}  // namespace
}  // namespace tidemark::serve::alert_messages_test
