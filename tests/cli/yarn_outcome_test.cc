// Tests that `tidemark run hadoop` shows the outcome of a job whose last reports were lost.
#include "cli/hadoop/yarn_outcome.h"

#include <fmt/format.h>

#include "tests/test.h"

namespace tidemark::cli::yarn_outcome_test {
namespace {

TEST(YarnApplicationOf, ReturnsTheApplicationOfAJobOnYarn) {
  EXPECT_EQ(YarnApplicationOf("job_1700000000000_0001"), "application_1700000000000_0001");
  EXPECT_EQ(YarnApplicationOf("application_1700000000000_0001"), "application_1700000000000_0001");
  for (const char* other : {"job_local12_0001", "local-1700000000000", "app-20260101000000-0000",
                            "job_", "application_", "word-count", ""}) {
    EXPECT_EQ(YarnApplicationOf(other), std::nullopt) << other;
  }
}

TEST(ResourceManagerIn, ReturnsTheAddressBeforeTheProxy) {
  EXPECT_EQ(ResourceManagerIn("26/01/01 INFO mapreduce.Job: The url to track the job: "
                              "http://rm:8088/proxy/application_1_0001/"),
            "http://rm:8088");
  EXPECT_EQ(ResourceManagerIn("\t tracking URL: https://[::1]:8090/proxy/application_1_0001/"),
            "https://[::1]:8090");
  for (const char* none :
       {"The url to track the job: http://localhost:8080/", "/proxy/application_1_0001",
        "ftp://rm/proxy/application_1_0001", "http://a b/proxy/application_1_0001", ""}) {
    EXPECT_EQ(ResourceManagerIn(none), std::nullopt) << none;
  }
}

std::string YarnSite(const std::map<std::string, std::string>& values) {
  std::string xml = "<configuration>";
  for (const auto& [name, value] : values) {
    xml += fmt::format("<property><name>{}</name><value>{}</value></property>", name, value);
  }
  return xml + "</configuration>";
}

TEST(ResourceManagersOf, ReadsYarnSite) {
  EXPECT_THAT(ResourceManagersOf(""), ElementsAre("http://127.0.0.1:8088"));
  EXPECT_THAT(ResourceManagersOf(YarnSite({{"yarn.resourcemanager.hostname", "rm"}})),
              ElementsAre("http://rm:8088"));
  EXPECT_THAT(ResourceManagersOf(YarnSite({{"yarn.resourcemanager.hostname", "rm"},
                                           {"yarn.resourcemanager.webapp.address",
                                            "${yarn.resourcemanager.hostname}:9099"}})),
              ElementsAre("http://rm:9099"));
  EXPECT_THAT(
      ResourceManagersOf(YarnSite({{"yarn.resourcemanager.webapp.address", "0.0.0.0:9099"}})),
      ElementsAre("http://127.0.0.1:9099"));
  EXPECT_THAT(ResourceManagersOf(YarnSite({{"yarn.http.policy", "HTTPS_ONLY"},
                                           {"yarn.resourcemanager.webapp.https.address", "rm:8443"},
                                           {"yarn.resourcemanager.webapp.address", "rm:8088"}})),
              ElementsAre("https://rm:8443"));
  EXPECT_THAT(ResourceManagersOf(YarnSite({{"yarn.resourcemanager.ha.rm-ids", "rm1, rm2"},
                                           {"yarn.resourcemanager.hostname.rm1", "one"},
                                           {"yarn.resourcemanager.webapp.address.rm2", "two:1"}})),
              ElementsAre("http://one:8088", "http://two:1"));
}

TEST(AskYarn, ReturnsTheFirstAnswer) {
  std::vector<std::string> asked;
  const auto get = [&](const std::string& url) -> absl::StatusOr<std::string> {
    asked.push_back(url);
    if (url.starts_with("http://two")) return R"({"app":{"state":"FINISHED"}})";
    return absl::UnavailableError(url + ": Couldn't connect to server");
  };
  const auto application = AskYarn({"http://one", "http://two", "http://three"}, "app_1", get);
  ASSERT_TRUE(application.ok()) << application.status();
  EXPECT_EQ(application->state, "FINISHED");
  EXPECT_THAT(asked, ElementsAre("http://one/ws/v1/cluster/apps/app_1",
                                 "http://two/ws/v1/cluster/apps/app_1"));
  EXPECT_THAT(std::string(AskYarn({"http://one"}, "app_1", get).status().message()),
              HasSubstr("http://one/ws/v1/cluster/apps/app_1: Couldn't connect"));
}

TEST(AskYarn, RejectsAnAnswerWithoutJson) {
  const auto get = [](const std::string&) -> absl::StatusOr<std::string> { return "<html>"; };
  EXPECT_THAT(std::string(AskYarn({"http://rm"}, "app_1", get).status().message()),
              HasSubstr("http://rm/ws/v1/cluster/apps/app_1: unexpected response"));
}

RestApplication EndedAs(const char* state, const char* final_status, JobOutcome outcome) {
  return {.state = state,
          .final_status = final_status,
          .is_over = true,
          .outcome = outcome,
          .diagnostics = "out of memory\nmore",
          .started_at = absl::FromUnixSeconds(100),
          .finished_at = absl::FromUnixSeconds(124)};
}

TEST(YarnEnding, ReturnsTheOutcomeThatYarnReports) {
  EXPECT_EQ(YarnEnding("application_1_1", EndedAs("FINISHED", "SUCCEEDED", JobOutcome::kSucceeded)),
            "succeeded after 24 s, according to YARN (application_1_1: FINISHED, SUCCEEDED)");
  EXPECT_EQ(
      YarnEnding("application_1_1", EndedAs("FAILED", "FAILED", JobOutcome::kFailed)),
      "failed after 24 s, according to YARN (application_1_1: FAILED, FAILED): out of memory");
  EXPECT_EQ(YarnEnding("application_1_1", EndedAs("KILLED", "KILLED", JobOutcome::kKilled)),
            "was killed after 24 s, according to YARN (application_1_1: KILLED, KILLED): out of "
            "memory");
  EXPECT_EQ(YarnEnding("application_1_1", {.state = "FINISHED", .is_over = true}),
            "ended with an unknown outcome, according to YARN (application_1_1: FINISHED, none)");
  EXPECT_EQ(YarnEnding("application_1_1", {.state = "RUNNING", .final_status = "UNDEFINED"}),
            "had not ended when the command ended, according to YARN (application_1_1: RUNNING, "
            "UNDEFINED)");
}

TEST(YarnEndings, QueryNoResourceManagerAgainThatDoesNotAnswer) {
  int queries = 0;
  YarnEndings endings({}, [&](const std::string& url) -> absl::StatusOr<std::string> {
    ++queries;
    return absl::UnavailableError(url + ": Timeout was reached");
  });
  endings.NoteLine("tracking URL: http://rm:8088/proxy/application_1_0001/");
  EXPECT_EQ(endings.DiagnosticsOf("job_1_0001"), "");
  EXPECT_EQ(queries, 2) << "the named one and the default";
  EXPECT_EQ(endings.DiagnosticsOf("job_1_0002"), "");
  EXPECT_THAT(endings.EndingOf("job_1_0003", 1), HasSubstr("Timeout was reached"));
  EXPECT_EQ(queries, 2);
}

TEST(YarnEndings, QueryOtherApplicationsAfterAnUnknownOne) {
  YarnEndings endings({}, [](const std::string& url) -> absl::StatusOr<std::string> {
    if (url.ends_with("_0001")) return absl::NotFoundError("HTTP status 404");
    return R"({"app":{"state":"FAILED","diagnostics":"out of memory\nmore"}})";
  });
  EXPECT_EQ(endings.DiagnosticsOf("job_1_0001"), "");
  EXPECT_EQ(endings.DiagnosticsOf("job_1_0002"), "out of memory");
}

TEST(UnknownEnding, ContainsTheExitStatusOfTheCommand) {
  EXPECT_EQ(UnknownEnding(3, "http://rm:8088: Couldn't connect to server"),
            "reported no end: the command exited with status 3, and the outcome in the cluster is "
            "unknown (http://rm:8088: Couldn't connect to server)");
}

}  // namespace
}  // namespace tidemark::cli::yarn_outcome_test
